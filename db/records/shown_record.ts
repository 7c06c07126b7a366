import { ApiError } from "../../schema/errors.ts";
import {
  isShared,
  nounOf,
  RECORDS,
  type RecordTable,
} from "../../schema/records.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { rfc3339 } from "../times.ts";
import { record } from "../products/record.ts";
import { countReferencing } from "./record_uses.ts";

/** The columns of record `r` in responses. */
export function shownColumns(table: RecordTable): Statement {
  const columns = ["id", ...Object.keys(RECORDS[table].columns)]
    .map((column) => `r.${column}`);
  const times = isShared(table)
    ? []
    : ["created_at", "updated_at"].map((column) =>
      sql`, ${rfc3339(`r.${column}`)} as ${raw(column)}`
    );
  return sql`${raw(columns.join(", "))}${times}`;
}

/** Record `r` as JSON text. */
export function recordJson(table: RecordTable): Statement {
  return sql`(
    select row_to_json(x) from (select ${shownColumns(table)}) x
  )::text`;
}

/** The `from` and `where` clauses that select record `r` by its id. */
export function recordWithId(table: RecordTable, id: string): Statement {
  return record(table, sql`${id}`);
}

/** Selects the record as JSON text. No row if the organization has no such record. */
export function recordById(
  table: RecordTable,
  id: string,
): Statement<{ record: string }> {
  return sql`select ${recordJson(table)} as record ${recordWithId(table, id)}`;
}

/**
 * Gets a record as JSON text. A record of an organization comes with the number of
 * products that reference it. Throws `NOT_FOUND`.
 */
export async function getRecord(
  database: Queries,
  table: RecordTable,
  id: string,
): Promise<{ record: string; products?: number }> {
  const [found] = isShared(table)
    ? await database.lookUp(recordById(table, id))
    : await database.scan(sql<{ record: string; products: number }>`
      select
        ${recordJson(table)} as record,
        ${countReferencing(table, id)} as products
      ${recordWithId(table, id)}
    `);
  if (!found) throw notFound(table, id);
  return found;
}

/** The error for a record that the organization does not have. */
export function notFound(table: RecordTable, id: string): ApiError {
  return new ApiError("NOT_FOUND", `No ${nounOf(table)} with id "${id}"`);
}
