import { MAX_ENTRIES } from "../../schema/objects.ts";
import {
  isOneOf,
  json,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { finds } from "./row.ts";

/*
 * Each function makes the statements that write nested rows of one table. The rows of
 * all products are one JSON parameter, so the text of a statement does not depend on
 * their number. `insert … select … from products` writes nothing for a deleted product,
 * and lets a distributed database route the statement to one node.
 */

/** An entry of a body, with its `product_id`. */
export type Entry = Record<string, unknown>;

/** Updates the rows that the entries name by `id`. Violates `rows_found` if one does not exist. */
export function changing(table: string, columns: string[]) {
  const columnNames = names(...columns);
  const ofItsType = table === "collateral"
    ? sql`and e.entry -> 'types' ? x.collateral_type`
    : sql``;

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    const isNamed = sql`
      x.organization_id = ${organization}
      and x.product_id ${isOneOf(productIds)}
      and x.product_id = (e.entry ->> 'product_id')::uuid
      and x.id = (e.entry ->> 'id')::uuid ${ofItsType}
    `;
    const keys = rows.map(({ product_id, id, types }) => ({
      product_id,
      id,
      types,
    }));
    const named = sql`
      from jsonb_array_elements(${json(keys)}) e (entry)
      join ${raw(table)} x on ${isNamed}
    `;
    return [sql`
      update ${raw(table)} x
      set (${columnNames}) = (
        select ${columnNames}
        from jsonb_populate_record(x, e.entry)
      )
      from jsonb_array_elements(${json(rows)}) e (entry)
      where ${isNamed} and ${finds(rows.length, named)}
    `];
  };
}

/**
 * Inserts rows after the stored ones. A position is at least the number of stored rows,
 * so the constraint on positions refuses exactly the rows beyond `MAX_ENTRIES`, even if
 * SQL left gaps.
 */
export function appending(table: string, columns: string[]) {
  const columnNames = names(...columns);
  const values = names(...columns.map((column) => `r.${column}`));
  const last = raw(String(MAX_ENTRIES - 1));

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (rows.length === 0) return [];
    return [sql`
      insert into ${raw(table)}
        (organization_id, product_id, position, ${columnNames})
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
      where p.organization_id = ${organization} and p.id ${isOneOf(productIds)}
    `];
  };
}

/** Inserts the rows with new keys, and updates position and values of the others. */
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
      insert into ${raw(table)}
        (organization_id, product_id, position, ${columnNames})
      select p.organization_id, p.id, r.position, ${given}
      from products p
      join jsonb_populate_recordset(null::${raw(table)}, ${json(rows)}) r
        on r.product_id = p.id
      where p.organization_id = ${organization}
        and p.id ${isOneOf(productIds)}
      on conflict (organization_id, product_id, ${names(...keys)})
      do update set ${changes}
    `];
  };
}

/** Deletes all other rows of the products. */
export function pruning(table: string, keys: string[]) {
  const keyNames = names(...keys);
  const stored = names(...keys.map((key) => `x.${key}`));

  return (productIds: string[], rows: Entry[]): Statement[] => {
    if (productIds.length === 0) return [];
    return [sql`
      delete from ${raw(table)} x
      where x.organization_id = ${organization}
        and x.product_id ${isOneOf(productIds)}
        and (x.product_id, ${stored}) not in (
          select product_id, ${keyNames}
          from jsonb_populate_recordset(null::${raw(table)}, ${json(rows)})
        )
    `];
  };
}
