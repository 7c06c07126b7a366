import { type Entry, fieldsOfEntry, type ProductBody } from "../../../schema/bodies.ts";
import { namedRows } from "../../../schema/named_rows.ts";
import type { Field, Fields, Rows } from "../../../schema/fields.ts";
import { FIELDS, MIRRORED_FIELDS } from "../../../schema/product.ts";
import type { Assigned } from "./change.ts";

/*
 * Compares a full product with the stored one. In: the product of an upsert, an ONIX record, a row
 * of a sheet, a line or an earlier version. Out: the fields that differ, so that an equal product
 * writes nothing.
 *
 * For example, stored `{ title: "Emma", page_count: 300 }` and given `{ title: "Emma", page_count:
 * 310 }` leave `{ page_count: 310 }`.
 */

/**
 * Returns the fields of the body that differ from the stored product, or from another record with
 * these fields. Entries get the ids of the rows that they match.
 */
export function changedFields(
  stored: Entry,
  body: ProductBody,
  fields: Fields = FIELDS,
): ProductBody {
  const changed: ProductBody = {};
  for (const [name, value] of Object.entries(body)) {
    const field = fields[name]!;
    const before = stored[name];
    const after = field.kind === "rows"
      ? identified(field, before as Entry[], value as Entry[])
      : value;
    const isChanged = field.kind === "column" && field.refers?.heldBy
      ? changesOwner(field.refers.heldBy, name, stored, body)
      : !isSame(field, before, after);
    if (isChanged) changed[name] = after;
  }
  // The new collections may lack the series. To report that error at `series_id`, which the body
  // has, it is written too.
  if (changed.product_collections && body.series_id) {
    changed.series_id = body.series_id;
  }
  // A body with both of two mirrored fields is stored as sent.
  for (const [one, other] of MIRRORED_FIELDS) {
    const isBoth = one in body && other in body;
    if (!isBoth || !(one in changed || other in changed)) continue;
    changed[one] = body[one];
    changed[other] ??= body[other];
  }
  return changed;
}

/**
 * Splits a full record, as in a line or a version, into the values that the service would assign
 * and the body.
 */
export function partsOfRecord(
  { id, product_code, created_at, updated_at, ...body }: Entry,
): { id: string; assigned: Assigned; body: ProductBody } {
  return { id: id as string, assigned: { product_code, created_at, updated_at }, body };
}

/** Whether the body changes a field that the owner stores, such as the product form of the format. */
function changesOwner(
  owner: string,
  name: string,
  stored: Entry,
  body: ProductBody,
): boolean {
  const before = stored[owner] ?? null;
  const after = body[owner] === undefined ? before : body[owner];
  return after !== null && (after !== before || stored[name] !== body[name]);
}

/** Whether the values are equal. Ids of rows are compared if the later value has some. */
function isSame(field: Field, before: unknown, after: unknown): boolean {
  const hasIds = field.kind === "rows" && !namedRows(field, after).next().done;
  return isSameValue(field, before, after, hasIds);
}

/** Whether the values are equal in the fields of their description. */
function isSameValue(field: Field, before: unknown, after: unknown, hasIds: boolean): boolean {
  switch (field.kind) {
    case "rows":
    case "values": {
      const [rows, entries] = [before as Entry[] ?? [], after as Entry[] ?? []];
      return rows.length === entries.length &&
        entries.every((entry, i) =>
          (field.kind === "values" || !hasIds || rows[i]!.id === entry.id) &&
          isSameEntry(fieldsOfEntry(field, entry), rows[i]!, entry, hasIds)
        );
    }
    case "list":
      return isSameJson(before ?? [], after ?? []);
    case "column":
      return isSameJson(before ?? field.fallback ?? null, after ?? field.fallback ?? null);
    case "group":
      if (field.unless && (!before || !after)) return !before === !after;
      return isSameEntry(field.fields, before as Entry ?? {}, after as Entry ?? {}, hasIds);
    default:
      return true;
  }
}

function isSameEntry(fields: Fields, before: Entry, after: Entry, hasIds: boolean): boolean {
  for (const name in fields) {
    if (!isSameValue(fields[name]!, before[name], after[name], hasIds)) return false;
  }
  return true;
}

/** Whether the JSON texts are equal: a number and a raw number may be. */
function isSameJson(before: unknown, after: unknown): boolean {
  if (before === after) return true;
  if (typeof before === "string" && typeof after === "string") return false;
  return JSON.stringify(before) === JSON.stringify(after);
}

/** Returns the value with exactly the fields of its description. */
function describedValue(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case "rows":
      return (value as Entry[] ?? []).map((entry) =>
        describedEntry(fieldsOfEntry(field, entry), entry)
      );
    case "values":
      return (value as Entry[] ?? []).map((entry) => describedEntry(field.fields, entry));
    case "list":
      return value ?? [];
    case "column":
      return value ?? field.fallback ?? null;
    case "group":
      return field.unless && !value ? null : describedEntry(field.fields, value as Entry ?? {});
    default:
      return undefined;
  }
}

function describedEntry(fields: Fields, entry: Entry): Entry {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, field]) => [name, describedValue(field, entry[name])]),
  );
}

/**
 * Gives entries the ids of the rows that they match: each the first free row with its natural key.
 * An entry with its own id changes only the fields that it has.
 */
function identified(
  array: Rows,
  rows: readonly Entry[],
  entries: readonly Entry[],
): Entry[] {
  const { naturalKey } = array;
  if (!naturalKey) return [...entries];
  const keyOf = (entry: Entry) => JSON.stringify(naturalKey.map((name) => entry[name] ?? null));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const named = new Set(entries.map(({ id }) => id));
  const left = Map.groupBy(rows.filter(({ id }) => !named.has(id)), keyOf);
  return entries.map((entry) => {
    if (entry.id) return { ...byId.get(entry.id), ...entry };
    const row = left.get(keyOf(entry))?.shift();
    return row ? { id: row.id, ...describedEntry(fieldsOfEntry(array, entry), entry) } : entry;
  });
}
