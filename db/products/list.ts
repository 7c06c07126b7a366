import { invalid } from "../../schema/errors.ts";
import { DEFAULT_SORT, type ListQuery } from "../../schema/list_query.ts";
import {
  hidden,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { keptCount, total } from "./counts.ts";
import { validDocument } from "./documents.ts";
import { conditions } from "./filters.ts";
import {
  currentSummary,
  includedArrays,
  MAX_BYTES,
  type PageRow,
  readPage,
  storedSummary,
} from "./page.ts";
import { SORTING } from "./sort.ts";

/** A page of a list as a JSON array, and the number of entries on all pages. */
export interface Page {
  entries: string;
  total: number;
}

/** Returns a page of products. Throws `VALIDATION_ERROR` for a page over 16 MiB. */
export async function listProducts(
  database: Operations,
  query: ListQuery,
): Promise<Page> {
  const page = await readPage(
    database,
    pageOf(query),
    (page) => samePage(query, page),
  );
  const { entries, total, bytes } = page;
  if (Number(bytes) > MAX_BYTES) {
    throw invalid("The query", [{
      parameter: "limit",
      code: "too_large",
      message:
        "The page is larger than 16 MiB: request fewer products or arrays",
    }]);
  }
  return {
    entries: entries === null ? "[]" : `[{${entries}}]`,
    total: Number(total),
  };
}

interface Row extends PageRow {
  /** The products without the outer braces, or null for an empty page or one over `MAX_BYTES`. */
  entries: string | null;
  bytes: string | null;
  total: string;
  /** The comma-separated ids of the page's products if a document is missing. */
  ids: string | null;
}

/**
 * The page, from documents only. One statement keeps page and total consistent.
 * Selecting the products from an index before joining makes late pages of a million
 * products a hundred times faster. Only products after OFFSET become rows.
 */
function pageOf(query: ListQuery): Statement<Row> {
  const { limit, page, sort } = query;
  const offset = String(BigInt(page - 1) * BigInt(limit));
  // Filters make many statement texts. Only the most frequent lists are prepared.
  const isPrepared = sort === DEFAULT_SORT && keptCount(query);
  const range = isPrepared
    ? sql`limit ${hidden(limit, "bigint")} offset ${hidden(offset, "bigint")}`
    : sql`limit ${limit} offset ${offset}`;
  const { key, order } = SORTING[sort];
  const statement = entriesOf(query, storedSummary, {
    total: total(query),
    products: sql`
      rows from (
        unnest(array(
          select row(page.id, page.updated_at)
          from (
            select p.id, p.updated_at, ${key} as sort_key
            from products p
            where p.organization_id = ${organization} ${conditions(query)}
            order by ${order}
            ${range}
          ) page
          order by ${order}
        )) as (id uuid, updated_at timestamptz)
      ) with ordinality p (id, updated_at, place)
    `,
  });
  return isPrepared ? statement : unprepared(statement);
}

/**
 * The same products, from documents or the tables. Products that were deleted
 * meanwhile are subtracted from the total.
 */
function samePage(query: ListQuery, { ids, total }: Row): Statement<Row> {
  const rows = ids!.split(",").length;
  return entriesOf(query, currentSummary, {
    total: sql`${total}::bigint - ${rows}::int + count(*)`,
    products: sql`
      unnest(string_to_array(${ids}, ',')::uuid[]) with ordinality page (id, place)
      join products p on p.organization_id = ${organization} and p.id = page.id
    `,
  });
}

/**
 * The entries of a page. `products` is the FROM clause of its products: `p`, with the
 * columns that `summary` needs, `id` and `updated_at`, and `place`. The joins keep the
 * order of places, so that nothing sorts the longer entries.
 */
function entriesOf(
  query: ListQuery,
  summary: Statement,
  { total, products }: { total: Statement; products: Statement },
): Statement<Row> {
  return sql<Row>`
    select
      ${total} as total,
      case when sum(octet_length(e.entry)) <= ${
    raw(String(MAX_BYTES))
  } then string_agg(e.entry, '},{') end as entries,
      sum(octet_length(e.entry)) as bytes,
      case when bool_or(e.entry is null) then array_to_string(array_agg(e.id), ',') end as ids,
      array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing,
      bool_and(e.is_storable) as is_storable
    from (
      select
        p.id,
        ${summary}${includedArrays(query)} as entry,
        o.names_version is not null as is_storable
      from ${products}
      join organizations o on o.id = ${organization}
      ${validDocument}
      order by place
    ) e
  `;
}
