import { isShared, type RecordTable } from "../../schema/records.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";

/**
 * The record `r` of the table whose id is in this column, or is this expression:
 * the `from` and `where` of a select. One select for each record plans in a tenth
 * of the time of joins.
 */
export function record(table: RecordTable, id: string | Statement): Statement {
  const found = sql`r.id = ${typeof id === "string" ? raw(id) : id}`;
  return isShared(table)
    ? sql`from ${raw(table)} r where ${found}`
    : sql`from ${
      raw(table)
    } r where r.organization_id = ${organization} and ${found}`;
}
