import { isShared, type RecordTable } from "../../schema/records.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";

/**
 * The record `r` of the table whose id is in this column: the `from` and `where`
 * of a select. One select for each record plans in a tenth of the time of joins.
 */
export function record(table: RecordTable, column: string): Statement {
  return isShared(table)
    ? sql`from ${raw(table)} r where r.id = ${raw(column)}`
    : sql`from ${
      raw(table)
    } r where r.organization_id = ${organization} and r.id = ${raw(column)}`;
}
