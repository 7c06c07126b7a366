import type { Fields } from "../../fields.ts";
import { elementOf } from "../../fields.ts";
import { isInRelease } from "../rules/facts.ts";
import { isRight, limits } from "../rules/limits.ts";
import { checkedArray } from "./checks.ts";
import { childrenOf, type Element, element, replaceChildren, settledText } from "../xml/element.ts";
import {
  canonical,
  type Distinct,
  isEqual,
  isObject,
  MAX_ENTRIES,
  objectsIn,
} from "../../objects.ts";
import type { Codec } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";
import { missingPart } from "./required.ts";

/*
 * The entries of an array in a record: how they stand in composites of one name, and which
 * is which after a change. In: the entries before and after. Out: pairs. An entry that cannot
 * be told from others has no partner: what is known of one never goes to another.
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
    key: canonical(key.map((path) => valueAt(form, path))),
    apart: [...apart.map((path) => canonical(valueAt(form, path))), beside],
    others: canonical([others, beside]),
  };
}

/** The value of a field, or of `group.field`. */
function valueAt(form: unknown, path: string): unknown {
  return path.split(".").reduce(
    (value, name) => isObject(value) ? value[name] : undefined,
    form,
  );
}

/**
 * Pairs entries that say the same; then those with the same key that nothing else tells
 * apart, if there are as many of them (`same`); then those of a key that share what no other
 * of the key has, and those in the same place among as many of one key (`key`); and last, in
 * the same place among as many in all, those that differ in their key alone (`place`).
 */
export function pairEntries<Entry>(
  before: readonly Entry[],
  after: readonly Entry[],
  traits: (entry: Entry) => Traits,
  by: "same" | "key" | "place",
): Map<Entry, Entry> {
  const pairs = new Map<Entry, Entry>();
  if (before.length === 0 || after.length === 0) return pairs;
  const known = new Map([...before, ...after].map((one) => [one, traits(one)]));
  const paired = new Set<Entry>();
  const isFree = (entry: Entry) => !paired.has(entry);
  const pair = (one: Entry, other: Entry) => {
    pairs.set(other, one);
    paired.add(one).add(other);
  };
  const pairAll = (ones: readonly Entry[], others: readonly Entry[]) =>
    ones.slice(0, others.length).forEach((one, i) => pair(one, others[i]!));
  /** Compares the entries of both arrays that have a trait in common. */
  const compare = (
    trait: (traits: Traits) => string,
    pairThese: (ones: readonly Entry[], others: readonly Entry[]) => void,
  ) => {
    const traitOf = (entry: Entry) => trait(known.get(entry)!);
    const all = Map.groupBy(after, traitOf);
    for (const [trait, ones] of Map.groupBy(before, traitOf)) {
      pairThese(ones, all.get(trait) ?? []);
    }
  };

  compare(
    ({ whole }) => whole,
    (ones, others) => pairAll(ones.filter(isFree), others.filter(isFree)),
  );
  compare(
    ({ key, apart }) => canonical([key, apart]),
    (ones, others) => {
      const [left, right] = [ones.filter(isFree), others.filter(isFree)];
      if (left.length === right.length) pairAll(left, right);
    },
  );
  if (by === "same") return pairs;
  for (const i of known.get(before[0]!)!.apart.keys()) {
    compare(
      ({ key, apart }) => canonical([key, apart[i]]),
      ([one, another], [other, more]) => {
        if (!one || another || !other || more) return;
        if (isFree(one) && isFree(other)) pair(one, other);
      },
    );
  }
  const inPlace = (ones: readonly Entry[], others: readonly Entry[]) =>
    ones.length !== others.length ? [] : ones.flatMap((one, i) => {
      const other = others[i]!;
      return isFree(one) && isFree(other) ? [[one, other] as const] : [];
    });
  compare(({ key }) => key, (ones, others) => {
    for (const [one, other] of inPlace(ones, others)) pair(one, other);
  });
  for (const [one, other] of by === "place" ? inPlace(before, after) : []) {
    const isAlike = known.get(one)!.others === known.get(other)!.others;
    if (isAlike) pair(one, other);
  }
  return pairs;
}

/** All that an element says, whatever the order of its attributes. */
export function wholeOf(element: Element): string {
  return canonical(contentOf(element));
}

function contentOf(element: Element): unknown {
  const { name, attributes, children } = element;
  const text = settledText(element);
  return [
    name,
    Object.entries(attributes).sort(),
    text,
    children.map(contentOf),
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

/** An object that stands in a composite of its own. */
export interface EntryCodec extends Keys {
  read(
    found: Element,
    reader: RecordReader,
  ): Record<string, unknown> | undefined;
  write(
    found: Element,
    now: Record<string, unknown>,
    before: Record<string, unknown>,
    reader: RecordReader,
  ): void;
  project(entry: Record<string, unknown>): Record<string, unknown>;
  /** The entry as the API accepts it, or undefined. */
  accept(
    entry: Record<string, unknown>,
    found: Element,
    reader: RecordReader,
  ): Record<string, unknown> | undefined;
  /** The element of a field of an entry. */
  fieldIn(found: Element, field: string): Element | undefined;
  distinct?: readonly Distinct[] | undefined;
  isRequired?: boolean | undefined;
  /** Whether an entry keeps its other fields if one of them cannot be read. */
  keepsRest?: boolean | undefined;
  /** Whether another field holds what is in a composite. */
  isElsewhere?: (found: Element) => boolean;
}

/** Puts these children of a composite before others of their name, which cannot be read. */
function putFirst(wanted: readonly Element[], composite: Element): void {
  const own = new Set(wanted);
  const isUnread = (each: Element) => each.name === wanted[0]!.name && !own.has(each);
  const { children } = composite;
  const unread = children.filter(isUnread);
  const last = children.findLastIndex((each) => own.has(each));
  composite.children = [
    ...children.slice(0, last + 1).filter((each) => !isUnread(each)),
    ...unread,
    ...children.slice(last + 1).filter((each) => !isUnread(each)),
  ];
}

/** Whether something limits an entry that later releases cannot say: messages of them do not have it. */
function isOfOldRelease({ name, children }: Element): boolean {
  return children.some((each) => limits(each.name, name) && !isInRelease("3.1", each.name));
}

/** The array of the objects that stand in the composites with this name. */
export function compositesOf(name: string, codec: EntryCodec): Codec {
  function readEntry(found: Element, reader: RecordReader) {
    const { result: entry, isWhole } = reader.attempt(() => codec.read(found, reader));
    const missing = missingPart(found);
    if (missing !== undefined) reader.lacks(found, missing);
    else if (entry && (isWhole || codec.keepsRest)) {
      return reader.attempt(() => codec.accept(entry, found, reader)).result;
    }
    return undefined;
  }

  return {
    find: (composite, index = 0) => childrenOf(composite, name)[index],
    read(composite, reader) {
      // One more than the API accepts is enough to know that there are too many.
      const all = childrenOf(composite, name).filter((found) =>
        !codec.isElsewhere?.(found) && !isOfOldRelease(found)
      );
      const read = all.slice(0, MAX_ENTRIES + 1).flatMap((found) => {
        const entry = readEntry(found, reader);
        if (entry) return { found, entry: reader.tie(found, entry) };
        reader.release(found);
        return [];
      });
      const isLess = read.length < Math.min(all.length, MAX_ENTRIES);
      if (isLess && isRight({ name })) {
        all.forEach((found) => reader.release(found));
        return reader.fail();
      }
      return checkedArray(codec, name, composite, read, reader, codec.fieldIn);
    },
    write(composite, now, before, reader) {
      const was = objectsIn(before);
      const is = objectsIn(now);
      const elements = was.map((entry) => reader.elementOf(entry)!);
      const ids = new Map(was.map((entry) => [entry.id, entry]));
      ids.delete(undefined);
      const known = new Map(is.flatMap((entry) => {
        const old = ids.get(entry.id);
        ids.delete(entry.id);
        return old ? [[entry, old] as const] : [];
      }));
      const taken = new Set(known.values());
      const pairs = pairEntries(
        was.filter((entry) => !taken.has(entry)),
        is.filter((entry) => !known.has(entry)),
        (entry) => traitsOf(codec.project(entry), codec),
        "key",
      );
      const wanted = is.map((entry) => {
        const old = known.get(entry) ?? pairs.get(entry) ?? {};
        const found = reader.elementOf(old) ?? element(name, []);
        if (!isEqual(codec.project(entry), codec.project(old))) {
          codec.write(found, entry, old, reader);
        }
        return found;
      });
      replaceChildren(composite, elements, wanted);
      // Of two of a kind, such as dates, a message may have the first alone: that of the product.
      if (wanted.length > known.size + pairs.size) putFirst(wanted, composite);
    },
  };
}
