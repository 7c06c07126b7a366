import { discriminatorOf, type Entry, namedRows, NEW_ROW, typesOf } from "../../schema/bodies.ts";
import { arraysBelow, columnsIn, type Fields, type Rows } from "../../schema/fields.ts";
import { MAX_ENTRIES, remembered } from "../../schema/objects.ts";
import { ROWS } from "../../schema/product.ts";
import {
  composedForIds,
  isOneOf,
  type Json,
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

function hasWholeArrays(change: Write): boolean {
  return change.method === "create" || change.isWhole === true;
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

/** The columns that an entry writes, with those of its groups and of all its types. */
const writtenColumns = remembered(({ fields, types = {} }: Rows): string[] => {
  const all = [fields, ...Object.values(types).map(({ fields }) => fields)];
  const written = all.flatMap(columnsIn).filter(([, field]) =>
    field.kind !== "column" || field.body
  );
  return [...new Set(written.map(([name]) => name))];
});

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

/**
 * The rows that entries name, with the types that they may have, and the rows to create. These
 * have the id of their entry, if it keeps one (`keepsIds`, `NEW_ROW`), or else a new one.
 */
function rowsOf(array: Rows, given: readonly ProductArray[]) {
  const existing: Entry[] = [];
  const created: Entry[] = [];
  for (const { id: product_id, entries, keepsIds } of given) {
    for (const [position, entry] of entries.entries()) {
      const row = { ...entry, product_id, position };
      const types = array.types && { types: typesOf(array, entry) };
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

/** The ids of the products of these rows. */
function productsOf(rows: readonly Entry[]): string[] {
  return [...new Set(rows.map(({ product_id }) => product_id as string))];
}

/** A statement that writes these rows of products. Its text depends on the table alone. */
type RowsStatement = (ids: readonly string[], rows: Json) => Statement;

/** The statement that writes the rows, if there are some. */
function ofRows(rows: readonly Entry[], write: RowsStatement): Statement[] {
  return rows.length > 0 ? [write(productsOf(rows), json(rows))] : [];
}

/** The condition that row `x` is of one of these products. */
function isRowOf(isId: Statement): Statement {
  return sql`x.organization_id = ${organization} and x.product_id ${isId}`;
}

/** Fails unless the table has these rows. */
function assertRows(table: string, rows: readonly Entry[]): Statement {
  const keys = rows.map(({ product_id, id }) => ({ product_id, id }));
  const found = sql`
    from jsonb_to_recordset(${json(keys)}) r (product_id uuid, id uuid)
    join ${raw(table)} x
      on ${isRowOf(isOneOf(productsOf(rows)))} and x.product_id = r.product_id and x.id = r.id
  `;
  return sql`select where ${assertCount(found, rows.length)}`;
}

/** Updates rows by their `id`. Violates `rows_found` if one does not exist or has another type. */
function updateRows(
  array: Rows,
  rows: readonly Entry[],
  update: typeof updateFields,
): Statement[] {
  if (rows.length === 0) return [];
  const keys = rows.map(({ product_id, id, types }) => (
    { product_id, id, types }
  ));
  return [
    update(array)(productsOf(rows), json(keys), json(rows), rows.length),
  ];
}

/** Updates the columns of an entry. */
const updateFields = remembered((array: Rows) => updateOf(array, writtenColumns(array)));

/** Updates the columns of an entry that keeps its type, and its position. */
const updateInPlace = remembered((array: Rows) => {
  const type = array.types && discriminatorOf(array);
  const columns = writtenColumns(array).filter((column) => column !== type);
  return updateOf(array, ["position", ...columns]);
});

function updateOf(array: Rows, columns: readonly string[]) {
  const table = raw(array.table);
  const columnNames = names(...columns);
  const hasType = array.types ? sql`and e.entry -> 'types' ? x.${raw(discriminatorOf(array))}` : [];
  return composedForIds(
    (isId, keys: Json, rows: Json, count: number) => {
      const isNamed = sql`
        ${isRowOf(isId)}
        and x.product_id = (e.entry ->> 'product_id')::uuid
        and x.id = (e.entry ->> 'id')::uuid
        ${hasType}
      `;
      const named = sql`
        from jsonb_array_elements(${keys}) e (entry)
        join ${table} x on ${isNamed}
      `;
      return sql`
        update ${table} x
        set (${columnNames}) = (
          select ${columnNames}
          from jsonb_populate_record(x, e.entry)
        )
        from jsonb_array_elements(${rows}) e (entry)
        where ${isNamed} and ${assertCount(named, count)}
      `;
    },
  );
}

/** Inserts rows with new ids. */
const insertNew = remembered((array: Rows) =>
  insertInto(array.table, ["id", ...writtenColumns(array)])
);

/** The same, and updates the rows that have one of the ids. */
const insertOrUpdate = remembered((array: Rows) =>
  insertInto(array.table, ["id", ...writtenColumns(array)], ["id"])
);

/** Inserts links, and updates those that are there. */
const insertLinks = remembered((array: Rows) =>
  insertInto(array.table, writtenColumns(array), array.key)
);

/** Inserts rows. With `key`, it updates the rows that have one of the keys. */
function insertInto(
  table: string,
  columns: readonly string[],
  key: readonly string[] = [],
): RowsStatement {
  const changed = ["position", ...columns]
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`);
  const onConflict = sql`
    on conflict (organization_id, product_id, ${names(...key)})
    do update set ${names(...changed)}
  `;
  return composedForIds((isId, rows: Json) =>
    sql`
    insert into ${raw(table)}
      (organization_id, product_id, position, ${names(...columns)})
    select
      p.organization_id, p.id, r.position, ${names(...columns.map((column) => `r.${column}`))}
    from products p
    join jsonb_populate_recordset(null::${raw(table)}, ${rows}) r
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isId}
    ${key.length > 0 ? onConflict : []}
  `
  );
}

/**
 * Inserts rows after the stored ones. A position is at least the number of stored rows,
 * so the constraint on positions refuses exactly the rows beyond `MAX_ENTRIES`, even if
 * SQL left gaps.
 */
const append = remembered((array: Rows): RowsStatement => {
  const table = raw(array.table);
  const columns = ["id", ...writtenColumns(array)];
  const last = raw(String(MAX_ENTRIES - 1));
  return composedForIds((isId, rows: Json) =>
    sql`
    insert into ${table}
      (organization_id, product_id, position, ${names(...columns)})
    select
      p.organization_id,
      p.id,
      greatest(least(r.position + stored.next, ${last}), r.position + stored.rows),
      ${names(...columns.map((column) => `r.${column}`))}
    from products p
    cross join lateral (
      select coalesce(max(x.position) + 1, 0) as next, count(*) as rows
      from ${table} x
      where x.organization_id = ${organization} and x.product_id = p.id
    ) stored
    join jsonb_populate_recordset(null::${table}, ${rows}) r
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isId}
  `
  );
});

function deleteOthers(
  array: Rows,
  productIds: readonly string[],
  rows: readonly Entry[],
): Statement[] {
  return productIds.length > 0 ? [deleteExcept(array)(productIds, json(rows))] : [];
}

/** Deletes the rows of products that are not among these. */
const deleteExcept = remembered(({ table, key = ["id"] }: Rows): RowsStatement => {
  const stored = key.map((column) => `x.${column}`);
  return composedForIds((isId, rows: Json) =>
    sql`
    delete from ${raw(table)} x
    where x.organization_id = ${organization}
      and x.product_id ${isId}
      and (x.product_id, ${names(...stored)}) not in (
        select product_id, ${names(...key)}
        from jsonb_populate_recordset(null::${raw(table)}, ${rows})
      )
  `
  );
});
