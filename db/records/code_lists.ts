import { ApiError } from "../../schema/errors.ts";
import { CODE_LISTS } from "../../schema/onix_codes.ts";
import type { CodeQuery, PageQuery } from "../../schema/record_query.ts";
import type { SharedTable } from "../../schema/records.ts";
import { json, raw, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { jsonArray, selectRecord } from "../row_json.ts";
import { type EntryPage, limitOf, selectEntries } from "../entry_page.ts";

/* Reads the code lists that all organizations share. */

/** Lists a page of the records of a shared table, or the one with the given code. */
export async function listSharedRecords(
  database: Queries,
  table: SharedTable,
  query: CodeQuery,
): Promise<EntryPage> {
  const { code } = query;
  const found = sql`
    from ${raw(table)} r
    ${code === undefined ? [] : sql`where r.code = ${code}`}
  `;
  const records = sql`
    select ${selectRecord(table)}
    ${found}
    order by r.code collate "C"
    ${limitOf(query)}
  `;
  const [page] = await database.scan(selectEntries(records, found));
  return page!;
}

/** Lists a page of the ONIX code lists that validate fields. */
export async function listCodeLists(
  database: Queries,
  query: PageQuery,
): Promise<EntryPage> {
  const lists = sql`
    select l.number, l.name, (select count(*) from onix_codes c where c.list = l.number) as codes
    ${namedLists}
    order by l.number
    ${limitOf(query)}
  `;
  const [page] = await database.scan(selectEntries(lists, namedLists));
  return page!;
}

const LIST_NAMES = json(
  Object.entries(CODE_LISTS)
    .map(([number, { title }]) => ({ number, name: title })),
);

/** The lists by number. List 88 has no codes. */
const namedLists = sql`
  from jsonb_to_recordset(${LIST_NAMES}) l (number smallint, name text)
`;

/** Gets the codes and labels of an ONIX code list as a JSON array. Throws `NOT_FOUND`. */
export async function getCodeList(
  database: Queries,
  number: string,
): Promise<string> {
  if (!Object.hasOwn(CODE_LISTS, number)) {
    throw new ApiError(
      "NOT_FOUND",
      `There is no code list ${number}: GET /code-lists has them all`,
    );
  }
  const codes = sql`
    select c.code, c.label, c.deprecated
    from onix_codes c
    where c.list = ${number}
    order by c.code collate "C"
  `;
  const [found] = await database.lookUp(
    sql<{ json: string }>`select ${jsonArray(codes)}::text as json`,
  );
  return found!.json;
}
