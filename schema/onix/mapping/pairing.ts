import { elementOf, type Fields } from "../../fields.ts";
import { canonical } from "../../objects.ts";
import { limits } from "../rules/limits.ts";
import { type Element, settledText } from "../xml/element.ts";
import { valueAt } from "./codec.ts";

/*
 * Which entry of an array is which after a change. In: the entries before and after. Out:
 * pairs. They are found in passes, from what is sure to what is likely:
 *
 *     1  all that they say
 *     2  their key and all else that tells them apart   as many before as after
 *     3  their key and one trait, which no other has    one before and one after
 *     4  their key and their place                      as many before as after
 *     5  all but their key, and their place             as many before as after
 *
 * An entry that cannot be told from others has no partner: what is known of one never goes
 * to another.
 */

/** What tells an entry from others of its array, as texts. */
export interface Traits {
  /** All that it says. */
  whole: string;
  /** Its natural key. */
  key: string;
  /** What tells entries of one key apart, the strongest first. */
  apart: readonly string[];
  /** All but its key. */
  others: string;
}

/** The fields by which the entries of an array are told apart. */
export interface Keys {
  /** The natural key. */
  key: readonly string[];
  /** The fields that tell entries of one key apart, the strongest first. */
  apart: readonly string[];
}

/** The traits of an entry that says this, in an element with more than that. */
export function traitsOf(
  form: Record<string, unknown>,
  { key, apart }: Keys,
  beside = "",
  whole = canonical(form),
): Traits {
  const keyed = key.map((path) => path.split(".")[0]);
  const others = Object.entries(form).filter(([name]) => !keyed.includes(name));
  return {
    whole,
    key: canonical(key.map((path) => valueAt(form, path.split(".")))),
    apart: [...apart.map((path) => canonical(valueAt(form, path.split(".")))), beside],
    others: canonical([others, beside]),
  };
}

/**
 * Pairs entries, each after a change with the one before: of those with the `same` traits
 * (passes 1 and 2), of one `key` (to 4), or also by `place` alone (to 5).
 */
export function pairEntries<Entry>(
  before: readonly Entry[],
  after: readonly Entry[],
  traits: (entry: Entry) => Traits,
  by: "same" | "key" | "place",
): Map<Entry, Entry> {
  const pairs = new Map<Entry, Entry>();
  const most = Math.min(before.length, after.length);
  if (most === 0) return pairs;
  const known = new Map([...before, ...after].map((one) => [one, traits(one)]));
  const paired = new Set<Entry>();
  const isFree = (entry: Entry) => !paired.has(entry);

  /** Pairs entries that share a text, of the free ones those that `match` returns. */
  function pass(
    shared: (traits: Traits) => string,
    match: (ones: readonly Entry[], others: readonly Entry[]) => [Entry, Entry][],
  ): void {
    if (pairs.size === most) return;
    const textOf = (entry: Entry) => shared(known.get(entry)!);
    const all = Map.groupBy(after, textOf);
    for (const [text, ones] of Map.groupBy(before, textOf)) {
      for (const [one, other] of match(ones, all.get(text) ?? [])) {
        if (!isFree(one) || !isFree(other)) continue;
        pairs.set(other, one);
        paired.add(one).add(other);
      }
    }
  }

  pass(({ whole }) => whole, inOrder);
  pass(
    ({ key, apart }) => canonical([key, apart]),
    (ones, others) => ofAsMany(ones.filter(isFree), others.filter(isFree)),
  );
  if (by === "same") return pairs;
  for (const i of known.get(before[0]!)!.apart.keys()) {
    pass(
      ({ key, apart }) => canonical([key, apart[i]]),
      (ones, others) => ones.length === 1 ? ofAsMany(ones, others) : [],
    );
  }
  pass(({ key }) => key, ofAsMany);
  if (by === "key") return pairs;
  const isAlike = ([one, other]: [Entry, Entry]) =>
    known.get(one)!.others === known.get(other)!.others;
  pass(() => "", (ones, others) => ofAsMany(ones, others).filter(isAlike));
  return pairs;
}

/** The first with the first, and so on. */
function inOrder<E>(ones: readonly E[], others: readonly E[]): [E, E][] {
  return ones.slice(0, others.length).map((one, i) => [one, others[i]!]);
}

/** The same of as many: of others nobody knows which are missing. */
function ofAsMany<E>(ones: readonly E[], others: readonly E[]): [E, E][] {
  return ones.length === others.length ? inOrder(ones, others) : [];
}

/** All that an element says, whatever the order of its attributes. */
export function wholeOf(element: Element): string {
  return canonical(contentTree(element));
}

function contentTree(element: Element): unknown {
  const { name, attributes, children } = element;
  const text = settledText(element);
  return [
    name,
    Object.entries(attributes).sort(),
    text,
    children.map(contentTree),
  ];
}

/** What no field holds, but tells an entry from others: identifiers, and what limits it. */
export function besideFields(element: Element, fields: Fields): string {
  const held = new Map(
    Object.entries(fields).map(([name, field]) => [
      elementOf(name, field)?.split(/[[/]/)[0],
      field,
    ]),
  );
  return element.children.map((child) => {
    const field = held.get(child.name);
    if (field?.kind === "group") return besideFields(child, field.fields);
    const isTelling = !field &&
      (child.name.endsWith("Identifier") || limits(child.name, element.name));
    return isTelling ? wholeOf(child) : "";
  }).join("");
}
