import {
  among,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";

/*
 * Makers of the statements that write the rows below products, one for each
 * table. The rows of several products travel as one JSON parameter, so the text
 * of a statement does not depend on how many there are. Rows are inserted by
 * `select … from products`: where a product is gone nothing is written for it,
 * and a distributed database finds the one node that the statement concerns.
 */

/** How many rows an array may have, as the checks of `position` say. */
const MAX_ROWS = 500;

/** A row as its entry in a body gives it, with its `product_id`. */
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

  return (productIds: string[], rows: Entry[]): Expected[] => {
    if (rows.length === 0) return [];
    const statement = sql`
      update ${raw(table)} x
      set (${columnNames}) = (
        select ${columnNames}
        from jsonb_populate_record(x, e.entry)
      )
      from jsonb_array_elements(${json(rows)}) e (entry)
      where x.organization_id = ${organization}
        and x.product_id ${among(productIds)}
        and x.product_id = (e.entry ->> 'product_id')::uuid
        and x.id = (e.entry ->> 'id')::uuid ${ofItsType}
    `;
    return [{ statement, rows: rows.length }];
  };
}

/**
 * Creates rows behind the stored ones. The position of a row is at least its
 * number, so a constraint refuses rows beyond the largest number, and no others,
 * whatever positions SQL has left.
 */
export function appending(table: string, columns: string[]) {
  const columnNames = names(...columns);
  const values = names(...columns.map((column) => `r.${column}`));
  const last = raw(String(MAX_ROWS - 1));

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${
      raw(table)
    } (organization_id, product_id, position, ${columnNames})
      select
        p.organization_id,
        p.id,
        greatest(least(r.position + stored.next, ${last}), r.position + stored.rows),
        ${values}
      from products p
      cross join lateral (
        select coalesce(max(x.position) + 1, 0) as next, count(*) as rows
        from ${raw(table)} x
        where x.organization_id = ${organization} and x.product_id = p.id
      ) stored
      join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
        on r.product_id = p.id
      where p.organization_id = ${organization} and p.id ${among(productIds)}
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

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${
      raw(table)
    } (organization_id, product_id, position, ${columnNames})
      select p.organization_id, p.id, r.position, ${given}
      from products p
      join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
        on r.product_id = p.id
      where p.organization_id = ${organization}
        and p.id ${among(productIds)}
      on conflict (organization_id, product_id, ${names(...keys)})
      do update set ${changes}
    `];
  };
}

/** Deletes the rows of the products that are not among these. */
export function pruning(table: string, keys: string[]) {
  const keyNames = names(...keys);
  const stored = names(...keys.map((key) => `x.${key}`));

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (productIds.length === 0) return [];
    return [sql`
      delete from ${raw(table)} x
      where x.organization_id = ${organization}
        and x.product_id ${among(productIds)}
        and (x.product_id, ${stored}) not in (
          select product_id, ${keyNames}
          from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
        )
    `];
  };
}
