import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import { rfc3339 } from "../times.ts";
import { validDocument } from "./documents.ts";
import { includedArrays, MAX_BYTES, type PageRow } from "./page.ts";

/** A page of changes: those after `from` and below version `safe`. */
interface Range extends Pick<ChangesQuery, "limit" | "include"> {
  from: Cursor;
  safe: string;
}

interface Page extends PageRow {
  changes: string;
  /** The version and id of the page's last change, or null for an empty page. */
  version: string | null;
  id: string | null;
  /** Whether more changes follow the page. */
  more: boolean;
}

/** The assumed size of the arrays of a product without a document, in bytes. */
const UNKNOWN_BYTES = 2 ** 17;

/**
 * A page of changes, with this summary of product `p`. It merges an index range of
 * products with one of deletions. It omits the deletion of a product that exists
 * again: the later transaction may have the lower id. It ends before the product that
 * would exceed `MAX_BYTES`, unless that is the first.
 */
export function pageOf(
  { from, safe, limit, include }: Range,
  summary: Statement,
): Statement<Page> {
  const next = String(limit + 1);
  // Building the arrays of large products takes seconds. The size of a stored document
  // is known without reading it.
  const found = include.size === 0 ? sql`select * from positions` : sql`
    select c.version, c.id, c.deleted_at, c.place
    from (
      select c.*, sum(s.bytes) over (order by c.place) - s.bytes as bytes_before
      from positions c
      cross join lateral (
        select case when c.deleted_at is null
          then coalesce((
            select octet_length(d.details)
            from product_documents d
            where d.organization_id = ${organization} and d.product_id = c.id
          ), ${UNKNOWN_BYTES}::int)
          else 0
        end as bytes
      ) s
    ) c
    where c.bytes_before < ${MAX_BYTES}
  `;
  return sql`
    with positions as materialized (
      select
        changed.version, changed.id, changed.deleted_at,
        row_number() over (order by changed.version, changed.id, changed.deleted_at nulls first) as place
      from (
        (
          select p.change_version as version, p.id, null::timestamptz as deleted_at
          from products p
          where p.organization_id = ${organization}
            and (p.change_version, p.id) > (${from.version}::bigint, ${from.id}::uuid)
            and p.change_version < ${safe}::bigint
          order by p.change_version, p.id
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
      ) changed
      order by changed.version, changed.id, changed.deleted_at nulls first
      limit ${next}
    ),
    entries as (
      select
        c.place, c.version, c.id,
        c.deleted_at is null or p.id is null as is_shown,
        case when c.deleted_at is null and d.summary is null then p.id end as missing,
        o.names_version,
        shown.entry,
        sum(octet_length(shown.entry)) over (order by c.place) - octet_length(shown.entry) as bytes_before
      -- No page is larger: a constant limit keeps the generic plan.
      from (${found} limit 1001) c
      join organizations o on o.id = ${organization}
      -- The limit forces a look-up by primary key.
      left join lateral (
        select p.*
        from products p
        where p.organization_id = ${organization} and p.id = c.id
        limit 1
      ) p on true
      ${validDocument}
      cross join lateral (
        select '{"id":"' || c.id || '","deleted":' || (c.deleted_at is not null) || ',"updated_at":'
          || coalesce(
            to_json(${rfc3339("coalesce(c.deleted_at, p.updated_at)")})::text,
            'null'
          )
          || case when c.deleted_at is null
            then ',"product":{' || ${summary}${includedArrays(include)} || '}'
            else ''
          end
          || '}' as entry
        -- OFFSET 0 keeps the planner from computing the entry three times.
        offset 0
      ) shown
      where c.place <= ${limit}
    )
    select
      '[' || coalesce(string_agg(e.entry, ',' order by e.place) filter (where e.is_shown), '') || ']' as changes,
      (array_agg(e.version::text order by e.place desc))[1] as version,
      (array_agg(e.id order by e.place desc))[1] as id,
      coalesce(max(e.place), 0) < (select count(*) from positions) as more,
      string_agg(e.missing::text, ',') as missing,
      bool_and(e.names_version is not null) as is_storable
    from entries e
    where coalesce(e.bytes_before, 0) < ${MAX_BYTES}
  `;
}
