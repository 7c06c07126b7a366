import {
  constant,
  type Exact,
  names,
  type Statement,
  type Tx,
} from "../connections/sql.ts";

/*
 * Makers of the statements that write the rows below a product, one for each
 * table. Rows travel as one JSON parameter, so that a statement's text does not
 * depend on how many there are.
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
export function changing(table: string, columns: string[]) {
  const tableName = names(table);
  const columnNames = names(...columns);
  const ofItsType = constant((sql) =>
    table === "collateral"
      ? sql`and e.entry -> 'types' ? x.collateral_type`
      : sql``
  );

  return (
    { sql, organizationId, productId }: Product,
    rows: Entry[],
  ): Exact[] => {
    if (rows.length === 0) return [];
    const statement = sql`
      update ${tableName(sql)} x
      set (${columnNames(sql)}) = (
        select ${columnNames(sql)}
        from jsonb_populate_record(x, e.entry)
      )
      from jsonb_array_elements(${sql.json(rows)}) e (entry)
      where x.organization_id = ${organizationId} and x.product_id = ${productId}
        and x.id = (e.entry ->> 'id')::uuid ${ofItsType(sql)}
    `;
    return [{ statement, rows: rows.length }];
  };
}

/** Creates rows behind those that are there. */
export function appending(table: string, columns: string[]) {
  const tableName = names(table);
  const columnNames = names(...columns);
  const values = names(...columns.map((column) => `r.${column}`));

  return (
    { sql, organizationId, productId }: Product,
    rows: Entry[],
  ): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${tableName(sql)}
        (organization_id, product_id, position, ${columnNames(sql)})
      select
        p.organization_id,
        p.id,
        r.position + coalesce((
          select max(x.position) + 1
          from ${tableName(sql)} x
          where x.organization_id = ${organizationId} and x.product_id = ${productId}
        ), 0),
        ${values(sql)}
      from products p
      cross join jsonb_populate_recordset(null::${tableName(sql)}, ${
      sql.json(rows)
    }) r
      where p.organization_id = ${organizationId} and p.id = ${productId}
    `];
  };
}

/** Creates the rows that are not there by their keys, and gives all their place and values. */
export function upserting(table: string, keys: string[], values: string[]) {
  const columns = [...keys, ...values];
  const tableName = names(table);
  const keyNames = names(...keys);
  const columnNames = names(...columns);
  const given = names(...columns.map((column) => `r.${column}`));
  const changes = names(
    ...["position", ...values].map((name) => `${name} = excluded.${name}`),
  );

  return (
    { sql, organizationId, productId }: Product,
    rows: Entry[],
  ): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${tableName(sql)}
        (organization_id, product_id, position, ${columnNames(sql)})
      select p.organization_id, p.id, r.position, ${given(sql)}
      from products p
      cross join jsonb_populate_recordset(null::${tableName(sql)}, ${
      sql.json(rows)
    }) r
      where p.organization_id = ${organizationId} and p.id = ${productId}
      on conflict (organization_id, product_id, ${keyNames(sql)})
      do update set ${changes(sql)}
    `];
  };
}

/** Deletes the rows of the product that are not among these. */
export function pruning(table: string, keys: string[]) {
  const tableName = names(table);
  const keyNames = names(...keys);
  const stored = names(...keys.map((key) => `x.${key}`));

  return (
    { sql, organizationId, productId }: Product,
    rows: Entry[],
  ): Statement => (sql`
    delete from ${tableName(sql)} x
    where x.organization_id = ${organizationId} and x.product_id = ${productId}
      and (${stored(sql)}) not in (
        select ${keyNames(sql)}
        from jsonb_populate_recordset(null::${tableName(sql)}, ${
    sql.json(rows)
  })
      )
  `);
}
