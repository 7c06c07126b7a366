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
import type { Queries } from "../database.ts";
import { jsonArray } from "../products/json_array.ts";
import type { Page } from "../products/list.ts";
import { namesContaining } from "../products/search.ts";
import { notFound, recordWithId, shownColumns } from "./shown_record.ts";

/** The sort key of names, which ignores case and accents. It matches the index. */
const nameKey = sql`left(search_key(r.name), 200) collate "C"`;

/** The `order by` of records `r`. Ids order records with equal values. */
const SORTING: Record<RecordSort, Statement> = {
  "name": sql`${nameKey}, r.id`,
  "-name": sql`${nameKey} desc, r.id desc`,
  "created_at": sql`r.created_at, r.id`,
  "-created_at": sql`r.created_at desc, r.id desc`,
  "updated_at": sql`r.updated_at, r.id`,
  "-updated_at": sql`r.updated_at desc, r.id desc`,
};

/** Lists a page of records. A single statement keeps page and total consistent. */
export async function listRecords(
  database: Queries,
  table: OwnTable,
  query: RecordQuery,
): Promise<Page> {
  const { sort, search, name } = query;
  // The index on the sort key finds the name.
  const hasName =
    sql`and ${nameKey} = left(search_key(${name}), 200) and r.name = ${name}`;
  const found = sql`
    from ${raw(table)} r
    where r.organization_id = ${organization}
      ${name === undefined ? [] : hasName} ${namesContaining(search)}
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

/** Lists a page of a publishing program's products, by title. Throws `NOT_FOUND`. */
export async function listProgramProducts(
  database: Queries,
  programId: string,
  query: PageQuery,
): Promise<Page> {
  const inProgram = sql`
    x.organization_id = ${organization} and x.program_id = ${programId}
  `;
  const entries = jsonArray(sql`
    select p.id, p.title
    from publishing_program_products x
    join products p on p.organization_id = ${organization} and p.id = x.product_id
    where ${inProgram}
    order by p.title collate "und-x-icu", p.id
    ${pageOf(query)}
  `);
  const [page] = await database.scan(sql<Page>`
    select
      ${entries}::text as entries,
      (select count(*) from publishing_program_products x where ${inProgram})::float8 as total
    ${recordWithId("publishing_programs", programId)}
  `);
  if (!page) throw notFound("publishing_programs", programId);
  return page;
}

function pageOf({ page, limit }: PageQuery): Statement {
  const offset = String(BigInt(page - 1) * BigInt(limit));
  return sql`limit ${limit} offset ${offset}`;
}
