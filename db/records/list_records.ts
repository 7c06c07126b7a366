import type { RecordQuery, RecordSort } from "../../schema/record_query.ts";
import type { OwnTable, SharedTable } from "../../schema/records.ts";
import {
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { jsonArray } from "../products/json_array.ts";
import { namesContaining } from "../products/search.ts";
import { shownColumns } from "./shown_record.ts";

/** A page of a list as a JSON array, and how many entries the list has in all. */
export interface Page {
  entries: string;
  total: number;
}

/** What names are ordered by: their key of search, whatever their case and accents. */
const nameKey = sql`left(search_key(r.name), 200) collate "C"`;

/** The order of a list of records `r`. Records with the same value go by their id. */
const SORTING: Record<RecordSort, Statement> = {
  "name": sql`${nameKey}, r.id`,
  "-name": sql`${nameKey} desc, r.id desc`,
  "created_at": sql`r.created_at, r.id`,
  "-created_at": sql`r.created_at desc, r.id desc`,
  "updated_at": sql`r.updated_at, r.id`,
  "-updated_at": sql`r.updated_at desc, r.id desc`,
};

/** One page of an organization's records. */
export async function listRecords(
  database: Operations,
  table: OwnTable,
  query: RecordQuery,
): Promise<Page> {
  const [page] = await database.scan(pageOf(table, query));
  return { entries: page!.entries, total: Number(page!.total) };
}

/** One statement, so that page and total agree. */
function pageOf(table: OwnTable, query: RecordQuery) {
  const { page, limit, sort } = query;
  const offset = String(BigInt(page - 1) * BigInt(limit));
  const found = sql`
    from ${raw(table)} r
    where r.organization_id = ${organization} ${conditions(query)}
  `;
  const entries = jsonArray(sql`
    select ${shownColumns(table)}
    from (
      select r.*
      ${found}
      order by ${SORTING[sort]}
      limit ${limit} offset ${offset}
    ) r
  `);
  const statement = sql<{ entries: string; total: string }>`
    select ${entries}::text as entries, (select count(*) ${found}) as total
  `;
  const isPlain = sort === "name" && !query.search && query.name === undefined;
  return isPlain ? statement : unprepared(statement);
}

function conditions({ search, name }: RecordQuery): Statement[] {
  return [
    // The key finds the name in the index of the order.
    ...name === undefined ? [] : [
      sql` and ${nameKey} = left(search_key(${name}), 200) and r.name = ${name}`,
    ],
    ...namesContaining(search),
  ];
}

/** The rows of a code list as a JSON array, all of them or the one with this code. */
export async function listCodes(
  database: Operations,
  table: SharedTable,
  code?: string,
): Promise<string> {
  const entries = jsonArray(sql`
    select ${shownColumns(table)}
    from ${raw(table)} r
    ${code === undefined ? [] : [sql`where r.code = ${code}`]}
    order by r.code collate "C"
  `);
  const [list] = await database.scan(
    sql<{ entries: string }>`select ${entries}::text as entries`,
  );
  return list!.entries;
}
