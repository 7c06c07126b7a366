import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { ApiError, unavailable } from "../../schema/errors.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { rightDocument, storeProducts } from "./documents.ts";
import { embeds } from "./list.ts";
import { core } from "./scalars_json.ts";

/*
 * What has changed since a cursor, in the order of versions. A version is the id
 * of the transaction that wrote it, so changes become visible in another order:
 * only those are given out that lie below every transaction still running.
 */

/** For how many days a cursor is good. */
export const RETENTION_DAYS = 30;

/** The largest page in bytes, unless its first product alone is larger. */
const MAX_PAGE_BYTES = 16 * 2 ** 20;

/** Some changes as a JSON array, and how to go on from there. */
export interface Changes {
  changes: string;
  cursor: Cursor;
  more: boolean;
}

/** The next changes of the organization. Throws `CURSOR_EXPIRED` where a follower must begin again. */
export async function listChanges(
  database: Operations,
  { after, limit, include }: ChangesQuery,
): Promise<Changes> {
  const [horizon] = await database.lookUp(HORIZON);
  if (!horizon!.is_origin) {
    throw unavailable("The database was copied: run deno task migrate");
  }
  const from = after ?? await beginning(database, horizon!);
  checkCursor(from, horizon!);
  const range = { from, limit, include, safe: horizon!.safe };
  let [page] = await database.scan(pageOf(range, sql`d.summary`));
  if (page!.lacking) {
    database.afterwards(storeProducts(page!.lacking.split(",")));
    [page] = await database.scan(
      pageOf(range, sql`coalesce(d.summary, ${core})`),
    );
  }
  const { changes, version, id, more } = page!;
  return {
    changes,
    more,
    cursor: {
      ...from,
      ...version && id && { version, id },
      start: earlier(from.start, horizon!.safe),
      // A follower that has not come to the end still needs the deletions since.
      issuedAt: more ? from.issuedAt : Date.now(),
    },
  };
}

/** Where versions come from, and below which one every transaction is over. */
interface Horizon {
  origin: string;
  is_origin: boolean;
  safe: string;
  is_replica: boolean;
}

const HORIZON = sql<Horizon>`
  select
    o.id as origin,
    o.place = catalogue_place() as is_origin,
    (o.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text as safe,
    pg_is_in_recovery() as is_replica
  from change_origins o
`;

/**
 * The cursor of a follower that has nothing, so deletions up to now are no news to
 * it. Not up to the horizon: transactions that were rolled back there may get their
 * ids again after a crash.
 */
async function beginning(
  database: Operations,
  { origin, safe }: Horizon,
): Promise<Cursor> {
  const [newest] = await database.lookUp(sql<{ version: string }>`
    select greatest(
      (
        select max(p.change_version)
        from products p
        where p.organization_id = ${organization} and p.change_version < ${safe}::bigint
      ),
      (
        select max(x.change_version)
        from product_deletions x
        where x.organization_id = ${organization} and x.change_version < ${safe}::bigint
      ),
      0
    )::text as version
  `);
  return {
    origin,
    version: "0",
    id: "00000000-0000-0000-0000-000000000000",
    start: newest!.version,
    issuedAt: Date.now(),
  };
}

/** A replica may show products that the start has seen deleted: it has not come so far. */
function earlier(start: string, safe: string): string {
  return BigInt(start) < BigInt(safe) ? start : String(BigInt(safe) - 1n);
}

function checkCursor(cursor: Cursor, { origin, safe, is_replica }: Horizon) {
  const age = Date.now() - cursor.issuedAt;
  // On the primary, a cursor that is ahead comes from before a restore.
  const isAhead = BigInt(cursor.version) >= BigInt(safe) && !is_replica;
  if (
    cursor.origin === origin && age <= RETENTION_DAYS * 86_400_000 && !isAhead
  ) return;
  throw new ApiError(
    "CURSOR_EXPIRED",
    `The cursor is older than ${RETENTION_DAYS} days, or of another database: begin again, with an empty copy and without the parameter after`,
  );
}

interface Range extends Pick<ChangesQuery, "limit" | "include"> {
  from: Cursor;
  safe: string;
}

interface Page {
  changes: string;
  /** The last change of the page, if there is one. */
  version: string | null;
  id: string | null;
  /** Whether there are changes behind it by now. */
  more: boolean;
  /** The products whose answers are not stored, with commas between them. */
  lacking: string | null;
}

/**
 * Products and deletions are each an index range, of which the page takes the
 * first. The deletion of a product that is there again is left out: the one
 * transaction may have the lower id and yet be the later one.
 */
function pageOf(
  { from, safe, limit, include }: Range,
  summary: Statement,
): Statement<Page> {
  const next = String(limit + 1);
  return sql<Page>`
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
        case when c.deleted_at is null and d.summary is null then p.id end as lacking,
        shown.entry,
        sum(octet_length(shown.entry)) over (order by c.place) - octet_length(shown.entry) as bytes_before
      -- No page is larger: a constant limit keeps the generic plan.
      from (select * from positions limit 1001) c
      join organizations o on o.id = ${organization}
      -- Looked up by its key whatever statistics say.
      left join lateral (
        select p.* from products p where p.organization_id = ${organization} and p.id = c.id limit 1
      ) p on true
      ${rightDocument}
      cross join lateral (
        select '{"id":"' || c.id || '","deleted":' || (c.deleted_at is not null) || ',"updated_at":'
          || to_json(to_char(
            coalesce(c.deleted_at, p.updated_at) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ))
          || case when c.deleted_at is null
            then ',"product":{' || ${summary}${embeds({ include })} || '}'
            else ''
          end
          || '}' as entry
        -- Built once, although it is read three times.
        offset 0
      ) shown
      where c.place <= ${limit}
    )
    select
      '[' || coalesce(string_agg(e.entry, ',' order by e.place) filter (where e.is_shown), '') || ']' as changes,
      (array_agg(e.version::text order by e.place desc))[1] as version,
      (array_agg(e.id order by e.place desc))[1] as id,
      coalesce(max(e.place), 0) < (select count(*) from positions) as more,
      string_agg(e.lacking::text, ',') as lacking
    from entries e
    where coalesce(e.bytes_before, 0) < ${MAX_PAGE_BYTES}
  `;
}

/** Remembers that the product is about to be deleted, and forgets a few deletions that are too old. */
export function rememberDeletion(id: string): Statement[] {
  return [
    sql`
      insert into product_deletions (organization_id, product_id)
      select p.organization_id, p.id
      from products p
      where p.organization_id = ${organization} and p.id = ${id}
      on conflict (organization_id, product_id) do update set
        change_version = excluded.change_version,
        deleted_at = excluded.deleted_at
    `,
    sql`
      delete from product_deletions x
      where x.organization_id = ${organization} and x.product_id in (
        select old.product_id
        from product_deletions old
        where old.organization_id = ${organization}
          -- A week longer than cursors are good: the feed may have waited behind a transaction.
          and old.deleted_at < now() - interval '37 days'
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
  ];
}
