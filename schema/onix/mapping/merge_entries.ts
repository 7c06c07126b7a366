import { type Entry, NEW_ROW } from "../../bodies.ts";
import { elementOf, type Field, type Fields, keysOf, type Rows, type Rule } from "../../fields.ts";
import { type Distinct, isEqual, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { type Element, saysSame } from "../xml/element.ts";
import type { Conflict, Place, Way } from "./conflicts.ts";
import { besideFields, type Keys, pairEntries, traitsOf, wholeOf } from "./entries.ts";
import { codecOf } from "./fields.ts";
import { COLLATERAL_TYPES, MAPPING, type Reading } from "./mapping.ts";
import { partOf, placeIn } from "./places.ts";
import { type FieldCodec, scalar } from "./codec.ts";
import { inWords, valueInWords } from "./words.ts";

/*
 * The entries of an array that was edited here, after a record: which of the last record is
 * which of the new one, by what they say, and which is which row here, by the ids of rows. Of
 * each entry the fields that the sender has changed are written, and the arrays in it merged.
 */

/** An array whose entries have ids, in composites with this name. */
interface Entries extends FieldsOfObject, Keys {
  /** What no two entries may share. */
  distinct: readonly Distinct[];
  codec: FieldCodec;
}

/** The arrays whose entries are merged one by one. */
export const MERGED: Readonly<Record<string, Entries>> = {
  ...Object.fromEntries(COLLATERAL_TYPES.map((type) => {
    const array = ARRAYS.collateral.types![type]!;
    return [type, entriesOf(array, array.element, MAPPING[type]!)];
  })),
  product_territories: entriesOf(
    ARRAYS.product_territories,
    "ProductSupply",
    MAPPING.product_territories!,
  ),
  product_sales_rights: entriesOf(
    ARRAYS.product_sales_rights,
    "SalesRights",
    MAPPING.product_sales_rights!,
  ),
};

function entriesOf(
  array:
    & Parameters<typeof keysOf>[0]
    & Pick<Rows, "together" | "rules" | "distinct">,
  composite: string,
  codec: FieldCodec,
): Entries {
  const { fields, together = [], rules = [], distinct = [] } = array;
  const own = { composite, fields, together, rules, distinct, codec };
  return { ...own, ...keysOf(array) };
}

/** The array in this field of a composite, if its entries have ids. */
function entriesIn(
  name: string,
  field: Field,
  composite: string,
): Entries | undefined {
  if (field.kind !== "rows" || field.isIdHidden) return;
  const codec = codecOf(name, field, composite);
  return codec && entriesOf(field, elementOf(name, field)!, codec);
}

export interface MergeContext {
  now: Reading["reader"];
  last: Reading["reader"] | undefined;
  conflict: Conflict;
  newId: () => string;
}

/** Pairs the entries of an array, of which those before may have elements in the last record. */
function pairsOf(
  { codec, composite: _, ...array }: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  { now, last }: Pick<MergeContext, "now" | "last">,
  by: "same" | "place",
): Map<Entry, Entry> {
  const elementIn = (entry: Entry) => last?.elementOf(entry) ?? now.elementOf(entry);
  const haveElements = before.every(elementIn);
  const isSame = (one: Entry, i: number) =>
    haveElements && saysSame(elementIn(before[i]!)!, elementIn(one)!);
  if (before.length === after.length && after.every(isSame)) {
    return new Map(after.map((one, i) => [one, before[i]!]));
  }
  return pairEntries(before, after, (entry) => {
    const form = objectsIn(codec.project([entry]))[0] ?? {};
    const element = haveElements ? elementIn(entry) : undefined;
    if (!element) return traitsOf(form, array);
    const beside = besideFields(element, array.fields);
    return traitsOf(form, array, beside, wholeOf(element));
  }, by);
}

/**
 * The entries after the comparison. Those of rows that stay have their ids, and so have the
 * elements of the new record. `of` are the entries that the array is in.
 */
export function mergeRows(
  array: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  here: readonly Entry[],
  parent: Place,
  of: Way,
  context: MergeContext,
): Entry[] {
  const { conflict, now } = context;
  const isSame = (a: Entry, b: Entry) =>
    isEqual(array.codec.project([a]), array.codec.project([b]));
  const olds = new Map(before.map((one) => [one.id, one]));
  const was = pairsOf(array, before, after, context, "place");
  // Both may have added an entry.
  const added = here.filter(({ id }) => !olds.has(id));
  const news = after.filter((one) => !was.has(one));
  const both = pairsOf(array, added, news, { now, last: undefined }, "same");
  const rows = new Map(here.map((row) => [row.id, row]));
  // The entries of the record, by the rows that come of them.
  const said = new Map<Entry, Entry>();
  for (const entry of after) {
    const row = rowOf(entry);
    if (row) said.set(row, entry);
  }
  const others = [...rows.values()].filter(isKept);
  return withoutTwins(array, [...said.keys(), ...others], said, of, context);

  function rowOf(entry: Entry): Entry | undefined {
    const element = now.elementOf(entry)!;
    const old = was.get(entry);
    const id = old ? old.id : both.get(entry)?.id;
    const row = rows.get(id);
    rows.delete(id);
    if (id) element.id = id as string;
    const own = [...of, { array, entry }];
    if (row) {
      const sides = { before: old ?? {}, after: entry, here: row };
      return mergeFields(array, { ...sides, at: element, of: own }, context);
    }
    // It was removed here.
    const isGone = old &&
      (isSame(old, entry) ||
        conflict({ element, of: own }, valueInWords(entry), ""));
    return isGone ? undefined : asNew(array, entry, context);
  }

  function isKept(row: Entry): boolean {
    const old = olds.get(row.id);
    if (!old) return true;
    // The sender has removed it.
    const edits = [...editsIn(array, old, row)];
    if (edits.length === 0) return false;
    const place = { missing: array.composite, ...parent };
    const own = [...of, { array, entry: old }];
    return conflict({ ...place, of: own }, "", valueInWords(edits.join(", ")));
  }
}

/**
 * The rows without those that share with another what must be distinct, such as a second
 * right for the rest of the world: the sender has one, and one was written here. `said` are
 * the entries of the record, by their rows.
 */
function withoutTwins(
  array: Entries,
  rows: readonly Entry[],
  said: ReadonlyMap<Entry, Entry>,
  of: Way,
  context: MergeContext,
): Entry[] {
  let left = [...rows];
  for (const { keyOf } of array.distinct) {
    for (const [key, twins] of Map.groupBy(rows, keyOf)) {
      if (key === undefined || twins.length < 2) continue;
      const isTheirs = (row: Entry) => {
        const entry = said.get(row);
        return entry !== undefined && keyOf(entry) === key;
      };
      const theirs = twins.find(isTheirs);
      if (!theirs) continue;
      const entry = said.get(theirs)!;
      const element = context.now.elementOf(entry)!;
      for (const ours of twins) {
        if (ours === theirs) continue;
        const isKept = context.conflict(
          { element, of },
          inWords(array, entry),
          inWords(array, ours),
        );
        left = left.flatMap((row) => {
          if (row !== (isKept ? theirs : ours)) return [row];
          const back = said.get(row);
          if (isKept || !back) return [];
          // What was written here goes: the row is again what the sender says.
          const at = context.now.elementOf(back)!;
          const sides = { before: row, after: back, here: row, at, of };
          return [mergeFields(array, sides, context)];
        });
      }
    }
  }
  return left;
}

/** The values that were edited of a row, in it and in the rows below. */
function* editsIn(
  { fields, composite }: Pick<Entries, "fields" | "composite">,
  before: Entry,
  row: Entry,
): Generator<string> {
  for (const [name, field] of Object.entries(fields)) {
    const [was, is] = [before[name], row[name]];
    const codec = codecOf(name, field, composite);
    const array = entriesIn(name, field, composite);
    if (!codec) {
      const isSaid = field.kind === "column" && field.body &&
        scalar(is) !== scalar(was ?? field.fallback);
      if (isSaid) yield valueInWords(is) || "nothing";
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
function asNew(array: Entries, entry: Entry, context: MergeContext): Entry {
  const id = context.now.elementOf(entry)!.id ??= context.newId();
  const made: Entry = { ...entry, id, [NEW_ROW]: true };
  for (const [name, field] of Object.entries(array.fields)) {
    const below = entriesIn(name, field, array.composite);
    if (!below) continue;
    made[name] = objectsIn(entry[name]).map((one) => asNew(below, one, context));
  }
  return made;
}

/** The fields of an object in a composite. */
interface FieldsOfObject {
  composite: string;
  fields: Fields;
  /** The fields that are one value. */
  together: readonly string[];
  /** What joins fields: where both sides have changed some, they are one value, too. */
  rules: readonly Rule[];
}

/** An object as the sender said it last, as they say it now, and as it is here. */
interface Sides {
  before: Entry;
  after: Entry;
  here: Entry;
  /** Its element in the new record, and the entries that it is in. */
  at: Element;
  of: Way;
}

/** Merges the fields of an object. What ONIX does not say stays as it is here. */
function mergeFields(
  object: FieldsOfObject,
  sides: Sides,
  context: MergeContext,
): Entry {
  const { fields, composite, together } = object;
  const { before, after, here, at, of } = sides;
  const merged: Entry = { ...here };
  for (const [name, field] of Object.entries(fields)) {
    const codec = codecOf(name, field, composite);
    if (!codec) continue;
    const array = entriesIn(name, field, composite);
    if (array) {
      merged[name] = mergeRows(
        array,
        objectsIn(before[name]),
        objectsIn(after[name]),
        objectsIn(here[name]),
        { element: at },
        of,
        context,
      );
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
        of,
      }, context);
    } else if (!together.includes(name)) {
      Object.assign(merged, changedIn([name], object, sides, context));
    } else if (name === together[0]) {
      Object.assign(merged, changedIn(together, object, sides, context));
    }
  }
  return Object.assign(merged, keptTogether(merged, object, sides, context));
}

/** The fields that are one value, if the sender has changed it and no edit stays. */
function changedIn(
  names: readonly string[],
  { fields, composite }: FieldsOfObject,
  { before, after, here, at, of }: Sides,
  { conflict }: MergeContext,
): Entry {
  const parts = names.map((name) => partOf(name, fields[name]!, composite));
  const differ = (a: Entry, b: Entry) =>
    parts.filter(({ name, codec }) => !isEqual(codec.project(a[name]), codec.project(b[name])));
  if (differ(before, after).length === 0) return {};
  const isEdited = differ(here, before).length > 0;
  const conflicting = isEdited ? differ(here, after) : [];
  const differing = conflicting.map(({ name }) => name);
  const isKept = conflicting.length > 0 && conflict(
    { ...placeIn(at, conflicting[0]!, after, here), of },
    shown(differing, after),
    shown(differing, here),
  );
  return isKept ? {} : valuesAfter(names, fields, after);
}

/** What either side says is right, but not a part of each: fields that a rule joins are those of one side. */
function keptTogether(
  merged: Entry,
  { fields, rules }: FieldsOfObject,
  { after, here, at, of }: Sides,
  { conflict }: MergeContext,
): Entry {
  const kept: Entry = {};
  for (const { fields: names, check } of rules) {
    if (check({ ...merged, ...kept }) === undefined) continue;
    const isKept = conflict(
      { element: at, of },
      shown(names, after),
      shown(names, here),
    );
    Object.assign(
      kept,
      isKept
        ? Object.fromEntries(names.map((name) => [name, here[name]]))
        : valuesAfter(names, fields, after),
    );
  }
  return kept;
}

function shown(names: readonly string[], entry: Entry): string {
  return names.map((name) => valueInWords(entry[name])).filter(Boolean)
    .join(" ");
}

/** The values that a record says, or what a row has without them. */
function valuesAfter(
  names: readonly string[],
  fields: Fields,
  after: Entry,
): Entry {
  return Object.fromEntries(names.map((name) => {
    const value = after[name];
    return [name, value === undefined ? valueWithout(fields[name]!) : value];
  }));
}

/** What a row has for a field that no record says. */
function valueWithout(field: Field): unknown {
  switch (field.kind) {
    case "rows":
      return [];
    case "column":
      return field.fallback ?? null;
    default:
      return null;
  }
}

/** Whether rows stand in an object, so that its fields are merged one by one. */
function hasRows(fields: Fields): boolean {
  return Object.values(fields).some(({ kind }) => kind === "rows");
}
