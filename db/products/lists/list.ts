import { invalid } from "../../../schema/errors.ts";
import { DEFAULT_SORT, type ListQuery } from "../../../schema/list_query.ts";
import {
  opaque,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../../connections/sql.ts";
import type { Queries } from "../../database.ts";
import { type EntryPage, limitOf, offsetOf } from "../../entry_page.ts";
import { readLong } from "../../long_text.ts";
import { validDocument } from "../documents/document.ts";
import { type FoundBy, foundByAll, foundNear } from "./find_by_q.ts";
import { documentsFirst, includedArrays, type ProductsRow, type SummarySource } from "./pages.ts";
import { readWords } from "./query_words.ts";
import { mayBeCommon } from "./search.ts";
import { type FoundQuery, selectListed, sortingOf } from "./selected.ts";
import { countKeyOf, totalOf } from "./totals.ts";
import { type PacedView, projectedArray } from "../documents/projected.ts";

/*
 * Lists a page of products. `selected.ts` has the conditions and the order of a query, `totals.ts`
 * the number of matches.
 */

/** A page, and whether `q` has found short words only within others: `pie` in `happier`. */
interface FoundPage extends EntryPage {
  isLoose: boolean;
}

/**
 * Returns a page of products. It has the nearest ones if `q` finds none, or only parts of words.
 * Throws `VALIDATION_ERROR` for a page over 16 MiB.
 */
export async function listProducts(
  database: Queries,
  query: ListQuery,
  paced?: PacedView,
): Promise<EntryPage> {
  const words = await readWords(database, query.q);
  const all = words && foundByAll(words, paced?.view);
  const { isLoose, ...page } = await readListed(database, query, all, paced);
  const isFound = page.total > 0;
  const near = words && (!isFound || isLoose) ? foundNear(words, isFound, paced?.view) : undefined;
  if (!near) return page;
  const { isLoose: _, ...nearby } = await readListed(database, query, near, paced);
  return nearby.total > page.total ? { ...nearby, isNearest: true } : page;
}

async function readListed(
  database: Queries,
  query: ListQuery,
  found: FoundBy | undefined,
  paced: PacedView | undefined,
): Promise<FoundPage> {
  const read = async (source: SummarySource) => {
    const page = await readLong(
      database,
      "scan",
      (allowed) => selectPage({ ...query, found, view: paced?.view }, source, allowed),
    );
    return page!;
  };
  const { entries, total, too_long, is_loose } = await documentsFirst(
    database,
    read,
  );
  if (too_long) {
    throw invalid("The query", [{
      parameter: "limit",
      code: "too_large",
      message: "The page is larger than 16 MiB: request fewer products or arrays",
    }]);
  }
  return {
    entries: await projectedArray(entries === null ? "[]" : `[{${entries}}]`, paced),
    total: Number(total),
    isLoose: is_loose === true,
  };
}

interface ListRow extends ProductsRow {
  /** The products without the outer braces, or null for an empty page or a page that is too long. */
  entries: string | null;
  total: string;
  is_loose?: boolean | null;
}

/** If `q` finds more products, it counts as successful, even if it found only parts of words. */
const MAX_LOOSE = 100;

/** The column `is_loose`: whether few products are found, and none fulfils `hasShortWords`. */
function isLooselyFound(hasShortWords: Statement): Statement {
  return sql`
    , case when (select count(*) from found) <= ${MAX_LOOSE}::int then not exists (
      select
      from found f
      -- The limit forces a look-up by primary key.
      cross join lateral (
        select s.found_text, s.publisher_id, s.imprint_id
        from product_search s
        where s.organization_id = ${organization} and s.product_id = f.id
        limit 1
      ) s
      where ${hasShortWords}
    ) end as is_loose
  `;
}

/**
 * Selects a page, with the summaries of a source. One statement keeps products, order and total
 * consistent.
 *
 * The innermost select finds the ids of the page by an index. Only these ids are joined with products
 * and documents, which makes late pages of a million products a hundred times faster. `unnest …
 * with ordinality` keeps their order, so that nothing sorts the longer entries.
 */
function selectPage(
  query: FoundQuery,
  { summary, columns }: SummarySource,
  allowed: number,
): Statement<ListRow> {
  const { limit, search, found, sort = DEFAULT_SORT } = query;
  // A search finds its products once, for the page and the total. A common word may find most
  // of the catalogue, of which a page reads little.
  const isFoundOnce = found !== undefined || !!search && !mayBeCommon(search);
  // Filters make many statement texts. Only the most frequent lists are prepared.
  const isPrepared = sort === DEFAULT_SORT && countKeyOf(query) !== undefined;
  const offset = opaque(offsetOf(query), "bigint");
  const range = isPrepared
    ? sql`limit ${opaque(limit, "bigint")} offset ${offset}`
    : limitOf(query);
  const sorting = sortingOf(query);
  const { order } = sorting;
  const products = selectListed(query, sorting);
  const total = isFoundOnce ? raw("(select count(*) from found)") : totalOf(query);
  const bytes = sql`sum(octet_length(e.entry))`;
  const statement = sql<ListRow>`
    ${isFoundOnce ? sql`with found as materialized (${products})` : []}
    select
      ${total} as total
      ${found?.hasShortWords ? isLooselyFound(found.hasShortWords) : []},
      case when ${bytes} <= ${allowed}::int then string_agg(e.entry, '},{') end as entries,
      case when ${bytes} > ${allowed}::int then ${bytes}::float8 end as too_long,
      array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing
    from (
      select
        p.id,
        ${summary}${includedArrays(query.include)} as entry
      from unnest(array(
        select page.id
        from (
          ${isFoundOnce ? raw("select f.* from found f") : products}
          order by ${order}
          ${range}
        ) page
        order by ${order}
      )) with ordinality page (id, place)
      -- The limit forces a look-up by primary key.
      cross join lateral (
        select ${columns}
        from products p
        where p.organization_id = ${organization} and p.id = page.id
        limit 1
      ) p
      join organizations o on o.id = ${organization}
      ${validDocument}
      order by place
    ) e
  `;
  return isPrepared ? statement : unprepared(statement);
}
