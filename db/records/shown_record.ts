import { isShared, RECORDS, type RecordTable } from "../../schema/records.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import { record } from "../products/record.ts";

/** The columns of record `r` as answers show them. */
export function shownColumns(table: RecordTable): Statement {
  const columns = ["id", ...Object.keys(RECORDS[table].columns)]
    .map((column) => `r.${column}`);
  const times = isShared(table)
    ? []
    : ["created_at", "updated_at"].map((column) =>
      `to_char(r.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`
    );
  return raw([...columns, ...times].join(", "));
}

/** Record `r` as JSON text. */
export function recordJson(table: RecordTable): Statement {
  return sql`(select row_to_json(x) from (select ${
    shownColumns(table)
  }) x)::text`;
}

/** Record `r` with this id: the `from` and `where` of a select. */
export function recordWithId(table: RecordTable, id: string): Statement {
  return record(table, sql`${id}`);
}
