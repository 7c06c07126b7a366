import { joinByKey, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import { viewConditions } from "../../../db/products/lists/view.ts";
import type { FeedRange } from "./feed.ts";
import { FEED_PAGE_BYTES } from "../../../db/sizes.ts";
import { MAX_UUID } from "../../../db/uuid.ts";
import type { FollowedView } from "./view_state.ts";

/*
 * Finds the positions of changes in the feed, here `c`: the version, the id of the product, and the
 * time of a deletion. `place` numbers those of a page.
 */

/**
 * The positions of the next changes, one more than `limit`. It merges an index range of
 * changed products with one of deletions. `others` select more positions in their order.
 */
export function positionsOf(
  range: FeedRange,
  limit: number,
  ...others: Statement[]
): Statement {
  const { from, safe } = range;
  const changed = sql`
    select c.change_version as version, c.product_id as id, null::timestamptz as deleted_at
    from product_changes c
    where c.organization_id = ${organization}
      and (c.change_version, c.product_id) > (${from.version}::bigint, ${from.id}::uuid)
      and c.change_version < ${safe}::bigint
    order by c.change_version, c.product_id`;
  return mergedPositions([changed, deleted(range, sql`${from.start}::bigint`), ...others], limit);
}

/** The deletions after the version `start`. */
function deleted({ from, safe }: FeedRange, start: Statement): Statement {
  return sql`
    select x.change_version, x.product_id, x.deleted_at
    from product_deletions x
    where x.organization_id = ${organization}
      and (x.change_version, x.product_id) > (${from.version}::bigint, ${from.id}::uuid)
      and x.change_version > ${start}
      and x.change_version < ${safe}::bigint
    order by x.change_version, x.product_id`;
}

/** Merges positions, each selected in their order, and numbers them: one more than `limit`. */
function mergedPositions(selects: readonly Statement[], limit: number): Statement {
  const next = String(limit + 1);
  const parts = selects.map((select, i) =>
    sql`${raw(i > 0 ? "union all" : "")} (${select} limit ${next})`
  );
  return sql`
    select
      changed.version, changed.id, changed.deleted_at,
      row_number() over (order by changed.version, changed.id, changed.deleted_at nulls first) as place
    from (${parts}) changed
    order by changed.version, changed.id, changed.deleted_at nulls first
    limit ${next}
  `;
}

/**
 * The positions of the next changes of a recipient, one more than `limit`. They are merged from up to
 * four selects:
 *
 *     changed         products that its feed has shown, and that have changed
 *     enteredOrLeft   products that have entered its view or left it
 *     refreshedAll    every product, at the version from which the view leaves out other fields
 *     deleted         deletions, for a view without criteria: these have no rows
 *
 * A product has one position, where it last changed or entered. After a refreshment (`refreshed`), a
 * product that has not changed since has the version of that.
 */
export function positionsOfView(
  range: FeedRange,
  limit: number,
  followed: FollowedView,
  ...others: Statement[]
): Statement {
  const { from } = range;
  const { openSince } = followed;
  const isRefreshed = hasRefreshment(range, followed);
  return mergedPositions([
    changed(range, followed, isRefreshed),
    enteredOrLeft(range, followed, isRefreshed),
    ...isRefreshed ? [refreshedAll(range, followed)] : [],
    ...openSince !== null
      ? [deleted(range, sql`greatest(${from.start}::bigint, ${openSince}::bigint)`)]
      : [],
    ...others,
  ], limit);
}

/** Whether the refreshment of a view is below the horizon, and the client has not received all of it. */
function hasRefreshment({ from, safe }: FeedRange, { refreshed }: FollowedView): boolean {
  return BigInt(refreshed) > 0n && BigInt(refreshed) < BigInt(safe) &&
    BigInt(from.version) <= BigInt(refreshed);
}

/** The condition that row `m` of `recipient_products` is of the recipient. */
function isOfRecipient({ view }: FollowedView): Statement {
  return sql`m.organization_id = ${organization} and m.recipient_id = ${view.id}`;
}

/**
 * Restricts `c` to the products that the feed has shown up to a version, by a join or a condition. In
 * a view without criteria, these are all that have not entered after it.
 */
function shownUpTo(followed: FollowedView, version: Statement) {
  const row = sql`
      select from recipient_products m
      where ${
    isOfRecipient(followed)
  } and m.product_id = c.product_id and m.is_there and m.change_version`;
  return followed.openSince === null
    // The limit forces a look-up by primary key.
    ? { join: sql`cross join lateral (${row} <= ${version} limit 1) m`, condition: [] }
    : { join: [], condition: sql`and not exists (${row} > ${version})` };
}

function changed(
  { from, safe }: FeedRange,
  followed: FollowedView,
  isRefreshed: boolean,
): Statement {
  const { join, condition } = shownUpTo(followed, raw("c.change_version"));
  const start = sql`${isRefreshed ? followed.refreshed : from.version}::bigint`;
  // The products up to the version of a refreshment have their position there.
  const id = isRefreshed ? raw(`'${MAX_UUID}'`) : sql`${from.id}`;
  return sql`
    select c.change_version as version, c.product_id as id, null::timestamptz as deleted_at
    from product_changes c
    ${join}
    where c.organization_id = ${organization}
      and (c.change_version, c.product_id) > (${start}, ${id}::uuid)
      and c.change_version < ${safe}::bigint
      ${condition}
    order by c.change_version, c.product_id`;
}

function enteredOrLeft(
  { from, safe }: FeedRange,
  followed: FollowedView,
  isRefreshed: boolean,
): Statement {
  const { refreshed } = followed;
  // A copy that began after a refreshment was shown all earlier products at its version.
  const firstShown = BigInt(from.start) >= BigInt(refreshed)
    ? sql`greatest(m.shown_version, ${refreshed}::bigint)`
    : raw("m.shown_version");
  const isNext =
    sql`(m.change_version, m.product_id) > (${from.version}::bigint, ${from.id}::uuid)`;
  return sql`
    select m.change_version, m.product_id, case when not m.is_there then m.changed_at end
    from recipient_products m
    where ${isOfRecipient(followed)} and m.change_version > 0 and ${isNext}
      and m.change_version < ${safe}::bigint
      and (
        m.is_there
        -- The copy has come as far as the product, and began before it left.
        or m.change_version > ${from.start}::bigint
          and (${firstShown}, m.product_id) <= (${from.version}::bigint, ${from.id}::uuid)
      )
      and not (m.is_there and exists (
        select from product_changes c
        where c.organization_id = ${organization} and c.product_id = m.product_id
          and c.change_version > m.change_version
      ))
      ${isRefreshed ? sql`and not (m.is_there and m.change_version <= ${refreshed}::bigint)` : []}
    order by m.change_version, m.product_id`;
}

function refreshedAll({ from }: FeedRange, followed: FollowedView): Statement {
  const { refreshed } = followed;
  const refreshment = sql`${refreshed}::bigint`;
  const { join, condition } = shownUpTo(followed, refreshment);
  const afterId = from.version === refreshed ? sql`and c.product_id > ${from.id}::uuid` : [];
  return sql`
    select ${refreshment}, c.product_id, null::timestamptz
    from product_changes c
    ${join}
    where c.organization_id = ${organization} and c.change_version <= ${refreshment} ${afterId}
      ${condition}
    order by c.product_id`;
}

/** Joins product `p`, or nulls, to position `c`. With a view, nulls for a product outside it. */
export function productOfPosition(followed?: FollowedView): Statement {
  return followed ? productWith(viewConditions(followed.view)) : anyProduct;
}

function productWith(conditions: Statement[]): Statement {
  return joinByKey(
    "p",
    sql`select p.*
    from products p
    where p.organization_id = ${organization} and p.id = c.id ${conditions}`,
  );
}

const anyProduct = productWith([]);

/** Joins the deletion `x` of position `c`, or nulls. With a view, the row of the product's departure. */
export function deletionOfPosition(followed?: FollowedView): Statement {
  if (!followed) return anyDeletion;
  const departed = sql`
    select m.isbn13, m.product_code, m.record_reference
    from recipient_products m
    where m.organization_id = ${organization} and m.recipient_id = ${followed.view.id}
      and m.product_id = c.id and not m.is_there and c.deleted_at is not null
  `;
  return joinByKey(
    "x",
    // Without criteria, deletions have no rows.
    followed.openSince === null
      ? departed
      : sql`select * from (${departed} union all ${selectDeletion}) x`,
  );
}

const selectDeletion = sql`
    select x.isbn13, x.product_code, x.record_reference
    from product_deletions x
    where x.organization_id = ${organization} and x.product_id = c.id and c.deleted_at is not null`;

const anyDeletion = joinByKey("x", selectDeletion);

export const pageBytes = raw(String(FEED_PAGE_BYTES));

/**
 * The assumed size of the arrays of a product without a document, in bytes: a page builds
 * at most sixteen, which takes a second or two if all are of the largest size.
 */
const UNKNOWN_BYTES = FEED_PAGE_BYTES / 16;

/** The size of the arrays of product `c`, which is known without reading its document. */
export const detailsSize = sql`coalesce(
  (
    select octet_length(d.details)
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = c.id
    order by d.change_version desc
    limit 1
  ),
  ${UNKNOWN_BYTES}::int
)`;

/**
 * Selects the positions that fit on a page together, or only the first. `size` is the size of
 * product `c`. Building the arrays of large products takes seconds.
 */
export function fittingPositions(size: Statement): Statement {
  return sql`
    select c.version, c.id, c.deleted_at, c.place
    from (
      select c.*, sum(s.bytes) over (order by c.place) as bytes
      from positions c
      cross join lateral (
        select case when c.deleted_at is null then ${size} else 0 end as bytes
      ) s
    ) c
    where c.bytes <= ${pageBytes} or c.place = 1
  `;
}
