import type { Entry } from "../../../../schema/bodies.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
} from "../../../../db/connections/sql.ts";

/* Rows of tables that have one row per product, as one JSON parameter. */

/** A row of a product. */
export interface ProductRow extends Entry {
  product_id: string;
}

/** The products `p` of these rows that exist, with their rows `r`. */
export function fromProductsOf(
  rows: readonly ProductRow[],
  columns: Statement,
): Statement {
  const ids = rows.map(({ product_id }) => product_id);
  return sql`
    from products p
    join jsonb_to_recordset(${json(rows)}) r (product_id uuid, ${columns})
      on r.product_id = p.id
    where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
  `;
}
