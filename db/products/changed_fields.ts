import { type Entry, fieldsOfEntry, namedRows, type ProductBody } from "../../schema/bodies.ts";
import type { Field, Fields, Rows } from "../../schema/fields.ts";
import { FIELDS } from "../../schema/product.ts";
import type { Assigned } from "./change.ts";
import { SAID_TWICE } from "./restated.ts";

/*
 * What a whole product changes of the stored one: that of an upsert, an ONIX record, a row of a
 * sheet, a line or an earlier version. Each array is whole, so what is stored changes nothing.
 */

/**
 * The fields of the body that differ from the stored product, or from another record with
 * these fields. Entries of rows with ids get the ids of the rows that they describe.
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
      ? changesHolder(field.refers.heldBy, name, stored, body)
      : !isSame(field, before, after);
    if (isChanged) changed[name] = after;
  }
  // New collections may lack the series: the error is then to point at `series_id`, which the body
  // has, so that is written too.
  if (changed.product_collections && body.series_id) {
    changed.series_id = body.series_id;
  }
  // What is said in both places stays as it is given.
  for (const [one, other] of SAID_TWICE) {
    const isBoth = one in body && other in body;
    if (!isBoth || !(one in changed || other in changed)) continue;
    changed[one] = body[one];
    changed[other] ??= body[other];
  }
  return changed;
}

/** A whole record, as a line or a version has it: what the service assigns otherwise, and the body of the rest. */
export function partsOfRecord(
  { id, product_code, created_at, updated_at, ...body }: Entry,
): { id: string; assigned: Assigned; body: ProductBody } {
  return { id: id as string, assigned: { product_code, created_at, updated_at }, body };
}

/** Whether the body changes a column that another record holds, such as the format. */
function changesHolder(
  owner: string,
  name: string,
  stored: Entry,
  body: ProductBody,
): boolean {
  const before = stored[owner] ?? null;
  const after = body[owner] === undefined ? before : body[owner];
  return after !== null && (after !== before || stored[name] !== body[name]);
}

/** Whether the values are the same. Ids of rows count where the later value has some. */
function isSame(field: Field, before: unknown, after: unknown): boolean {
  const hasIds = field.kind === "rows" && !namedRows(field, after).next().done;
  return JSON.stringify(wholeValue(field, before, hasIds)) ===
    JSON.stringify(wholeValue(field, after, hasIds));
}

/** A value with all that its description names, and nothing else. */
function wholeValue(field: Field, value: unknown, hasIds: boolean): unknown {
  switch (field.kind) {
    case "rows":
      return (value as Entry[] ?? []).map((entry) => ({
        ...hasIds && { id: entry.id },
        ...wholeEntry(fieldsOfEntry(field, entry), entry, hasIds),
      }));
    case "values":
      return (value as Entry[] ?? []).map((entry) => wholeEntry(field.fields, entry, hasIds));
    case "list":
      return value ?? [];
    case "column":
      return value ?? field.fallback ?? null;
    case "group":
      return field.unless && !value ? null : wholeEntry(field.fields, value as Entry ?? {}, hasIds);
    default:
      return undefined;
  }
}

function wholeEntry(fields: Fields, entry: Entry, hasIds: boolean): Entry {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, field]) => [name, wholeValue(field, entry[name], hasIds)]),
  );
}

/**
 * The entries, with the ids of the rows that they describe. An entry describes the first row
 * with its natural key that no earlier entry describes. An entry with an id of its own changes
 * only the fields that it has.
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
    return row ? { id: row.id, ...wholeEntry(fieldsOfEntry(array, entry), entry, false) } : entry;
  });
}
