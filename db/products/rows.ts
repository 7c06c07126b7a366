import {
  discriminatorOf,
  type Entry,
  namedRows,
  NEW_ROW,
  typesOf,
} from "../../schema/bodies.ts";
import {
  arraysBelow,
  columnsIn,
  type Fields,
  type Rows,
} from "../../schema/fields.ts";
import { MAX_ENTRIES, remembered } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import {
  isOneOf,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { uuidv7 } from "../uuid.ts";
import { assertCount, type Write } from "./change.ts";

/*
 * Writes the rows of a product's arrays, as `put` in their description says
 * (specification, 4.4). The rows of all products are one JSON parameter, so the text of a
 * statement does not depend on their number. `insert … select … from products` writes
 * nothing for a deleted product, and lets a distributed database route the statement to
 * one node.
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
      (change) =>
        array.put === "patch" && hasWholeArrays(change) ? "whole" : "others",
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

function hasWholeArrays(change: Write): boolean {
  return change.method === "create" || change.isWhole === true;
}

/** An entry with an `id` updates that row, others are appended. `[]` deletes all rows. */
function patch(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const columns = writtenColumns(array);
  const { named, unnamed } = rowsOf(array, given);
  const emptied = given.filter(({ entries }) => entries.length === 0);
  return {
    writes: [
      ...updateRows(array, columns, named),
      ...appendRows(array.table, ["id", ...columns], numbered(unnamed)),
    ],
    deletions: deleteOthers(array, existingIds(emptied), []),
  };
}

/** The entries replace the rows. An entry with an `id` keeps and updates that row. */
function replace(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const columns = writtenColumns(array);
  const { named, unnamed } = rowsOf(array, given);
  const changed = array.types
    ? columns.filter((column) => column !== discriminatorOf(array))
    : columns;
  return {
    writes: [
      ...updateRows(array, ["position", ...changed], named),
      ...insertRows(
        array.table,
        ["id", ...columns],
        unnamed,
        given.some(({ kept }) => kept) ? ["id"] : [],
      ),
    ],
    deletions: deleteOthers(array, existingIds(given), [...named, ...unnamed]),
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
    writes: insertRows(array.table, writtenColumns(array), rows, array.key),
    deletions: deleteOthers(array, existingIds(given), rows),
  };
}

/** The entries replace the rows and the rows below them. An entry with an `id` keeps it. */
function replaceTree(array: Rows, given: readonly ProductArray[]): ArrayWrites {
  const named = given.flatMap(({ id: product_id, entries, kept }) =>
    kept
      ? []
      : Array.from(namedRows(array, entries), (row) => ({ ...row, product_id }))
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
      ...arrayTables(array).flatMap(({ table, columns }) =>
        insertRows(
          table,
          ["id", ...columns],
          trees.flatMap((rows) => rows.get(table) ?? []),
        )
      ),
    ],
    deletions: [],
  };
}

/** The columns that an entry writes, with those of its groups and of all its types. */
const writtenColumns = remembered(({ fields, types = {} }: Rows): string[] => {
  const all = [fields, ...Object.values(types).map(({ fields }) => fields)];
  const written = all.flatMap(columnsIn).filter(([, field]) =>
    field.kind !== "column" || field.body
  );
  return [...new Set(written.map(([name]) => name))];
});

/** The tables of a tree with their columns, parents first. */
function arrayTables(
  array: Rows,
  parent: Rows | undefined = undefined,
): { table: string; columns: string[] }[] {
  const columns = [...parent ? [parent.link!] : [], ...writtenColumns(array)];
  return [
    { table: array.table, columns },
    ...arraysBelow(array.fields).flatMap((below) => arrayTables(below, array)),
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
        if (field.kind === "group") fill(field.fields, value as Entry ?? {});
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

/** The rows to update, with the types that they may have, and the rows to create. Some of these have theirs (`NEW_ROW`). */
function rowsOf(array: Rows, given: readonly ProductArray[]) {
  const named: Entry[] = [];
  const unnamed: Entry[] = [];
  for (const { id: product_id, entries, kept } of given) {
    for (const [position, entry] of entries.entries()) {
      const row = { ...entry, product_id, position };
      const types = array.types && { types: typesOf(array, entry) };
      const isStored = entry.id && !kept && !(NEW_ROW in entry);
      if (isStored) named.push({ ...row, ...types });
      else unnamed.push({ ...row, id: entry.id ?? uuidv7() });
    }
  }
  return { named, unnamed };
}

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

function isProductOf(rows: readonly Entry[]): Statement {
  const ids = new Set(rows.map(({ product_id }) => product_id as string));
  return isOneOf([...ids]);
}

/** The condition that row `x` is of one of the products of these rows. */
function isOfProductOf(rows: readonly Entry[]): Statement {
  return sql`
    x.organization_id = ${organization} and x.product_id ${isProductOf(rows)}
  `;
}

/** Fails unless the table has these rows. */
function assertRows(table: string, rows: readonly Entry[]): Statement {
  const keys = rows.map(({ product_id, id }) => ({ product_id, id }));
  const found = sql`
    from jsonb_to_recordset(${json(keys)}) r (product_id uuid, id uuid)
    join ${raw(table)} x
      on ${isOfProductOf(rows)} and x.product_id = r.product_id and x.id = r.id
  `;
  return sql`select where ${assertCount(found, rows.length)}`;
}

/** Updates rows by their `id`. Violates `rows_found` if one does not exist or has another type. */
function updateRows(
  array: Rows,
  columns: readonly string[],
  rows: readonly Entry[],
): Statement[] {
  if (rows.length === 0) return [];
  const { table, types } = array;
  const keys = rows.map(({ product_id, id, types }) => (
    { product_id, id, types }
  ));
  const isNamed = sql`
    ${isOfProductOf(rows)}
    and x.product_id = (e.entry ->> 'product_id')::uuid
    and x.id = (e.entry ->> 'id')::uuid
    ${
    types ? sql`and e.entry -> 'types' ? x.${raw(discriminatorOf(array))}` : []
  }
  `;
  const named = sql`
    from jsonb_array_elements(${json(keys)}) e (entry)
    join ${raw(table)} x on ${isNamed}
  `;
  const columnNames = names(...columns);
  return [sql`
    update ${raw(table)} x
    set (${columnNames}) = (
      select ${columnNames}
      from jsonb_populate_record(x, e.entry)
    )
    from jsonb_array_elements(${json(rows)}) e (entry)
    where ${isNamed} and ${assertCount(named, rows.length)}
  `];
}

/** Inserts rows. With `key`, it updates the rows that have one of the keys. */
function insertRows(
  table: string,
  columns: readonly string[],
  rows: readonly Entry[],
  key: readonly string[] = [],
): Statement[] {
  if (rows.length === 0) return [];
  const changed = ["position", ...columns]
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`);
  const onConflict = sql`
    on conflict (organization_id, product_id, ${names(...key)})
    do update set ${names(...changed)}
  `;
  return [sql`
    insert into ${raw(table)}
      (organization_id, product_id, position, ${names(...columns)})
    select
      p.organization_id, p.id, r.position, ${
    names(...columns.map((column) => `r.${column}`))
  }
    from products p
    join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isProductOf(rows)}
    ${key.length > 0 ? onConflict : []}
  `];
}

/**
 * Inserts rows after the stored ones. A position is at least the number of stored rows,
 * so the constraint on positions refuses exactly the rows beyond `MAX_ENTRIES`, even if
 * SQL left gaps.
 */
function appendRows(
  table: string,
  columns: readonly string[],
  rows: readonly Entry[],
): Statement[] {
  if (rows.length === 0) return [];
  const last = raw(String(MAX_ENTRIES - 1));
  return [sql`
    insert into ${raw(table)}
      (organization_id, product_id, position, ${names(...columns)})
    select
      p.organization_id,
      p.id,
      greatest(least(r.position + stored.next, ${last}), r.position + stored.rows),
      ${names(...columns.map((column) => `r.${column}`))}
    from products p
    cross join lateral (
      select coalesce(max(x.position) + 1, 0) as next, count(*) as rows
      from ${raw(table)} x
      where x.organization_id = ${organization} and x.product_id = p.id
    ) stored
    join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isProductOf(rows)}
  `];
}

function deleteOthers(
  { table, key = ["id"] }: Rows,
  productIds: readonly string[],
  rows: readonly Entry[],
): Statement[] {
  if (productIds.length === 0) return [];
  const stored = key.map((column) => `x.${column}`);
  return [sql`
    delete from ${raw(table)} x
    where x.organization_id = ${organization}
      and x.product_id ${isOneOf(productIds)}
      and (x.product_id, ${names(...stored)}) not in (
        select product_id, ${names(...key)}
        from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
      )
  `];
}
