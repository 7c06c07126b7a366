import type { Entry, ProductBody } from "../../../schema/bodies.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import { isOneOf, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { ProductKey } from "./keys.ts";

/**
 * A change of a product: creation, update or deletion. Requests, operations of a batch, lines of a
 * file, rows of a sheet and records of ONIX all become changes. `write_statements.ts` writes them.
 *
 * For example, `{ method: "update", id, body: { title: "Emma" } }` sets one field.
 */
export type Change = (Write | Deletion) & {
  /** The ONIX record or the line of a sheet from which it comes, for the history. */
  source?: Entry;
};

/** A change that has a body. */
export type Write = Creation | Update;

/** A creation: the body is the full product. */
export interface Creation extends WithBody {
  method: "create";
  /** For a product that an upsert creates: the key that no other product may have. */
  key?: ProductKey;
  /** Whether the product may exist already, because its body is checked before the look-up. */
  mayExist?: true;
}

/** An update of the fields in the body. */
export interface Update extends WithBody {
  method: "update";
  /** Whether each array in the body is complete, as in an upsert: rows without an entry are deleted. */
  isWhole?: boolean;
}

interface WithBody {
  id: string;
  body: ProductBody;
  /** Values from an import or a restoration that the service would otherwise assign. */
  assigned?: Assigned;
  /** Whether the entries in the body keep their ids, stored or not. */
  keepsIds?: true;
  /** The version whose state is restored. */
  restoredFrom?: string;
  /** The product form that it gives to the product's format (`recordSharedForms`). */
  sharedForm?: SharedForm | undefined;
}

/** The values that the service assigns to a product, unless the change has them. */
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
 * Asserts that `from` has this many rows. In a statement whose reply is not awaited before COMMIT, the
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
