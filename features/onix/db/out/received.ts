import { joinByKey, organization, sql, type Statement } from "../../../../db/connections/sql.ts";

/* Joins of the records that a product received. */

/** Joins the record last received of product `p` as `n`, or nulls. */
export const receivedRecord = joinByKey(
  "n",
  sql`
    select n.*
    from onix_records n
    where n.organization_id = ${organization} and n.product_id = p.id`,
);

/**
 * Joins the data of this sender for the product with this id as `x`, or nulls: the time of its
 * latest message, and its last record if another sender's came later.
 */
export function ownRecord(id: Statement, sender: string | null): Statement {
  return joinByKey(
    "x",
    sql`
      select x.*
      from onix_senders x
      where x.organization_id = ${organization} and x.product_id = ${id}
        and x.sender_name = ${sender}::text`,
  );
}
