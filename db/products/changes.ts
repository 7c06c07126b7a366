import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { rfc3339 } from "../times.ts";
import { validDocument } from "./document.ts";
import { tooLargeToShow } from "./errors.ts";
import { type FeedPage, type FeedRange, readChanges } from "./feed.ts";
import { documentsFirst, includedArrays, type ProductsRow, type SummarySource } from "./pages.ts";
import {
  deletionOfPosition,
  detailsSize,
  fittingPositions,
  PAGE_BYTES,
  pageBytes,
  positionsOf,
  productOfPosition,
} from "./positions.ts";

/*
 * A page of the feed of changes, with the products. `feed.ts` says after which change a client
 * goes on, `positions.ts` which changes are next.
 */

/** Returns the next changes as a JSON array. Throws as `openFeed` does. */
export async function listChanges(
  database: Queries,
  { after, limit, include }: ChangesQuery,
): Promise<{ changes: string; cursor: Cursor; more: boolean }> {
  return await readChanges(database, after, async ({ from, safe }) => {
    const range = { from, limit, include, safe };
    const page = await documentsFirst(database, async (source) => {
      const [row] = await database.scan(changesPage(range, source));
      return row!;
    });
    const { changes, id, too_long } = page;
    if (changes === null) throw tooLargeToShow(id!, too_long!);
    return { ...page, changes };
  });
}

interface ChangesRow extends ProductsRow, FeedPage {
  /** Null if the first product is larger than a page. */
  changes: string | null;
}

/** The largest product that a page has, alone: SQL may have stored it. */
const entryBytes = raw(String(4 * PAGE_BYTES));

/**
 * A page of changes, with the summaries of a source. It omits the deletion of a product
 * that exists again: the later transaction may have the lower id. It ends before the
 * product that would exceed its size. If that is the first, the page is too long.
 */
function changesPage(
  { limit, include, ...range }: FeedRange & Pick<ChangesQuery, "limit" | "include">,
  { summary }: SummarySource,
): Statement<ChangesRow> {
  const found = include.size === 0 ? sql`select * from positions` : fittingPositions(detailsSize);
  return sql`
    with positions as materialized (${positionsOf(range, limit)}),
    entries as (
      select
        c.place, c.version, c.id,
        c.deleted_at is null or p.id is null as is_shown,
        case when c.deleted_at is null and d.summary is null then p.id end as missing,
        o.names_version,
        shown.entry,
        sum(octet_length(shown.entry)) over (order by c.place) as bytes
      -- No page is larger: a constant limit keeps the generic plan.
      from (${found} limit 1001) c
      join organizations o on o.id = ${organization}
      ${productOfPosition}
      ${deletionOfPosition}
      ${validDocument}
      cross join lateral (
        select '{"id":"' || c.id || '","deleted":' || (c.deleted_at is not null) || ',"updated_at":'
          || coalesce(
            to_json(${rfc3339("coalesce(c.deleted_at, p.updated_at)")})::text,
            'null'
          )
          || case when c.deleted_at is null
            then ',"product":{' || ${summary}${includedArrays(include)} || '}'
            else ',"isbn13":' || coalesce(to_json(x.isbn13)::text, 'null')
              || ',"product_code":' || coalesce(to_json(x.product_code)::text, 'null')
              || ',"record_reference":' || coalesce(to_json(x.record_reference)::text, 'null')
          end
          || '}' as entry
        -- OFFSET 0 keeps the planner from computing the entry three times.
        offset 0
      ) shown
      where c.place <= ${limit}
    )
    select
      case when max(e.bytes) > ${entryBytes} then null
        else '[' || coalesce(string_agg(e.entry, ',' order by e.place) filter (where e.is_shown), '') || ']'
      end as changes,
      case when max(e.bytes) > ${entryBytes} then max(e.bytes)::float8 end as too_long,
      (array_agg(e.version::text order by e.place desc))[1] as version,
      (array_agg(e.id order by e.place desc))[1] as id,
      coalesce(max(e.place), 0) < (select count(*) from positions) as more,
      string_agg(e.missing::text, ',') as missing,
      bool_and(e.names_version is not null) as is_storable
    from entries e
    where e.bytes is null or e.bytes <= ${pageBytes} or e.place = 1
  `;
}
