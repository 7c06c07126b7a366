import type { ArrayField, Field, Rows } from "./fields.ts";
import { isObject } from "./objects.ts";

/*
 * Finds the entries of a body that name existing rows by their `id`. For example, the second price of
 * `product_prices` names a row at `[1, "id"]`.
 */

/** The `id` of an entry in a body, with its path. */
export interface NamedRow {
  table: string;
  id: string;
  path: (string | number)[];
}

/** Marks an entry whose id is that of a row to create. No body of a request has it. */
export const NEW_ROW: unique symbol = Symbol("new row");

/**
 * Yields each `id` of an entry that names an existing row, also in the arrays below it. Entries may
 * be invalid.
 */
export function* namedRows(
  array: ArrayField,
  entries: unknown,
  path: NamedRow["path"] = [],
): Generator<NamedRow> {
  if (array.kind !== "rows" || !Array.isArray(entries)) return;
  const { table, fields } = array;
  const arrays = Object.entries<Field>(fields).filter(([, { kind }]) => kind === "rows");
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) continue;
    if (typeof entry.id === "string" && !(NEW_ROW in entry)) {
      yield { table, id: entry.id, path: [...path, i, "id"] };
    }
    for (const [name, below] of arrays) {
      const entries = entry[name];
      if (!Array.isArray(entries) || entries.length === 0) continue;
      yield* namedRows(below as Rows, entries, [...path, i, name]);
    }
  }
}
