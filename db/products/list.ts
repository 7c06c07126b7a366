import { invalid } from "../../schema/errors.ts";
import { DEFAULT_SORT, type ListQuery } from "../../schema/list_query.ts";
import {
  opaque,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
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
  database: Queries,
  query: ListQuery,
): Promise<Page> {
  const { entries, total, bytes } = await readPage(
    database,
    pageOf(query, documented),
    () => pageOf(query, current),
  );
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
}

/** Where a page reads the summaries of the products that it has found. */
interface Source {
  summary: Statement;
  /** The FROM clause of product `p` and its `place`, with the columns that `summary` needs. */
  products(found: Statement): Statement;
}

/** Documents only, which need no other columns of products. */
const documented: Source = {
  summary: storedSummary,
  products: (found) => sql`${found} p (id, updated_at, place)`,
};

/** Documents or the tables. */
const current: Source = {
  summary: currentSummary,
  products: (found) =>
    sql`
    ${found} page (id, updated_at, place)
    -- The limit forces a look-up by primary key.
    cross join lateral (
      select p.*
      from products p
      where p.organization_id = ${organization} and p.id = page.id
      limit 1
    ) p
  `,
};

/**
 * The page. One statement keeps products, order and total consistent. Selecting the
 * products from an index before joining makes late pages of a million products a
 * hundred times faster. Only products after OFFSET become rows. The joins keep their
 * order, so that nothing sorts the longer entries.
 */
function pageOf(
  query: ListQuery,
  { summary, products }: Source,
): Statement<Row> {
  const { limit, page, sort } = query;
  const offset = String(BigInt(page - 1) * BigInt(limit));
  // Filters make many statement texts. Only the most frequent lists are prepared.
  const isPrepared = sort === DEFAULT_SORT && keptCount(query);
  const range = isPrepared
    ? sql`limit ${opaque(limit, "bigint")} offset ${opaque(offset, "bigint")}`
    : sql`limit ${limit} offset ${offset}`;
  const { key, order } = SORTING[sort];
  const found = sql`
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
    ) with ordinality
  `;
  const statement = sql<Row>`
    select
      ${total(query)} as total,
      case when sum(octet_length(e.entry)) <= ${raw(String(MAX_BYTES))}
        then string_agg(e.entry, '},{')
      end as entries,
      sum(octet_length(e.entry)) as bytes,
      array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing,
      bool_and(e.is_storable) as is_storable
    from (
      select
        p.id,
        ${summary}${includedArrays(query.include)} as entry,
        o.names_version is not null as is_storable
      from ${products(found)}
      join organizations o on o.id = ${organization}
      ${validDocument}
      order by place
    ) e
  `;
  return isPrepared ? statement : unprepared(statement);
}
