import { ApiError } from "../../schema/errors.ts";
import type { SharedTable } from "../../schema/records.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { jsonArray } from "../products/json_array.ts";
import { shownColumns } from "./shown_record.ts";

/** The rows of a code list, all of them or the one with this code. */
export function codesOf(table: SharedTable, code?: string): Statement {
  return sql`
    select ${shownColumns(table)}
    from ${raw(table)} r
    ${code === undefined ? [] : sql`where r.code = ${code}`}
    order by r.code collate "C"
  `;
}

/** The ONIX lists that fields are checked against. */
export const onixLists: Statement = sql`
  select c.list as number, count(*) as codes
  from onix_codes c
  group by c.list
  order by c.list
`;

/** The rows of a select as a JSON array. */
export async function arrayOf(
  database: Operations,
  rows: Statement,
): Promise<string> {
  const [found] = await database.scan(
    sql<{ rows: string }>`select ${jsonArray(rows)}::text as rows`,
  );
  return found!.rows;
}

/** The codes of an ONIX list with their labels, as a JSON array. Throws `NOT_FOUND`. */
export async function getCodeList(
  database: Operations,
  number: string,
): Promise<string> {
  const codes = sql`
    select c.code, c.label
    from onix_codes c
    where c.list = ${number}
    order by c.code collate "C"
  `;
  const found = await arrayOf(database, codes);
  if (found !== "[]") return found;
  throw new ApiError("NOT_FOUND", `No code list with number "${number}"`);
}
