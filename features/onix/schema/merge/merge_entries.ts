import type { Entry } from "../../../../schema/bodies.ts";
import { NEW_ROW } from "../../../../schema/named_rows.ts";
import { elementOf, type Fields } from "../../../../schema/fields.ts";
import { isEqual, objectsIn } from "../../../../schema/objects.ts";
import type { EntryPath, LocationOfConflict } from "./conflicts.ts";
import { fieldCodec } from "../codecs/fields.ts";
import {
  type ConflictRule,
  fieldsOfBrokenRules,
  incomingValuesToWrite,
  type ObjectSides,
} from "./merge_values.ts";
import {
  type FieldsOfObject,
  isReplacement,
  matchRows,
  type MergedArray,
  mergedArrayIn,
  projectEntry,
  type Readers,
} from "./merged_arrays.ts";
import { scalar } from "../codecs/codec.ts";
import type { ThreeWay } from "./three_way.ts";
import { entryInWords, valueInWords } from "./words.ts";

/*
 * Merges an array with the sender's new record (a three-way merge). Base is the array in the
 * sender's previous record, incoming in its new one, local the stored rows. Entries of base and
 * incoming are matched by content, those of base and local by row id. A field is overwritten only
 * if the sender changed it. Arrays inside an entry are merged the same way.
 *
 * Base: prices 9.99 GBP (row 1) and 12.99 USD (row 2). Local: row 1 with 8.99, row 2, and row 3
 * with 11 EUR, added by a user. Incoming: 9.99 GBP, 13.99 USD. Merged: row 1 with 8.99, row 2 with
 * 13.99, row 3.
 */

/** An array on the three sides. */
type ArraySides = ThreeWay<readonly Entry[]>;

/** Readers, conflict rule and ids for the arrays of a record. */
interface MergeContext extends Readers, ConflictRule {
  newId: () => string;
}

/** Merges the rows of an array in the element `parent`. The incoming elements get the ids of their rows. */
export function mergeRows(
  array: MergedArray,
  sides: ArraySides,
  parent: LocationOfConflict,
  context: MergeContext,
): Entry[] {
  const { base, incoming, local } = sides;
  const { winner, reportConflict } = context;
  const { within = [] } = parent;
  const baseById = new Map(base.map((entry) => [entry.id, entry]));
  const baseOf = matchRows(array, base, incoming, context, "position");
  const rowsOfSameAddition = addedOnBothSides(array, sides, baseById, baseOf, context.incoming);
  /** The local rows that no entry of the incoming record has taken yet. */
  const free = new Map(local.map((row) => [row.id, row]));
  const entryOfRow = new Map<Entry, Entry>();
  for (const entry of incoming) {
    const element = context.incoming.elementOf(entry)!;
    const baseEntry = baseOf.get(entry);
    const { id } = baseEntry ?? rowsOfSameAddition.get(entry) ?? {};
    if (id) element.id = id as string;
    const row = free.get(id);
    free.delete(id);
    const location = { element, within: [...within, { array, entry }] };
    if (row) {
      const sidesOfEntry = { base: baseEntry ?? {}, incoming: entry, local: row, ...location };
      entryOfRow.set(mergeFields(array, sidesOfEntry, context), entry);
    } else if (!baseEntry) {
      entryOfRow.set(asNew(array, entry, context), entry);
    } else if (!isEqual(projectEntry(array, baseEntry), projectEntry(array, entry))) {
      // A user has removed the entry, and the sender has changed it.
      reportConflict(location, valueInWords(entry), "");
      if (winner === "incoming") entryOfRow.set(asNew(array, entry, context), entry);
    }
  }
  const others = [...free.values()].filter((row) => {
    const baseEntry = baseById.get(row.id);
    if (!baseEntry) return true;
    const edits = [...editsIn(array, baseEntry, row)];
    if (edits.length === 0) return false;
    // The sender has removed the entry, and a user has edited it.
    const path = [...within, { array, entry: baseEntry }];
    const location = { missing: array.composite, ...parent, within: path };
    reportConflict(location, "", valueInWords(edits.join(", ")));
    return winner === "local";
  });
  const kept = inPlaceOfReplacements(array, others, baseById, entryOfRow, context);
  const rows = [...kept.inPlace, ...others.filter((row) => !kept.moved.has(row))];
  return withoutDuplicates(array, rows, entryOfRow, within, context);
}

/**
 * Keeps a local row with a winning edit in place of the new entry by which the sender has replaced
 * it, such as a right of another type in the same territory. Both together would contradict each
 * other.
 */
function inPlaceOfReplacements(
  array: MergedArray,
  others: readonly Entry[],
  baseById: ReadonlyMap<unknown, Entry>,
  entryOfRow: ReadonlyMap<Entry, Entry>,
  { incoming }: MergeContext,
): { inPlace: Entry[]; moved: ReadonlySet<Entry> } {
  const moved = new Set<Entry>();
  const inPlace = Array.from(entryOfRow, ([row, entry]) => {
    const kept = NEW_ROW in row && others.find(({ id }) => {
      const base = baseById.get(id);
      return base !== undefined && isReplacement(array, base, entry);
    });
    if (!kept || moved.has(kept)) return row;
    moved.add(kept);
    incoming.elementOf(entry)!.id = kept.id as string;
    return kept;
  });
  return { inPlace, moved };
}

/** Finds, by entries that the sender has added, the local rows that were added with the same content. */
function addedOnBothSides(
  array: MergedArray,
  { incoming, local }: ArraySides,
  baseById: ReadonlyMap<unknown, Entry>,
  baseOf: ReadonlyMap<Entry, Entry>,
  reader: Readers["incoming"],
): Map<Entry, Entry> {
  return matchRows(
    array,
    local.filter(({ id }) => !baseById.has(id)),
    incoming.filter((entry) => !baseOf.has(entry)),
    { incoming: reader, base: undefined },
    "same",
  );
}

/**
 * Removes rows with the same distinct key. For example, the sender and a user have each added sales
 * rights for the rest of the world. `entryOfRow`: the incoming entry of each row that has one.
 */
function withoutDuplicates(
  array: MergedArray,
  rows: readonly Entry[],
  entryOfRow: ReadonlyMap<Entry, Entry>,
  within: EntryPath,
  context: MergeContext,
): Entry[] {
  /** The rows that replace a row. */
  const replacements = new Map<Entry, Entry[]>();
  for (const { keyOf } of array.distinct) {
    for (const [key, duplicates] of Map.groupBy(rows, keyOf)) {
      if (key === undefined || duplicates.length < 2) continue;
      const incoming = duplicates.find((row) => {
        const entry = entryOfRow.get(row);
        return entry !== undefined && keyOf(entry) === key;
      });
      if (!incoming) continue;
      const entry = entryOfRow.get(incoming)!;
      const location = { element: context.incoming.elementOf(entry)!, within };
      for (const local of duplicates) {
        if (local === incoming) continue;
        context.reportConflict(location, entryInWords(array, entry), entryInWords(array, local));
        if (context.winner === "local") replacements.getOrInsert(incoming, []);
        else replacements.getOrInsertComputed(local, withoutEdits);
      }
    }
  }
  return rows.flatMap((row) => replacements.get(row) ?? [row]);

  /** Returns the row as in the incoming record, or none if it is not there. */
  function withoutEdits(row: Entry): Entry[] {
    const entry = entryOfRow.get(row);
    if (!entry) return [];
    const element = context.incoming.elementOf(entry)!;
    const sides = { base: row, incoming: entry, local: row, element, within };
    return [mergeFields(array, sides, context)];
  }
}

/** Yields the values that were edited in a row and in the rows below it. */
function* editsIn(
  { fields, composite }: Pick<MergedArray, "fields" | "composite">,
  base: Entry,
  local: Entry,
): Generator<string> {
  for (const [name, field] of Object.entries(fields)) {
    const [was, is] = [base[name], local[name]];
    const codec = fieldCodec(name, field, composite);
    const array = mergedArrayIn(name, field);
    if (!codec) {
      // ONIX has no element for this field, so only a user gives it a value.
      const isEdited = field.kind === "column" && field.body &&
        scalar(is) !== scalar(was ?? field.fallback);
      if (isEdited) yield valueInWords(is) || "nothing";
    } else if (array) {
      const removed = new Map(objectsIn(was).map((row) => [row.id, row]));
      for (const row of objectsIn(is)) {
        const baseRow = removed.get(row.id);
        removed.delete(row.id);
        if (baseRow) yield* editsIn(array, baseRow, row);
        else yield valueInWords(row);
      }
      for (const _ of removed) yield "a removal";
    } else if (!isEqual(codec.project(was), codec.project(is))) {
      yield valueInWords(is) || "nothing";
    }
  }
}

/** Returns an entry as a new row. The row and its element get the same new id. */
function asNew(array: MergedArray, entry: Entry, context: MergeContext): Entry {
  const id = context.incoming.elementOf(entry)!.id ??= context.newId();
  const made: Entry = { ...entry, id, [NEW_ROW]: true };
  for (const [name, field] of Object.entries(array.fields)) {
    const below = mergedArrayIn(name, field);
    if (!below) continue;
    made[name] = objectsIn(entry[name]).map((one) => asNew(below, one, context));
  }
  return made;
}

/** Merges the fields of an object. Fields without an element in ONIX keep their local value. */
function mergeFields(
  object: FieldsOfObject,
  sides: ObjectSides,
  context: MergeContext,
): Entry {
  const { fields, composite, together } = object;
  const { base, incoming, local, element, within } = sides;
  const merged: Entry = { ...local };
  for (const [name, field] of Object.entries(fields)) {
    const codec = fieldCodec(name, field, composite);
    if (!codec) continue;
    const array = mergedArrayIn(name, field);
    if (array) {
      const inner = {
        base: objectsIn(base[name]),
        incoming: objectsIn(incoming[name]),
        local: objectsIn(local[name]),
      };
      merged[name] = mergeRows(array, inner, { element, within }, context);
    } else if (field.kind === "group" && hasRows(field.fields)) {
      const inner = {
        composite: elementOf(name, field)!,
        fields: field.fields,
        together: [],
        rules: [],
      };
      merged[name] = mergeFields(inner, {
        base: (base[name] ?? {}) as Entry,
        incoming: (incoming[name] ?? {}) as Entry,
        local: (local[name] ?? {}) as Entry,
        element: codec.find?.(element) ?? element,
        within,
      }, context);
    } else {
      // Fields that are one value are merged with the first of them.
      const names = together.includes(name) ? together : [name];
      if (names[0] === name) {
        Object.assign(merged, incomingValuesToWrite(names, object, sides, context));
      }
    }
  }
  return Object.assign(merged, fieldsOfBrokenRules(merged, object, sides, context));
}

/** Whether an object contains arrays of rows, so that its fields are merged one by one. */
function hasRows(fields: Fields): boolean {
  return Object.values(fields).some(({ kind }) => kind === "rows");
}
