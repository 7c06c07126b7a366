import { type Entry, NEW_ROW } from "../../bodies.ts";
import { elementOf, type Fields } from "../../fields.ts";
import { isEqual, objectsIn } from "../../objects.ts";
import type { Place, TellConflict, Way } from "./conflicts.ts";
import { fieldCodec } from "./fields.ts";
import { changedIn, keptTogether, type Sides } from "./merge_values.ts";
import {
  type FieldsOfObject,
  formOf,
  type MergedArray,
  mergedArrayIn,
  pairsOf,
  type Readers,
} from "./merged_arrays.ts";
import { scalar } from "./codec.ts";
import { entryInWords, valueInWords } from "./words.ts";

/*
 * The entries of an array that was edited here, after a record: which of the last record is
 * which of the new one, by what they say, and which is which row here, by the ids of rows. Of
 * each entry the fields that the sender has changed are written, and the arrays in it merged.
 */

/** The entries of an array: of the sender's last record, of the new one, and the rows here. */
interface EntryVersions {
  before: readonly Entry[];
  after: readonly Entry[];
  here: readonly Entry[];
}

/** What merging the arrays of a record needs. */
interface MergeContext extends Readers {
  tellConflict: TellConflict;
  newId: () => string;
}

/**
 * The rows after a record. Those that stay have their ids, and so have the elements of the
 * new record. The array stands at `parent`.
 */
export function mergeRows(
  array: MergedArray,
  versions: EntryVersions,
  parent: Place,
  context: MergeContext,
): Entry[] {
  const { before, after, here } = versions;
  const { now } = context;
  const { within = [] } = parent;
  const beforeById = new Map(before.map((one) => [one.id, one]));
  const oldOf = pairsOf(array, before, after, context, "place");
  const addedHere = addedOnBothSides(array, versions, beforeById, oldOf, now);
  /** The rows here that no entry of the new record has taken yet. */
  const free = new Map(here.map((row) => [row.id, row]));
  const entryOfRow = new Map<Entry, Entry>();
  for (const entry of after) {
    const at = now.elementOf(entry)!;
    const old = oldOf.get(entry);
    const { id } = old ?? addedHere.get(entry) ?? {};
    if (id) at.id = id as string;
    const row = free.get(id);
    free.delete(id);
    const way = [...within, { array, entry }];
    if (row) {
      const sides = { before: old ?? {}, after: entry, here: row, at, within: way };
      entryOfRow.set(mergeFields(array, sides, context), entry);
    } else if (!old || isBack(array, old, entry, { element: at, within: way }, context)) {
      entryOfRow.set(asNew(array, entry, context), entry);
    }
  }
  const others = [...free.values()].filter((row) => {
    const old = beforeById.get(row.id);
    return !old || staysHere(array, old, row, parent, context);
  });
  return withoutTwins(array, [...entryOfRow.keys(), ...others], entryOfRow, within, context);
}

/** The rows that were added here, by the entries that the sender has added and that say the same. */
function addedOnBothSides(
  array: MergedArray,
  { after, here }: EntryVersions,
  beforeById: ReadonlyMap<unknown, Entry>,
  oldOf: ReadonlyMap<Entry, Entry>,
  now: Readers["now"],
): Map<Entry, Entry> {
  return pairsOf(
    array,
    here.filter(({ id }) => !beforeById.has(id)),
    after.filter((one) => !oldOf.has(one)),
    { now, last: undefined },
    "same",
  );
}

/** Whether an entry that was removed here comes back, since the sender has changed it. */
function isBack(
  array: MergedArray,
  old: Entry,
  entry: Entry,
  place: Place,
  { tellConflict }: MergeContext,
): boolean {
  const isSame = isEqual(formOf(array, old), formOf(array, entry));
  return !isSame && !tellConflict(place, valueInWords(entry), "");
}

/** Whether a row that the sender has removed is left, since it was edited here. */
function staysHere(
  array: MergedArray,
  old: Entry,
  row: Entry,
  parent: Place,
  { tellConflict }: MergeContext,
): boolean {
  const edits = [...editsIn(array, old, row)];
  if (edits.length === 0) return false;
  const within = [...parent.within ?? [], { array, entry: old }];
  const place = { missing: array.composite, ...parent, within };
  return tellConflict(place, "", valueInWords(edits.join(", ")));
}

/**
 * The rows without those that share with another what must be distinct, such as a second
 * right for the rest of the world: the sender has one, and one was written here.
 * `entryOfRow`: the entry of the record from which each row comes.
 */
function withoutTwins(
  array: MergedArray,
  rows: readonly Entry[],
  entryOfRow: ReadonlyMap<Entry, Entry>,
  within: Way,
  context: MergeContext,
): Entry[] {
  /** What is in the place of rows. */
  const replacements = new Map<Entry, Entry[]>();
  for (const { keyOf } of array.distinct) {
    for (const [key, twins] of Map.groupBy(rows, keyOf)) {
      if (key === undefined || twins.length < 2) continue;
      const theirs = twins.find((row) => {
        const entry = entryOfRow.get(row);
        return entry !== undefined && keyOf(entry) === key;
      });
      if (!theirs) continue;
      const entry = entryOfRow.get(theirs)!;
      const place = { element: context.now.elementOf(entry)!, within };
      for (const ours of twins) {
        if (ours === theirs) continue;
        const isKept = context.tellConflict(
          place,
          entryInWords(array, entry),
          entryInWords(array, ours),
        );
        if (isKept) replacements.getOrInsert(theirs, []);
        else replacements.getOrInsertComputed(ours, asSaid);
      }
    }
  }
  return rows.flatMap((row) => replacements.get(row) ?? [row]);

  /** The row as if nobody had edited it: what the sender says, or none. */
  function asSaid(row: Entry): Entry[] {
    const entry = entryOfRow.get(row);
    if (!entry) return [];
    const at = context.now.elementOf(entry)!;
    return [mergeFields(array, { before: row, after: entry, here: row, at, within }, context)];
  }
}

/** The values that were edited of a row, in it and in the rows below. */
function* editsIn(
  { fields, composite }: Pick<MergedArray, "fields" | "composite">,
  before: Entry,
  row: Entry,
): Generator<string> {
  for (const [name, field] of Object.entries(fields)) {
    const [was, is] = [before[name], row[name]];
    const codec = fieldCodec(name, field, composite);
    const array = mergedArrayIn(name, field);
    if (!codec) {
      // ONIX has no element for this field: only somebody here gives it a value.
      const isEdited = field.kind === "column" && field.body &&
        scalar(is) !== scalar(was ?? field.fallback);
      if (isEdited) yield valueInWords(is) || "nothing";
    } else if (array) {
      const olds = new Map(objectsIn(was).map((one) => [one.id, one]));
      for (const one of objectsIn(is)) {
        const old = olds.get(one.id);
        olds.delete(one.id);
        if (old) yield* editsIn(array, old, one);
        else yield valueInWords(one);
      }
      for (const _ of olds) yield "a removal";
    } else if (!isEqual(codec.project(was), codec.project(is))) {
      yield valueInWords(is) || "nothing";
    }
  }
}

/** An entry without a row, and the id of the row that it becomes. */
function asNew(array: MergedArray, entry: Entry, context: MergeContext): Entry {
  const id = context.now.elementOf(entry)!.id ??= context.newId();
  const made: Entry = { ...entry, id, [NEW_ROW]: true };
  for (const [name, field] of Object.entries(array.fields)) {
    const below = mergedArrayIn(name, field);
    if (!below) continue;
    made[name] = objectsIn(entry[name]).map((one) => asNew(below, one, context));
  }
  return made;
}

/** Merges the fields of an object. What ONIX does not say stays as it is here. */
function mergeFields(
  object: FieldsOfObject,
  sides: Sides,
  context: MergeContext,
): Entry {
  const { fields, composite, together } = object;
  const { before, after, here, at, within } = sides;
  const merged: Entry = { ...here };
  for (const [name, field] of Object.entries(fields)) {
    const codec = fieldCodec(name, field, composite);
    if (!codec) continue;
    const array = mergedArrayIn(name, field);
    if (array) {
      const inner = {
        before: objectsIn(before[name]),
        after: objectsIn(after[name]),
        here: objectsIn(here[name]),
      };
      merged[name] = mergeRows(array, inner, { element: at, within }, context);
    } else if (field.kind === "group" && hasRows(field.fields)) {
      const inner = {
        composite: elementOf(name, field)!,
        fields: field.fields,
        together: [],
        rules: [],
      };
      merged[name] = mergeFields(inner, {
        before: (before[name] ?? {}) as Entry,
        after: (after[name] ?? {}) as Entry,
        here: (here[name] ?? {}) as Entry,
        at: codec.find?.(at) ?? at,
        within,
      }, context);
    } else {
      // Fields that are one value are merged with the first of them.
      const names = together.includes(name) ? together : [name];
      if (names[0] === name) {
        Object.assign(merged, changedIn(names, object, sides, context.tellConflict));
      }
    }
  }
  return Object.assign(merged, keptTogether(merged, object, sides, context.tellConflict));
}

/** Whether rows stand in an object, so that its fields are merged one by one. */
function hasRows(fields: Fields): boolean {
  return Object.values(fields).some(({ kind }) => kind === "rows");
}
