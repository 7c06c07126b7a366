import {
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";

/*
 * Makers of the statements that write the rows below a product, one for each
 * table. Rows travel as one JSON parameter, so the text of a statement does not
 * depend on how many there are. Rows are inserted by `select … from products`:
 * where the product is gone nothing is written, and a distributed database finds
 * the one node that the statement concerns.
 */

/** How many rows an array may have, as the checks of `position` say. */
const MAX_ROWS = 500;

/** A row as its entry in a body gives it. */
export type Entry = Record<string, unknown>;

/** A statement that must find so many rows. */
export interface Expected {
  statement: Statement;
  rows: number;
}

/** A statement found fewer rows than the entries name. */
export class RowsMissing extends Error {
  override readonly name = "RowsMissing";
}

/** Throws `RowsMissing` unless each statement has found its rows. */
export function checkFound(
  expected: readonly Expected[],
  results: readonly { readonly count: number }[],
): void {
  if (expected.every(({ rows }, i) => results[i]!.count === rows)) return;
  throw new RowsMissing();
}

/** Changes the rows that the entries name by `id`, every one of them. */
export function changing(table: string, columns: string[]) {
  const columnNames = names(...columns);
  const ofItsType = table === "collateral"
    ? sql`and e.entry -> 'types' ? x.collateral_type`
    : sql``;

  return (productId: string, rows: Entry[]): Expected[] => {
    if (rows.length === 0) return [];
    const statement = sql`
      update ${raw(table)} x
      set (${columnNames}) = (
        select ${columnNames}
        from jsonb_populate_record(x, e.entry)
      )
      from jsonb_array_elements(${json(rows)}) e (entry)
      where x.organization_id = ${organization} and x.product_id = ${productId}
        and x.id = (e.entry ->> 'id')::uuid ${ofItsType}
    `;
    return [{ statement, rows: rows.length }];
  };
}

/**
 * Creates rows behind the stored ones. The position of a row is its number at
 * least, so that a constraint refuses what is beyond the largest number, and no
 * more than that, whatever positions SQL has left.
 */
export function appending(table: string, columns: string[]) {
  const columnNames = names(...columns);
  const values = names(...columns.map((column) => `r.${column}`));

  return (productId: string, rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${
      raw(table)
    } (organization_id, product_id, position, ${columnNames})
      select
        p.organization_id,
        p.id,
        greatest(least(r.position + stored.next, ${
      raw(String(MAX_ROWS - 1))
    }), r.position + stored.rows),
        ${values}
      from products p
      cross join (
        select coalesce(max(x.position) + 1, 0) as next, count(*) as rows
        from ${raw(table)} x
        where x.organization_id = ${organization} and x.product_id = ${productId}
      ) stored
      cross join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
      where p.organization_id = ${organization} and p.id = ${productId}
    `];
  };
}

/** Creates the rows whose keys are not stored, and gives every row its position and values. */
export function upserting(table: string, keys: string[], values: string[]) {
  const columns = [...keys, ...values];
  const columnNames = names(...columns);
  const given = names(...columns.map((column) => `r.${column}`));
  const changes = names(
    ...["position", ...values].map((name) => `${name} = excluded.${name}`),
  );

  return (productId: string, rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${
      raw(table)
    } (organization_id, product_id, position, ${columnNames})
      select p.organization_id, p.id, r.position, ${given}
      from products p
      cross join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
      where p.organization_id = ${organization} and p.id = ${productId}
      on conflict (organization_id, product_id, ${names(...keys)})
      do update set ${changes}
    `];
  };
}

/** Deletes the rows of the product that are not among these. */
export function pruning(table: string, keys: string[]) {
  const keyNames = names(...keys);
  const stored = names(...keys.map((key) => `x.${key}`));

  return (productId: string, rows: Entry[]): Statement => (sql`
    delete from ${raw(table)} x
    where x.organization_id = ${organization} and x.product_id = ${productId}
      and (${stored}) not in (
        select ${keyNames}
        from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
      )
  `);
}
