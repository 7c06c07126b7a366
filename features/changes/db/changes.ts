import type { ChangesQuery, Cursor } from "../schema.ts";
import { organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { rfc3339 } from "../../../db/times.ts";
import { validDocument } from "../../../db/products/documents/document.ts";
import { tooLargeToShow } from "../../../db/products/errors/errors.ts";
import { type PacedView, projectedArray } from "../../../db/products/documents/projected.ts";
import { type FeedPage, type FeedRange, readChanges } from "./feed.ts";
import type { FollowedView } from "./view_state.ts";
import { isSameView, StaleView, withView } from "./view_page.ts";
import {
  documentsFirst,
  includedArrays,
  type ProductsRow,
  type SummarySource,
} from "../../../db/products/lists/pages.ts";
import {
  deletionOfPosition,
  detailsSize,
  fittingPositions,
  pageBytes,
  positionsOf,
  positionsOfView,
  productOfPosition,
} from "./positions.ts";
import { FEED_PAGE_BYTES } from "../../../db/sizes.ts";

/*
 * Reads a page of the feed of changes, with the products. `feed.ts` has the cursors, `positions.ts`
 * finds the next changes.
 */

/**
 * Returns the next changes as a JSON array, of all products or as the recipient of a view gets them.
 * Throws as `openFeed` does.
 */
export async function listChanges(
  database: Queries,
  { after, limit, include }: ChangesQuery,
  paced?: PacedView,
  isFetch = false,
): Promise<{ changes: string; cursor: Cursor; more: boolean }> {
  return await withView(
    database,
    paced?.view,
    isFetch,
    (followed) =>
      readChanges(database, after, async ({ from, safe }) => {
        const range = { from, limit, include, safe, followed };
        const page = await documentsFirst(database, async (source) => {
          const [row] = await database.scan(changesPage(range, source));
          return row!;
        });
        const { changes, id, too_long, is_same_view } = page;
        if (!is_same_view) throw new StaleView();
        if (changes === null) throw tooLargeToShow(id!, too_long!);
        const seen = paced && followed && { ...paced, view: followed.view };
        return { ...page, changes: await projectedArray(changes, seen, "product") };
      }, paced?.view.id),
  );
}

interface ChangesRow extends ProductsRow, FeedPage {
  /** Null if the first product is larger than a page. */
  changes: string | null;
  is_same_view: boolean;
}

/** Whether position `c` is shown: not the deletion of a product that exists again. */
const isShown = raw("c.deleted_at is null or p.id is null");

/** Whether position `c` is shown in a view, in which a product may be hidden. */
const isShownOfView = raw("(c.deleted_at is null) = (p.id is not null)");

/** The size up to which a page shows a single larger product, which SQL may have stored. */
const entryBytes = raw(String(4 * FEED_PAGE_BYTES));

/**
 * Selects a page of changes, with the summaries of a source. The deletion of a product that exists
 * again is omitted: the later transaction may have the lower id. The page ends before the product
 * that would exceed its size. If that is the first, the page is too long.
 */
function changesPage(
  { limit, include, followed, ...range }:
    & FeedRange
    & Pick<ChangesQuery, "limit" | "include">
    & { followed: FollowedView | undefined },
  { summary }: SummarySource,
): Statement<ChangesRow> {
  const positions = followed ? positionsOfView(range, limit, followed) : positionsOf(range, limit);
  const found = include.size === 0 ? sql`select * from positions` : fittingPositions(detailsSize);
  return sql`
    with positions as materialized (${positions}),
    entries as (
      select
        c.place, c.version, c.id,
        ${followed ? isShownOfView : isShown} as is_shown,
        case when c.deleted_at is null and d.summary is null then p.id end as missing,
        shown.entry,
        sum(octet_length(shown.entry)) over (order by c.place) as bytes
      -- No page is larger: a constant limit keeps the generic plan.
      from (${found} limit 1001) c
      join organizations o on o.id = ${organization}
      ${productOfPosition(followed)}
      ${deletionOfPosition(followed)}
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
      ${isSameView(followed)} as is_same_view
    from entries e
    where e.bytes is null or e.bytes <= ${pageBytes} or e.place = 1
  `;
}
