import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { isOneOf, organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { ProductKey } from "./keys.ts";

/**
 * What becomes of a product. Whoever writes products says it in these words: a request, an
 * operation of a batch, a line of a file, a record of ONIX. `write_statements.ts` makes statements of it.
 */
export type Change = (Write | Deletion) & {
  /** The ONIX record, or the line of a sheet, that it is from, for the history. */
  source?: Entry;
};

/** A change that has a body. */
export type Write = Creation | Update;

/** The body is the product. */
export interface Creation extends WithBody {
  method: "create";
  /** For a product that an upsert creates: the key that no other product may have. */
  key?: ProductKey;
  /** Whether the product may exist: its body is checked before that is known. */
  mayExist?: true;
}

/** The fields in the body change. */
export interface Update extends WithBody {
  method: "update";
  /** Whether each array in the body is whole, as in an upsert: rows without an entry are deleted. */
  isWhole?: boolean;
}

interface WithBody {
  id: string;
  body: ProductBody;
  /** What an import or a restoration gives in place of what the service would assign. */
  assigned?: Assigned;
  /** Whether the entries in the body keep their ids, stored or not. */
  keepsIds?: true;
  /** The version whose state is restored. */
  restoredFrom?: string;
}

/** What the service assigns to a product, unless the change gives it. */
export interface Assigned {
  product_code?: unknown;
  created_at?: unknown;
  updated_at?: unknown;
}

export interface Deletion {
  method: "delete";
  id: string;
}

/** Whether each array in the body replaces the stored rows. */
export function hasWholeArrays(change: Write): boolean {
  return change.method === "create" || change.isWhole === true;
}

/** The condition that a column is the id of one of these products. */
export function isIdOf(changes: readonly Change[]): Statement {
  return isOneOf(changes.map(({ id }) => id));
}

/** The constraint that a statement violates if it does not find every row that it names. */
export const ROWS_FOUND = "rows_found";

/**
 * Asserts that `from` has this many rows. In a statement that nobody awaits before COMMIT, the
 * cast of `false` fails the transaction (23514, `rows_found`).
 */
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
