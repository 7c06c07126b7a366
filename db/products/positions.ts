import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { FeedRange } from "./feed.ts";

/*
 * The positions of changes in the feed, here `c`: the version, the id of the product, and when it
 * was deleted, if it was. `place` numbers those of a page.
 */

/**
 * The positions of the next changes, one more than `limit`. It merges an index range of
 * changed products with one of deletions. `others` select more positions in their order.
 */
export function positionsOf(
  { from, safe }: FeedRange,
  limit: number,
  ...others: Statement[]
): Statement {
  const next = String(limit + 1);
  return sql`
    select
      changed.version, changed.id, changed.deleted_at,
      row_number() over (order by changed.version, changed.id, changed.deleted_at nulls first) as place
    from (
      (
        select c.change_version as version, c.product_id as id, null::timestamptz as deleted_at
        from product_changes c
        where c.organization_id = ${organization}
          and (c.change_version, c.product_id) > (${from.version}::bigint, ${from.id}::uuid)
          and c.change_version < ${safe}::bigint
        order by c.change_version, c.product_id
        limit ${next}
      )
      union all
      (
        select x.change_version, x.product_id, x.deleted_at
        from product_deletions x
        where x.organization_id = ${organization}
          and (x.change_version, x.product_id) > (${from.version}::bigint, ${from.id}::uuid)
          and x.change_version > ${from.start}::bigint
          and x.change_version < ${safe}::bigint
        order by x.change_version, x.product_id
        limit ${next}
      )
      ${others.map((other) => sql`union all (${other} limit ${next})`)}
    ) changed
    order by changed.version, changed.id, changed.deleted_at nulls first
    limit ${next}
  `;
}

/** Joins product `p`, or nulls, to position `c`. The limit forces a look-up by primary key. */
export const productOfPosition = sql`
  left join lateral (
    select p.*
    from products p
    where p.organization_id = ${organization} and p.id = c.id
    limit 1
  ) p on true
`;

/** Joins the deletion `x` of position `c`, or nulls. The limit forces a look-up by primary key. */
export const deletionOfPosition = sql`
  left join lateral (
    select x.isbn13, x.product_code, x.record_reference
    from product_deletions x
    where x.organization_id = ${organization} and x.product_id = c.id and c.deleted_at is not null
    limit 1
  ) x on true
`;

/** The size at which a page ends, in bytes. The service stores no larger product. */
export const PAGE_BYTES = 4 * 2 ** 20;

export const pageBytes = raw(String(PAGE_BYTES));

/**
 * The assumed size of the arrays of a product without a document, in bytes: a page builds
 * at most sixteen, which takes a second or two if all are of the largest size.
 */
const UNKNOWN_BYTES = PAGE_BYTES / 16;

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
 * The positions that fit on a page together, or the first alone, where `size` is that of product
 * `c`. Building the arrays of large products takes seconds.
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
