import { type Entry, typesOf } from "../../../schema/bodies.ts";
import { namedRows, NEW_ROW } from "../../../schema/named_rows.ts";
import { arraysBelow, type Fields, type Rows } from "../../../schema/fields.ts";
import { remembered } from "../../../schema/objects.ts";
import { ROWS } from "../../../schema/product.ts";
import type { Statement } from "../../connections/sql.ts";
import { uuidv7 } from "../../uuid.ts";
import { hasWholeArrays, type Write } from "../change/change.ts";
import {
  append,
  assertRows,
  deleteOthers,
  insertInto,
  insertLinks,
  insertNew,
  insertOrUpdate,
  ofRows,
  type RowsStatement,
  updateFields,
  updateInPlace,
  updateRows,
  writtenColumns,
} from "./row_statements.ts";

/*
 * Writes the arrays of products that are rows of other tables: which rows are updated, inserted and
 * deleted. The kind of each array is `put` in its description (specification, 4.4).
 *
 * For example, `put: "patch"` with one entry with an id and one without updates one row and appends
 * one.
 */

interface ArrayWrites {
  writes: Statement[];
  /** Deletions, last: a series may reference a link until the product has another series. */
  deletions: Statement[];
}

/** A change, with the entries of one of its arrays. */
type ProductArray = Write & { entries: readonly Entry[] };

const PUT = { patch, replace, link: replaceLinks, tree: replaceTree };

/** The statements that write the arrays in the bodies. Absent arrays are unchanged. */
export function writeArrays(changes: readonly Write[]): ArrayWrites {
  const all = ROWS.flatMap(([name, array]) => {
    const given = changes.flatMap((change): ProductArray[] => {
      const entries = change.body[name] as Entry[] | undefined;
      return entries ? [{ ...change, entries }] : [];
    });
    const { whole = [], others = [] } = Object.groupBy(
      given,
      (change) => array.put === "patch" && hasWholeArrays(change) ? "whole" : "others",
    );
    return [
      ...whole.length > 0 ? [replace(array, whole)] : [],
      ...others.length > 0 ? [PUT[array.put](array, others)] : [],
    ];
  });
  return {
    writes: all.flatMap(({ writes }) => writes),
    deletions: all.flatMap(({ deletions }) => deletions),
  };
}

/** An entry with an `id` updates that row, others are appended. `[]` deletes all rows. */
function patch(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const { existing, created } = rowsOf(array, given);
  const emptied = given.filter(({ entries }) => entries.length === 0);
  return {
    writes: [
      ...updateRows(array, existing, updateFields),
      ...ofRows(numbered(created), append(array)),
    ],
    deletions: deleteOthers(array, existingIds(emptied), []),
  };
}

/** The entries replace the rows. An entry with an `id` keeps and updates that row. */
function replace(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const { existing, created } = rowsOf(array, given);
  const insert = given.some(({ keepsIds }) => keepsIds) ? insertOrUpdate : insertNew;
  return {
    writes: [
      ...updateRows(array, existing, updateInPlace),
      ...ofRows(created, insert(array)),
    ],
    deletions: deleteOthers(array, existingIds(given), [...existing, ...created]),
  };
}

/** The entries replace the rows, which their links identify. */
function replaceLinks(
  array: Rows,
  given: readonly ProductArray[],
): ArrayWrites {
  const rows = given.flatMap(({ id: product_id, entries }) =>
    entries.map((entry, position) => ({ ...entry, product_id, position }))
  );
  return {
    writes: ofRows(rows, insertLinks(array)),
    deletions: deleteOthers(array, existingIds(given), rows),
  };
}

/** The entries replace the rows and the rows below them. An entry with an `id` keeps it. */
function replaceTree(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const named = given.flatMap(({ id: product_id, entries, keepsIds }) =>
    keepsIds ? [] : Array.from(namedRows(array, entries), (row) => ({ ...row, product_id }))
  );
  const trees = given.map(({ id: product_id, entries }) =>
    rowsOfTree(array, entries, { product_id })
  );
  return {
    writes: [
      ...Array.from(
        Map.groupBy(named, ({ table }) => table),
        ([table, rows]) => assertRows(table, rows),
      ),
      // Foreign keys delete the rows below.
      ...deleteOthers(array, existingIds(given), []),
      ...treeTables(array).flatMap(({ table, insert }) =>
        ofRows(trees.flatMap((rows) => rows.get(table) ?? []), insert)
      ),
    ],
    deletions: [],
  };
}

/** The tables of a tree, parents first. */
const treeTables = remembered((array: Rows) => tablesBelow(array, []));

function tablesBelow(
  array: Rows,
  links: readonly string[],
): { table: string; insert: RowsStatement }[] {
  const { table, fields, link } = array;
  const insert = insertInto(table, ["id", ...links, ...writtenColumns(array)]);
  return [
    { table, insert },
    ...arraysBelow(fields).flatMap((below) => tablesBelow(below, [link!])),
  ];
}

/** The rows of a tree by table, each with `parents`: the ids of its product and its parent. */
function rowsOfTree(
  array: Rows,
  entries: readonly Entry[],
  parents: Entry,
  rows = new Map<string, Entry[]>(),
): Map<string, Entry[]> {
  const { table, fields, link } = array;
  const { product_id } = parents;
  const siblings = rows.get(table) ?? [];
  rows.set(table, siblings);
  entries.forEach((entry, position) => {
    const row: Entry = { ...parents, id: entry.id ?? uuidv7(), position };
    siblings.push(row);
    function fill(fields: Fields, values: Entry): void {
      for (const [name, field] of Object.entries(fields)) {
        const value = values[name];
        // An absent column becomes null.
        if (value === null || value === undefined) continue;
        if (field.kind === "group") fill(field.fields, value as Entry);
        else if (field.kind === "rows") {
          const below = { product_id, [link!]: row.id };
          rowsOfTree(field, value as Entry[], below, rows);
        } else row[name] = value;
      }
    }
    fill(fields, entry);
  });
  return rows;
}

/**
 * Returns the rows that entries name, with their possible types, and the rows to create. A new row
 * gets the id of its entry if it keeps one (`keepsIds`, `NEW_ROW`), or else a new one.
 */
function rowsOf(array: Rows, given: readonly ProductArray[]) {
  const existing: Entry[] = [];
  const created: Entry[] = [];
  for (const change of given) {
    const { id: product_id, entries, keepsIds } = change;
    // Only a body that a client has sent has old values beside those that it changes.
    const whole = hasWholeArrays(change) && { is_whole: true };
    for (const [position, entry] of entries.entries()) {
      const row = { ...entry, product_id, position };
      const types = array.types && { types: typesOf(array, entry), ...whole };
      const isNamed = entry.id && !keepsIds && !(NEW_ROW in entry);
      if (isNamed) existing.push({ ...row, ...types });
      else created.push({ ...row, id: entry.id ?? uuidv7() });
    }
  }
  return { existing, created };
}

/** The rows with their positions among the new ones of their product. */
function numbered(rows: readonly Entry[]): Entry[] {
  const next = new Map<unknown, number>();
  return rows.map((row) => {
    const position = next.get(row.product_id) ?? 0;
    next.set(row.product_id, position + 1);
    return { ...row, position };
  });
}

/** The ids of existing products, which may have rows. */
function existingIds(given: readonly ProductArray[]): string[] {
  return given.filter(({ method }) => method === "update").map(({ id }) => id);
}
