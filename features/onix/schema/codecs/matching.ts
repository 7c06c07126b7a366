import { hash } from "node:crypto";
import { elementOf, type Fields } from "../../../../schema/fields.ts";
import { canonical } from "../../../../schema/objects.ts";
import { limits } from "../rules/limits.ts";
import { type Element, textWithoutPadding } from "../xml/element.ts";
import { valueAt } from "./codec.ts";

/*
 * Matches the entries of an array before and after a change. In: both arrays. Out: pairs. Passes go
 * from sure to likely:
 *
 *     1  all of their content
 *     2  their key and all distinguishing fields    as many before as after
 *     3  their key and one distinguishing field     one before and one after
 *     4  their key and their position               as many before as after
 *     5  all but their key, and their position      as many before as after
 *
 * Pass 5 is for an entry whose key was corrected, such as a right that gets one more country. Its
 * type must be the same, and it must share a value: one of its key, or all values outside it.
 *
 * Prices before: 9.99 GBP from January, 8.99 GBP from May. After: 7.99 GBP from May. Pass 2 matches
 * it with the second. An entry that cannot be distinguished from others has no match, so that an
 * edit of one entry never moves to another.
 */

/** What distinguishes an entry from the others of its array, as texts. A long one is a digest. */
export interface MatchKeys {
  /** Its full content. */
  whole: string;
  /** Its natural key. */
  key: string;
  /** The values that distinguish entries of one key, the strongest first. */
  apart: readonly string[];
  /** Its type, and all but its key. */
  others: string;
  /** The values of its key without its type, such as the countries of a territory. */
  keyValues: ReadonlySet<string>;
  /** Whether it has a value outside its key. */
  hasOthers: boolean;
}

/** The fields that distinguish the entries of an array. */
export interface Keys {
  /** The natural key. */
  key: readonly string[];
  /** The fields that distinguish entries of one key, the strongest first. */
  apart: readonly string[];
  /** The field of the key with the kind of entry, such as the type of a right. */
  type?: string | undefined;
}

/** Returns the match keys of an entry with this content, and of its element. */
export function matchKeysOf(
  form: Record<string, unknown>,
  { key, apart, type }: Keys,
  outside = "",
  whole = canonical(form),
): MatchKeys {
  const keyed = key.map((path) => path.split(".")[0]);
  const others = Object.entries(form).filter(([name]) => !keyed.includes(name));
  return {
    whole: short(whole),
    key: short(canonical(key.map((path) => valueAt(form, path.split("."))))),
    apart: [
      ...apart.map((path) => short(canonical(valueAt(form, path.split("."))))),
      short(outside),
    ],
    others: short(canonical([type && form[type], others, outside])),
    keyValues: new Set(
      key.flatMap((path) => path === type ? [] : leavesOf(valueAt(form, path.split(".")))),
    ),
    hasOthers: others.length > 0 || outside !== "",
  };
}

/** The longest text that stays as it is: each pass writes and compares the texts of all entries. */
const MAX_TEXT = 200;

/** Returns the text, or a digest of a long one. */
function short(text: string): string {
  return text.length > MAX_TEXT ? hash("sha256", text, "base64url") : text;
}

/** Returns the single values in a value, as texts. */
function leavesOf(value: unknown): string[] {
  if (value === undefined) return [];
  return value instanceof Object ? Object.values(value).flatMap(leavesOf) : [String(value)];
}

/**
 * Matches entries. By `same`: all content, or key and all distinguishing fields (passes 1 and 2).
 * By `key`: also their key alone (to 4). By `position`: also their position alone (to 5).
 */
export function matchEntries<Entry>(
  before: readonly Entry[],
  after: readonly Entry[],
  keysOf: (entry: Entry) => MatchKeys,
  by: "same" | "key" | "position",
): Map<Entry, Entry> {
  const pairs = new Map<Entry, Entry>();
  const most = Math.min(before.length, after.length);
  if (most === 0) return pairs;
  const known = new Map([...before, ...after].map((one) => [one, keysOf(one)]));
  const paired = new Set<Entry>();
  const isFree = (entry: Entry) => !paired.has(entry);

  /** Pairs the free entries that share a text, as `match` does. */
  function pass(
    shared: (keys: MatchKeys) => string,
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
  const isAlike = ([one, other]: [Entry, Entry]) => {
    const [a, b] = [known.get(one)!, known.get(other)!];
    return a.others === b.others && (a.hasOthers || !a.keyValues.isDisjointFrom(b.keyValues));
  };
  pass(() => "", (ones, others) => ofAsMany(ones, others).filter(isAlike));
  return pairs;
}

/** Pairs the first with the first, and so on. */
function inOrder<E>(ones: readonly E[], others: readonly E[]): [E, E][] {
  return ones.slice(0, others.length).map((one, i) => [one, others[i]!]);
}

/** Pairs in order if both sides have as many. Otherwise it is unknown which are missing. */
function ofAsMany<E>(ones: readonly E[], others: readonly E[]): [E, E][] {
  return ones.length === others.length ? inOrder(ones, others) : [];
}

/** Returns the full content of an element as a text, whatever the order of its attributes. */
export function fullContentOf(element: Element): string {
  return canonical(contentTree(element));
}

function contentTree(element: Element): unknown {
  const { name, attributes, children } = element;
  const text = textWithoutPadding(element);
  return [
    name,
    Object.entries(attributes).sort(),
    text,
    children.map(contentTree),
  ];
}

/** Returns the content of an entry that no field holds but that distinguishes it: identifiers and limits. */
export function contentOutsideFields(element: Element, fields: Fields): string {
  const held = new Map(
    Object.entries(fields).map(([name, field]) => [
      elementOf(name, field)?.split(/[[/]/)[0],
      field,
    ]),
  );
  return element.children.map((child) => {
    const field = held.get(child.name);
    if (field?.kind === "group") return contentOutsideFields(child, field.fields);
    const isDistinguishing = !field &&
      (child.name.endsWith("Identifier") || limits(child.name, element.name));
    return isDistinguishing ? fullContentOf(child) : "";
  }).join("");
}
