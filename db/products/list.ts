import { invalid } from "../../schema/errors.ts";
import { DEFAULT_SORT, type ListQuery } from "../../schema/list_query.ts";
import { opaque, organization, raw, sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type EntryPage, limitOf, offsetOf } from "../entry_page.ts";
import { readLong } from "../long_text.ts";
import { validDocument } from "./document.ts";
import { type FoundBy, foundByAll, foundNear } from "./find.ts";
import { documentsFirst, includedArrays, type ProductsRow, type SummarySource } from "./pages.ts";
import { readWords } from "./query_words.ts";
import { mayBeCommon } from "./search.ts";
import { type FoundQuery, selected, sortingOf } from "./selected.ts";
import { countKeyOf, totalOf } from "./totals.ts";

/*
 * A page of products. `selected.ts` says which products a query selects and in what order,
 * `totals.ts` how many there are.
 */

/**
 * Returns a page of products: of the nearest, if `q` finds none. Throws `VALIDATION_ERROR`
 * for a page over 16 MiB.
 */
export async function listProducts(
  database: Queries,
  query: ListQuery,
): Promise<EntryPage> {
  const words = await readWords(database, query.q);
  const page = await readListed(database, query, words && foundByAll(words));
  const near = words && page.total === 0 ? foundNear(words) : undefined;
  if (!near) return page;
  const nearby = await readListed(database, query, near);
  return { ...nearby, isNearest: nearby.total > 0 };
}

async function readListed(
  database: Queries,
  query: ListQuery,
  found: FoundBy | undefined,
): Promise<EntryPage> {
  const read = async (source: SummarySource) => {
    const page = await readLong(
      database,
      "scan",
      (allowed) => selectPage({ ...query, found }, source, allowed),
    );
    return page!;
  };
  const { entries, total, too_long } = await documentsFirst(
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
    entries: entries === null ? "[]" : `[{${entries}}]`,
    total: Number(total),
  };
}

interface ListRow extends ProductsRow {
  /** The products without the outer braces, or null for an empty page or a page that is too long. */
  entries: string | null;
  total: string;
}

/**
 * The page, with the summaries of a source. One statement keeps products, order and
 * total consistent. Selecting the products from an index before joining makes late pages
 * of a million products a hundred times faster. Only products after OFFSET become rows.
 * The joins keep their order, so that nothing sorts the longer entries.
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
  const products = selected(query, sorting);
  const total = isFoundOnce ? raw("(select count(*) from found)") : totalOf(query);
  const bytes = sql`sum(octet_length(e.entry))`;
  const statement = sql<ListRow>`
    ${isFoundOnce ? sql`with found as materialized (${products})` : []}
    select
      ${total} as total,
      case when ${bytes} <= ${allowed}::int then string_agg(e.entry, '},{') end as entries,
      case when ${bytes} > ${allowed}::int then ${bytes}::float8 end as too_long,
      array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing,
      bool_and(e.is_storable) as is_storable
    from (
      select
        p.id,
        ${summary}${includedArrays(query.include)} as entry,
        o.names_version is not null as is_storable
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
