import type { Entry, ProductBody } from "../../schema/bodies.ts";
import {
  isOneOf,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";

/** A change of one product. */
export interface Change {
  id: string;
  body: ProductBody;
  isNew: boolean;
  /** Whether each array in the body is whole, as in an upsert: rows without an entry are deleted. */
  isWhole?: boolean;
  /** The code and times that an import restores. The entries in the body then keep their ids. */
  restored?: Entry;
}

/** The condition that a column is the id of one of these products. */
export function isIdOf(changes: readonly Change[]): Statement {
  return isOneOf(changes.map(({ id }) => id));
}

/** The constraint that a statement violates if it does not find every row that it names. */
export const ROWS_FOUND = "rows_found";

/** Fails the statement (23514, `rows_found`) unless `from` has this many rows. */
export function assertCount(from: Statement, rows: number): Statement {
  return sql`((select count(*) ${from}) = ${rows})::rows_found`;
}

/**
 * Locks the products until the transaction ends, as an update or a deletion of them does.
 * Changes of one product take turns: each takes this lock before it reads or writes
 * nested rows. Violates `rows_found` if a product does not exist.
 */
export function lockProducts(
  ids: readonly string[],
  strength: "update" | "no key update",
): Statement {
  return sql`
    select (count(*) = ${ids.length})::rows_found
    from (
      select
      from products p
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
      order by p.id
      for ${raw(strength)}
    ) locked
  `;
}
