import { hash } from "node:crypto";
import { type Entry, fieldsOfEntry } from "../../../schema/bodies.ts";
import { type ArrayField, type Field, type Fields, keysOf } from "../../../schema/fields.ts";
import { canonical, isEqual, isObject, objectsIn } from "../../../schema/objects.ts";
import { type InTurns, inTurns, type Pace } from "../../../schema/turns.ts";
import {
  type Keys,
  matchEntries,
  type MatchKeys,
  matchKeysOf,
} from "../../onix/schema/codecs/matching.ts";
import { FIELDS } from "../../../schema/product.ts";

/*
 * Finds the differences between two versions of a product, in the fields that bodies can have.
 * Derived fields, such as a display name, are left out. Entries of arrays are matched by id, or
 * else by content and keys, as imports of ONIX match them. For example, a price that rises is
 *
 *     { pointer: "/product_prices/0/retail_price", kind: "changed", from: 9.99, to: 12 }
 *
 * The generators yield `PAUSE` where the caller can let other requests run: a version has up to 4
 * MiB, in arrays of up to 500 entries.
 */

/** The most changes that an entry lists. */
const MAX_CHANGES = 100;

/** The most code points of a text in a change. */
const MAX_TEXT = 2_000;

/** A change between two versions. */
export interface Difference {
  /** JSON Pointer into the later version, or into the earlier one for what was removed. */
  pointer: string;
  kind: "changed" | "added" | "removed" | "moved";
  from: unknown;
  to: unknown;
}

/** A change as an entry shows it. */
export interface ShownChange extends Difference {
  /** The number of other products that it changes: those with the same format. */
  products?: number;
}

const PAUSE = undefined;

type Differences = Generator<Difference | typeof PAUSE>;

/** The pointer to a value in each of the two versions. An entry that moved has two. */
interface Pointers {
  before: string;
  after: string;
}

function below({ before, after }: Pointers, name: string): Pointers {
  return { before: `${before}/${name}`, after: `${after}/${name}` };
}

const ROOT: Pointers = { before: "", after: "" };

/** The differences between two versions of a product, or of an entry with these fields. */
function* differencesBetween(
  before: Entry,
  after: Entry,
  fields: Fields = FIELDS,
  at = ROOT,
): Differences {
  for (const [name, field] of Object.entries(fields)) {
    // A planned state has the unchanged values of the last state: they are the same objects.
    if (before[name] === after[name]) continue;
    yield PAUSE;
    yield* fieldDifferences(field, below(at, name), before[name], after[name]);
  }
}

function* fieldDifferences(
  field: Field,
  at: Pointers,
  before: unknown,
  after: unknown,
): Differences {
  switch (field.kind) {
    case "column":
      if (!hasOwnColumn(field)) return;
      return yield* valueDifferences(at, before ?? fallbackOf(field), after ?? fallbackOf(field));
    case "group":
      return isObject(before) && isObject(after)
        ? yield* differencesBetween(before, after, field.fields, at)
        : yield* valueDifferences(at, before ?? null, after ?? null);
    case "list":
      for (
        const difference of entryDifferences(at, boxed(before), boxed(after), VALUES, noDifferences)
      ) {
        yield difference && unboxed(difference);
      }
      return;
    case "values":
    case "rows":
      return yield* entryDifferences(
        at,
        objectsIn(before),
        objectsIn(after),
        matchingOf(field),
        (at, one, other) => differencesBetween(one, other, fieldsOfEntry(field, other), at),
      );
  }
}

/**
 * Whether bodies have the field and it is stored on the product. The product form is stored on the
 * format.
 */
function hasOwnColumn(field: Field & { kind: "column" }): boolean {
  return field.body !== undefined && !field.refers?.heldBy;
}

function fallbackOf({ fallback }: Field & { kind: "column" }): unknown {
  return fallback ?? null;
}

function* valueDifferences({ after: pointer }: Pointers, from: unknown, to: unknown): Differences {
  if (!isEqual(from, to)) yield { pointer, kind: "changed", from, to };
}

function* noDifferences(): Differences {}

/** How the entries of an array are matched. */
interface Matching extends Keys {
  contentOf: (entry: Entry) => InTurns<Entry>;
}

/** Values without fields, each in a box (`boxed`). */
const VALUES: Matching = {
  *contentOf({ value }) {
    yield PAUSE;
    return { value };
  },
  key: ["value"],
  apart: [],
};

function matchingOf(field: Exclude<ArrayField, { kind: "list" }>): Matching {
  const keys = keysOf(field);
  return {
    contentOf: (entry) => contentOf(fieldsOfEntry(field, entry), entry),
    ...keys,
    ...field.kind === "rows" && { key: field.key ?? field.naturalKey ?? keys.key },
  };
}

/**
 * Returns the content of an entry: the fields that bodies can have, without ids. An array below it
 * becomes a digest.
 */
function* contentOf(fields: Fields, entry: Entry): InTurns<Entry> {
  const content: Entry = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = entry[name];
    switch (field.kind) {
      case "column":
        if (hasOwnColumn(field)) content[name] = value ?? fallbackOf(field);
        break;
      case "group":
        content[name] = isObject(value) ? yield* contentOf(field.fields, value) : null;
        break;
      case "list":
        content[name] = value ?? [];
        break;
      case "values":
      case "rows":
        content[name] = yield* digestOf(field, objectsIn(value));
    }
  }
  return content;
}

/** Returns a digest of an array, to compare it with others. An array has up to 4 MiB. */
function* digestOf(
  field: Exclude<ArrayField, { kind: "list" }>,
  entries: readonly Entry[],
): InTurns<string> {
  const contents: string[] = [];
  for (const entry of entries) {
    yield PAUSE;
    contents.push(canonical(yield* contentOf(fieldsOfEntry(field, entry), entry)));
  }
  return contents.length > 0 ? hash("sha256", contents.join(), "base64url") : "";
}

/** Yields added and removed entries, the changes of the others, and whether these moved. */
function* entryDifferences(
  at: Pointers,
  before: readonly Entry[],
  after: readonly Entry[],
  matching: Matching,
  compare: (at: Pointers, before: Entry, after: Entry) => Differences,
): Differences {
  const earlier = yield* earlierEntries(before, after, matching);
  const indexes = new Map(before.map((entry, index) => [entry, index]));
  const stayed: number[] = [];
  for (const [i, entry] of after.entries()) {
    const old = earlier.get(entry);
    if (!old) {
      yield { pointer: `${at.after}/${i}`, kind: "added", from: null, to: entry };
      continue;
    }
    const index = indexes.get(old)!;
    stayed.push(index);
    indexes.delete(old);
    yield* compare({ before: `${at.before}/${index}`, after: `${at.after}/${i}` }, old, entry);
  }
  for (const [entry, index] of indexes) {
    yield { pointer: `${at.before}/${index}`, kind: "removed", from: entry, to: null };
  }
  if (stayed.some((index, i) => i > 0 && index < stayed[i - 1]!)) {
    const from = stayed.toSorted((a, b) => a - b);
    yield { pointer: at.after, kind: "moved", from, to: stayed };
  }
}

/** Finds the earlier state of each entry, by its id, or else by its content. */
function* earlierEntries(
  before: readonly Entry[],
  after: readonly Entry[],
  { contentOf, key, apart }: Matching,
): InTurns<Map<Entry, Entry>> {
  const known = new Map<unknown, Entry>(
    before.flatMap((entry) => entry.id ? [[entry.id, entry]] : []),
  );
  const byId = new Map(after.flatMap((entry) => {
    const old = known.get(entry.id);
    known.delete(entry.id);
    return old ? [[entry, old] as const] : [];
  }));
  const taken = new Set(byId.values());
  const olds = before.filter((entry) => !taken.has(entry));
  const news = after.filter((entry) => !byId.has(entry));
  if (olds.length === 0 || news.length === 0) return byId;
  const keysOfEntry = new Map<Entry, MatchKeys>();
  for (const entry of [...olds, ...news]) {
    yield PAUSE;
    keysOfEntry.set(entry, matchKeysOf(yield* contentOf(entry), { key, apart }));
  }
  const pairs = matchEntries(olds, news, (entry) => keysOfEntry.get(entry)!, "key");
  return new Map([...byId, ...pairs]);
}

/** Wraps codes and URLs, so that they can be matched as entries. */
function boxed(values: unknown): Entry[] {
  return Array.isArray(values) ? values.map((value) => ({ value })) : [];
}

function unboxed(difference: Difference): Difference {
  const { kind, from, to } = difference;
  if (kind === "moved") return difference;
  const valueOf = (entry: unknown) => isObject(entry) ? entry.value : entry;
  return { ...difference, from: valueOf(from), to: valueOf(to) };
}

/** Changes as histories show them: null if one of the two versions is not kept. */
export interface ShownChanges {
  changes: ShownChange[] | null;
  more_changes?: number;
}

/** The changes from one version to the next, as histories show them. */
export async function shownChanges(
  before: Entry,
  after: Entry,
  pace: Pace,
): Promise<ShownChanges & { changes: ShownChange[] }> {
  const changes: Difference[] = [];
  let more = 0;
  for (const change of differencesBetween(before, after)) {
    if (change === PAUSE) await pace();
    else if (changes.length === MAX_CHANGES) more++;
    else {
      const [from, to] = [cut(change.from), cut(change.to)];
      changes.push({
        ...change,
        from: await inTurns(from, pace),
        to: await inTurns(to, pace),
      });
    }
  }
  return { changes, ...more > 0 && { more_changes: more } };
}

/** Whether two versions differ, in these fields. */
export async function isChanged(
  before: Entry,
  after: Entry,
  pace: Pace,
  fields: Fields = FIELDS,
): Promise<boolean> {
  for (const change of differencesBetween(before, after, fields)) {
    if (change !== PAUSE) return true;
    await pace();
  }
  return false;
}

/** The value with its long texts cut. */
function* cut(value: unknown): InTurns<unknown> {
  if (typeof value === "string") {
    if (value.length > MAX_TEXT) yield PAUSE;
    return cutText(value);
  }
  if (Array.isArray(value)) {
    const values: unknown[] = [];
    for (const each of value) {
      yield PAUSE;
      values.push(yield* cut(each));
    }
    return values;
  }
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  const members: Entry = {};
  for (const [name, each] of Object.entries(value)) members[name] = yield* cut(each);
  return members;
}

function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  // A code point has at most two code units, so this has one more than fit if the text has.
  const start = Array.from(text.slice(0, 2 * (MAX_TEXT + 1)));
  return start.length > MAX_TEXT ? `${start.slice(0, MAX_TEXT).join("")}…` : text;
}
