import type {
  PageQuery,
  RecordQuery,
  RecordSort,
} from "../../schema/record_query.ts";
import type { OwnTable } from "../../schema/records.ts";
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
import { notFound } from "./shown_record.ts";
import { recordWithId, shownColumns } from "./shown_record.ts";

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

/** One page of an organization's records, in one statement, so that page and total agree. */
export async function listRecords(
  database: Operations,
  table: OwnTable,
  query: RecordQuery,
): Promise<Page> {
  const { sort, search, name } = query;
  // The key finds the name in the index of the order.
  const isNamed =
    sql`and ${nameKey} = left(search_key(${name}), 200) and r.name = ${name}`;
  const found = sql`
    from ${raw(table)} r
    where r.organization_id = ${organization}
      ${name === undefined ? [] : isNamed} ${namesContaining(search)}
  `;
  const entries = jsonArray(sql`
    select ${shownColumns(table)}
    from (select r.* ${found} order by ${SORTING[sort]} ${pageOf(query)}) r
  `);
  const statement = sql<Page>`
    select
      ${entries}::text as entries,
      (select count(*) ${found})::float8 as total
  `;
  const isPlain = sort === "name" && !search && name === undefined;
  const [page] = await database.scan(
    isPlain ? statement : unprepared(statement),
  );
  return page!;
}

/** One page of a programme's products, by title. Throws `NOT_FOUND` for an unknown programme. */
export async function listProgramProducts(
  database: Operations,
  programId: string,
  query: PageQuery,
): Promise<Page> {
  const isIn = sql`
    x.organization_id = ${organization} and x.program_id = ${programId}
  `;
  const entries = jsonArray(sql`
    select p.id, p.title
    from publishing_program_products x
    join products p on p.organization_id = ${organization} and p.id = x.product_id
    where ${isIn}
    order by p.title collate "und-x-icu", p.id
    ${pageOf(query)}
  `);
  const [page] = await database.scan(sql<Page>`
    select
      ${entries}::text as entries,
      (select count(*) from publishing_program_products x where ${isIn})::float8 as total
    ${recordWithId("publishing_programs", programId)}
  `);
  if (!page) throw notFound("publishing_programs", programId);
  return page;
}

function pageOf({ page, limit }: PageQuery): Statement {
  const offset = String(BigInt(page - 1) * BigInt(limit));
  return sql`limit ${limit} offset ${offset}`;
}
