import type { Exact, Statement, Tx } from "./sql.ts";

/*
 * The statements that write the rows below a product. Rows travel as one JSON
 * parameter, so that a statement's text does not depend on how many there are.
 * Children are inserted by `select … from products`: for a product that is not
 * there nothing is written, and a distributed database finds the one node it
 * concerns.
 */

/** The product whose rows are written. */
export interface Product {
  sql: Tx;
  organizationId: string;
  productId: string;
}

/** A row as its entry in a body gives it. */
export type Entry = Record<string, unknown>;

/** Changes the rows that the entries name by `id`: all of them, or it is `RowsMissing`. */
export function change(
  { sql, organizationId, productId }: Product,
  table: string,
  columns: string[],
  rows: Entry[],
): Exact[] {
  if (rows.length === 0) return [];
  const ofItsType = table === "collateral"
    ? sql`and e.entry -> 'types' ? x.collateral_type`
    : sql``;
  const statement = sql`
    update ${sql(table)} x
    set (${sql(columns)}) = (
      select ${sql(columns)}
      from jsonb_populate_record(x, e.entry)
    )
    from jsonb_array_elements(${sql.json(rows)}) e (entry)
    where x.organization_id = ${organizationId} and x.product_id = ${productId}
      and x.id = (e.entry ->> 'id')::uuid ${ofItsType}
  `;
  return [{ statement, rows: rows.length }];
}

/** Creates rows behind those that are there. */
export function append(
  { sql, organizationId, productId }: Product,
  table: string,
  columns: string[],
  rows: Entry[],
): Statement[] {
  if (rows.length === 0) return [];
  return [sql`
    insert into ${sql(table)}
      (${sql(["organization_id", "product_id", "position", ...columns])})
    select
      p.organization_id,
      p.id,
      r.position + coalesce((
        select max(x.position) + 1
        from ${sql(table)} x
        where x.organization_id = ${organizationId} and x.product_id = ${productId}
      ), 0),
      ${sql(columns.map((column) => `r.${column}`))}
    from products p
    cross join jsonb_populate_recordset(null::${sql(table)}, ${
    sql.json(rows)
  }) r
    where p.organization_id = ${organizationId} and p.id = ${productId}
  `];
}

/** Creates the rows that are not there by their keys, and gives all their place and values. */
export function upsert(
  { sql, organizationId, productId }: Product,
  table: string,
  keys: string[],
  values: string[],
  rows: Entry[],
): Statement[] {
  if (rows.length === 0) return [];
  const columns = [...keys, ...values];
  return [sql`
    insert into ${sql(table)}
      (${sql(["organization_id", "product_id", "position", ...columns])})
    select
      p.organization_id, p.id, r.position,
      ${sql(columns.map((column) => `r.${column}`))}
    from products p
    cross join jsonb_populate_recordset(null::${sql(table)}, ${
    sql.json(rows)
  }) r
    where p.organization_id = ${organizationId} and p.id = ${productId}
    on conflict (${
    sql(["organization_id", "product_id", ...keys])
  }) do update set
      ${[
    sql`position = excluded.position`,
    ...values.map((v) => sql`, ${sql(v)} = ${sql(`excluded.${v}`)}`),
  ]}
  `];
}

/** Deletes the rows of the product that are not among these. */
export function prune(
  { sql, organizationId, productId }: Product,
  table: string,
  keys: string[],
  rows: Entry[],
): Statement {
  return sql`
    delete from ${sql(table)} x
    where x.organization_id = ${organizationId} and x.product_id = ${productId}
      and (${sql(keys.map((key) => `x.${key}`))}) not in (
        select ${sql(keys)}
        from jsonb_populate_recordset(null::${sql(table)}, ${sql.json(rows)})
      )
  `;
}
