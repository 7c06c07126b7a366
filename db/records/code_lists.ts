import { ApiError } from "../../schema/errors.ts";
import type { SharedTable } from "../../schema/records.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { jsonArray, selectRecord } from "../products/json.ts";

/** Lists the records of a shared table, or the one with this code, as a JSON array. */
export async function listSharedRecords(
  database: Queries,
  table: SharedTable,
  code?: string,
): Promise<string> {
  const records = asJson(sql`
    select ${selectRecord(table)}
    from ${raw(table)} r
    ${code === undefined ? [] : sql`where r.code = ${code}`}
    order by r.code collate "C"
  `);
  const [found] = await database.scan(records);
  return found!.json;
}

/** Lists the ONIX code lists that validate fields, as a JSON array. */
export async function listCodeLists(database: Queries): Promise<string> {
  const [found] = await database.scan(codeLists);
  return found!.json;
}

const codeLists = asJson(sql`
  select c.list as number, count(*) as codes
  from onix_codes c
  group by c.list
  order by c.list
`);

/** Gets the codes and labels of an ONIX code list as a JSON array. Throws `NOT_FOUND`. */
export async function getCodeList(
  database: Queries,
  number: string,
): Promise<string> {
  const codes = asJson(sql`
    select c.code, c.label, c.deprecated
    from onix_codes c
    where c.list = ${number}
    order by c.code collate "C"
  `);
  const [found] = await database.lookUp(codes);
  if (found!.json !== "[]") return found!.json;
  throw new ApiError("NOT_FOUND", `No code list with number "${number}"`);
}

/** Selects the rows of another statement as a JSON array. */
function asJson(rows: Statement): Statement<{ json: string }> {
  return sql`select ${jsonArray(rows)}::text as json`;
}
