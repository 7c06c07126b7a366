import { type Entry, fieldsOfEntry } from "../../schema/bodies.ts";
import { type ArrayField, type Field, type Fields, keysOf } from "../../schema/fields.ts";
import { isEqual, isObject, objectsIn } from "../../schema/objects.ts";
import { type Keys, pairEntries, traitsOf } from "../../schema/onix/mapping/pairing.ts";
import { FIELDS } from "../../schema/product.ts";

/*
 * What one version of a product changes in another. It compares what bodies can say: what follows
 * from something else, such as a display name, is left out. Entries of arrays are told apart by
 * their ids, else as imports of ONIX tell them apart.
 */

/** The most changes that an entry lists. */
const MAX_CHANGES = 100;

/** The most characters of a text in a change. */
const MAX_TEXT = 2_000;

/** A change between two versions. */
export interface Difference {
  /** The place in the later version, or in the earlier one for what was removed. */
  pointer: string;
  kind: "changed" | "added" | "removed" | "moved";
  from: unknown;
  to: unknown;
}

/** The changes from one version of a product to the next one. */
export function differencesBetween(
  before: Entry,
  after: Entry,
  fields: Fields = FIELDS,
  pointer = "",
): Difference[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    ofField(field, `${pointer}/${name}`, before[name], after[name])
  );
}

function ofField(
  field: Field,
  pointer: string,
  before: unknown,
  after: unknown,
): Difference[] {
  switch (field.kind) {
    case "column":
      return hasOwnColumn(field)
        ? ofValue(
          pointer,
          before ?? fallbackOf(field),
          after ?? fallbackOf(field),
        )
        : [];
    case "group":
      return isObject(before) && isObject(after)
        ? differencesBetween(before, after, field.fields, pointer)
        : ofValue(pointer, before ?? null, after ?? null);
    case "list":
      return ofEntries(
        pointer,
        boxed(before),
        boxed(after),
        { said: ({ value }) => ({ value }), key: ["value"], apart: [] },
        () => [],
      ).map(unboxed);
    case "values":
    case "rows":
      return ofEntries(
        pointer,
        objectsIn(before),
        objectsIn(after),
        tellingApart(field),
        (at, one, other) => differencesBetween(one, other, fieldsOfEntry(field, other), at),
      );
    default:
      return [];
  }
}

/** Whether bodies have the field and the product stores it: the format holds the product form. */
function hasOwnColumn(field: Field & { kind: "column" }): boolean {
  return field.body !== undefined && !field.refers?.heldBy;
}

function fallbackOf({ fallback }: Field & { kind: "column" }): unknown {
  return fallback ?? null;
}

function ofValue(pointer: string, from: unknown, to: unknown): Difference[] {
  return isEqual(from, to) ? [] : [{ pointer, kind: "changed", from, to }];
}

/** How the entries of an array are told apart. */
interface TellingApart extends Keys {
  /** `saidIn`, for the fields of the entry. */
  said: (entry: Entry) => Entry;
}

function tellingApart(field: Exclude<ArrayField, { kind: "list" }>): TellingApart {
  const keys = keysOf(field);
  return {
    said: (entry) => saidIn(fieldsOfEntry(field, entry), entry),
    ...keys,
    ...field.kind === "rows" &&
      { key: field.key ?? field.naturalKey ?? keys.key },
  };
}

/** What an entry says, without what follows from it. */
function saidIn(fields: Fields, entry: Entry): Entry {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = entry[name];
      switch (field.kind) {
        case "column":
          return hasOwnColumn(field) ? [[name, value ?? fallbackOf(field)]] : [];
        case "group":
          return [[name, isObject(value) ? saidIn(field.fields, value) : null]];
        case "list":
          return [[name, value ?? []]];
        case "values":
        case "rows":
          return [[
            name,
            objectsIn(value).map((one) => saidIn(fieldsOfEntry(field, one), one)),
          ]];
        default:
          return [];
      }
    }),
  );
}

/** The entries added and removed, the changes of those that stayed, and whether these moved. */
function ofEntries(
  pointer: string,
  before: readonly Entry[],
  after: readonly Entry[],
  telling: TellingApart,
  compare: (pointer: string, before: Entry, after: Entry) => Difference[],
): Difference[] {
  const earlier = earlierEntries(before, after, telling);
  const places = new Map(before.map((entry, place) => [entry, place]));
  const stayed: number[] = [];
  const changes = after.flatMap((entry, i): Difference[] => {
    const at = `${pointer}/${i}`;
    const old = earlier.get(entry);
    if (!old) return [{ pointer: at, kind: "added", from: null, to: entry }];
    stayed.push(places.get(old)!);
    places.delete(old);
    return compare(at, old, entry);
  });
  const removed = Array.from(places, ([entry, place]): Difference => (
    { pointer: `${pointer}/${place}`, kind: "removed", from: entry, to: null }
  ));
  const isMoved = stayed.some((place, i) => i > 0 && place < stayed[i - 1]!);
  const from = stayed.toSorted((a, b) => a - b);
  return [
    ...changes,
    ...removed,
    ...isMoved ? [{ pointer, kind: "moved" as const, from, to: stayed }] : [],
  ];
}

/** The earlier state of each entry that was there before: found by its id, else by what it says. */
function earlierEntries(
  before: readonly Entry[],
  after: readonly Entry[],
  { said, key, apart }: TellingApart,
): Map<Entry, Entry> {
  const known = new Map<unknown, Entry>(
    before.flatMap((entry) => entry.id ? [[entry.id, entry]] : []),
  );
  const byId = new Map(after.flatMap((entry) => {
    const old = known.get(entry.id);
    known.delete(entry.id);
    return old ? [[entry, old] as const] : [];
  }));
  const taken = new Set(byId.values());
  const pairs = pairEntries(
    before.filter((entry) => !taken.has(entry)),
    after.filter((entry) => !byId.has(entry)),
    (entry) => traitsOf(said(entry), { key, apart }),
    "key",
  );
  return new Map([...byId, ...pairs]);
}

/** Codes and URLs as entries. */
function boxed(values: unknown): Entry[] {
  return Array.isArray(values) ? values.map((value) => ({ value })) : [];
}

function unboxed(difference: Difference): Difference {
  const { kind, from, to } = difference;
  if (kind === "moved") return difference;
  const valueOf = (entry: unknown) => isObject(entry) ? entry.value : entry;
  return { ...difference, from: valueOf(from), to: valueOf(to) };
}

/** Changes as histories show them. */
export interface ShownChanges {
  changes: Difference[] | null;
  more_changes?: number;
}

/** What one version changes in another, as histories show it. Null if one of them is not kept. */
export function shownChanges(
  before: Entry | undefined,
  after: Entry | undefined,
): ShownChanges {
  if (!before || !after) return { changes: null };
  const all = differencesBetween(before, after);
  const more = all.length - MAX_CHANGES;
  return {
    changes: all.slice(0, MAX_CHANGES).map((change) => ({
      ...change,
      from: cut(change.from),
      to: cut(change.to),
    })),
    ...more > 0 && { more_changes: more },
  };
}

/** The value with its long texts cut. */
function cut(value: unknown): unknown {
  if (typeof value === "string") {
    if (value.length <= MAX_TEXT) return value;
    const characters = Array.from(value.slice(0, 2 * MAX_TEXT));
    return characters.length <= MAX_TEXT ? value : `${characters.slice(0, MAX_TEXT).join("")}…`;
  }
  if (Array.isArray(value)) return value.map(cut);
  if (!isObject(value) || JSON.isRawJSON(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, cut(each)]),
  );
}
