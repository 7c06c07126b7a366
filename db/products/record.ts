import { isShared, type RecordTable } from "../../schema/records.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";

/**
 * The `from` and `where` that select record `r` of the table by its id: a column,
 * or a parameter. A subselect for each record plans ten times faster than joins.
 */
export function record(table: RecordTable, id: Statement): Statement {
  const own = isShared(table)
    ? []
    : sql`r.organization_id = ${organization} and`;
  return sql`from ${raw(table)} r where ${own} r.id = ${id}`;
}
