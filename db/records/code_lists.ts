import { ApiError } from "../../schema/errors.ts";
import { sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { jsonArray } from "../products/json_array.ts";

interface List {
  entries: string;
}

const lists = jsonArray(sql`
  select c.list as number, count(*) as codes
  from onix_codes c
  group by c.list
  order by c.list
`);

/** The ONIX lists that fields are checked against, as a JSON array. */
export async function listCodeLists(database: Operations): Promise<string> {
  const [found] = await database.scan(
    sql<List>`select ${lists}::text as entries`,
  );
  return found!.entries;
}

/** The codes of an ONIX list with their labels, as a JSON array. Throws `NOT_FOUND`. */
export async function getCodeList(
  database: Operations,
  number: string,
): Promise<string> {
  const codes = jsonArray(sql`
    select c.code, c.label
    from onix_codes c
    where c.list = ${number}
    order by c.code collate "C"
  `);
  const [found] = await database.lookUp(
    sql<List>`select ${codes}::text as entries`,
  );
  if (found!.entries === "[]") {
    throw new ApiError("NOT_FOUND", `No code list with number "${number}"`);
  }
  return found!.entries;
}
