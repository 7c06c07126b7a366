import { discriminatorOf, type Entry } from "../../../schema/bodies.ts";
import { columnsIn, type Rows } from "../../../schema/fields.ts";
import { MAX_ENTRIES, remembered } from "../../../schema/objects.ts";
import {
  composedForIds,
  isOneOf,
  joined,
  type Json,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../../connections/sql.ts";
import { assertCount } from "../change/change.ts";

/*
 * The statements that write rows of arrays, such as prices: `updateRows`, `insertInto`, `append`,
 * `deleteOthers`. The rows of all products are one JSON parameter, so the text of a statement does
 * not depend on their number. `insert … select … from products` writes nothing for a deleted
 * product, and lets a distributed database route the statement to one node.
 */

/** The columns that an entry writes, with those of its groups and of all its types. */
export const writtenColumns = remembered(({ fields, types = {} }: Rows): string[] => {
  const all = [fields, ...Object.values(types).map(({ fields }) => fields)];
  const written = all.flatMap(columnsIn).filter(([, field]) =>
    field.kind !== "column" || field.body
  );
  return [...new Set(written.map(([name]) => name))];
});

/** The ids of the products of these rows. */
function productsOf(rows: readonly Entry[]): string[] {
  return [...new Set(rows.map(({ product_id }) => product_id as string))];
}

/** A statement that writes these rows of products. Its text depends on the table alone. */
export type RowsStatement = (ids: readonly string[], rows: Json) => Statement;

/** The statement that writes the rows, if there are some. */
export function ofRows(rows: readonly Entry[], write: RowsStatement): Statement[] {
  return rows.length > 0 ? [write(productsOf(rows), json(rows))] : [];
}

/** The condition that row `x` is of one of these products. */
function isRowOf(isId: Statement): Statement {
  return sql`x.organization_id = ${organization} and x.product_id ${isId}`;
}

/** Fails unless the table has these rows. */
export function assertRows(table: string, rows: readonly Entry[]): Statement {
  const keys = rows.map(({ product_id, id }) => ({ product_id, id }));
  const found = sql`
    from jsonb_to_recordset(${json(keys)}) r (product_id uuid, id uuid)
    join ${raw(table)} x
      on ${isRowOf(isOneOf(productsOf(rows)))} and x.product_id = r.product_id and x.id = r.id
  `;
  return sql`select where ${assertCount(found, rows.length)}`;
}

/** Updates rows by their `id`. Violates `rows_found` if one does not exist or has another type. */
export function updateRows(
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
export const updateFields = remembered((array: Rows) => updateOf(array, writtenColumns(array)));

/**
 * Updates the columns of an entry that keeps its type, and its position. Clears the fields that
 * describe others which change (`describes`), unless the entry has `is_whole`.
 */
export const updateInPlace = remembered((array: Rows) => {
  const type = array.types && discriminatorOf(array);
  const columns = writtenColumns(array).filter((column) => column !== type);
  return updateOf(array, ["position", ...columns]);
});

/** The value of a column in the entry `n` that updates row `x`. */
function updatedColumn({ types = {} }: Rows, column: string): Statement {
  const own = raw(`n.${column}`);
  const described = Object.values(types).flatMap(({ describes }) => describes?.[column] ?? []);
  if (described.length === 0) return own;
  const isChanged = described.map((name) => `x.${name} <> coalesce(n.${name}, '')`).join(" or ");
  return raw(`
    case when e.entry -> 'is_whole' is null and n.${column} = x.${column} and (${isChanged})
      then null else n.${column} end
  `);
}

function updateOf(array: Rows, columns: readonly string[]) {
  const table = raw(array.table);
  const columnNames = names(...columns);
  const values = joined(columns.map((column) => updatedColumn(array, column)));
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
          select ${values}
          from jsonb_populate_record(x, e.entry) n
        )
        from jsonb_array_elements(${rows}) e (entry)
        where ${isNamed} and ${assertCount(named, count)}
      `;
    },
  );
}

/** Inserts rows with new ids. */
export const insertNew = remembered((array: Rows) =>
  insertInto(array.table, ["id", ...writtenColumns(array)])
);

/** Inserts rows, or updates those with one of the ids. */
export const insertOrUpdate = remembered((array: Rows) =>
  insertInto(array.table, ["id", ...writtenColumns(array)], ["id"])
);

/** Inserts links, or updates existing ones. */
export const insertLinks = remembered((array: Rows) =>
  insertInto(array.table, writtenColumns(array), array.key)
);

/** Inserts rows. With `key`, it updates the rows that have one of the keys. */
export function insertInto(
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
export const append = remembered((array: Rows): RowsStatement => {
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

/** Deletes the other rows of these products, if there are products. */
export function deleteOthers(
  array: Rows,
  productIds: readonly string[],
  rows: readonly Entry[],
): Statement[] {
  return productIds.length > 0 ? [deleteExcept(array)(productIds, json(rows))] : [];
}

/** Deletes the rows of products except these. */
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
