import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { ApiError, unavailable } from "../../schema/errors.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { isOrigin } from "../origin.ts";
import { rfc3339 } from "../times.ts";
import { NIL_UUID } from "../uuid.ts";
import { validDocument } from "./document.ts";
import { tooLarge } from "./errors.ts";
import { documentsFirst, includedArrays, type ProductsRow, type Source } from "./pages.ts";

/*
 * The changes since a cursor, in the order of their versions. A version is the id
 * of the transaction that wrote the change, and transactions do not commit in the
 * order of their ids. So only versions below every running transaction are listed.
 */

const RETENTION_DAYS = 30;

/** A page of changes. */
export interface Page {
  /** The version and id of its last change, or null for an empty page. */
  version: string | null;
  id: string | null;
  more: boolean;
}

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
    if (changes === null) throw tooLarge(id!, too_long!);
    return { ...page, changes };
  });
}

/** The queries that read changes. An export makes them in one transaction. */
export type Reads = Pick<Queries, "lookUp" | "scan" | "inBackground">;

/** The changes that a page may list: those after `from` and below version `safe`. */
export interface Range {
  from: Cursor;
  safe: string;
}

/** The feed after a cursor. */
export interface Feed {
  range: Range;
  /** The cursor of what follows a page. */
  cursorAfter(page: Page): Cursor;
}

/**
 * Reads the page after a cursor, and returns it with the cursor of the next page. Throws as
 * `openFeed` does.
 */
export async function readChanges<P extends Page>(
  database: Pick<Reads, "lookUp">,
  after: Cursor | undefined,
  read: (range: Range) => Promise<P>,
): Promise<P & { cursor: Cursor }> {
  const { range, cursorAfter } = await openFeed(database, after);
  const page = await read(range);
  return { ...page, cursor: cursorAfter(page) };
}

/** Opens the feed after a cursor. Throws `CURSOR_EXPIRED` if the client must start over. */
export async function openFeed(
  database: Pick<Reads, "lookUp">,
  after: Cursor | undefined,
): Promise<Feed> {
  const [horizon] = await database.lookUp(HORIZON);
  if (!horizon!.is_origin) {
    throw unavailable(
      "The feed is not available until the operator has migrated the copied database",
    );
  }
  const from = after ?? await firstCursor(database, horizon!);
  checkCursor(from, horizon!);
  return {
    range: { from, safe: horizon!.safe },
    cursorAfter: ({ version, id, more }) => ({
      ...from,
      ...version && id && { version, id },
      timeline: horizon!.is_replicated ? 0 : horizon!.timeline,
      start: startBelow(horizon!.safe, from.start),
      // A cursor is good for as long as deletions are kept. Those since the first page count
      // until the client has read the last one.
      issuedAt: more ? from.issuedAt : Date.now(),
    }),
  };
}

/** The state of the database that cursors are checked against. */
interface Horizon {
  /** The id of the origin of the versions. A restored copy of the database starts another. */
  origin: string;
  owner: string;
  /** False in a copy of the database before `deno task migrate`. */
  is_origin: boolean;
  /** Every transaction below this version has ended. */
  safe: string;
  is_replica: boolean;
  /** The timeline of the server's WAL. The promotion of a standby starts a new one. */
  timeline: number;
  /** Whether every visible transaction is on a synchronous standby. */
  is_replicated: boolean;
}

/** The timeline of the server's WAL. */
export const timeline = sql`
  case
    when pg_is_in_recovery() then (select c.timeline_id from pg_control_checkpoint() c)
    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
  end
`;

const HORIZON = sql<Horizon>`
  select
    o.id as origin,
    ${organization}::uuid as owner,
    ${isOrigin} as is_origin,
    (o.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text as safe,
    pg_is_in_recovery() as is_replica,
    ${timeline} as timeline,
    not pg_is_in_recovery()
      and current_setting('synchronous_standby_names') <> ''
      and current_setting('synchronous_commit') not in ('off', 'local') as is_replicated
  from change_origins o
`;

/**
 * The cursor of a client without products. It skips deletions up to the newest
 * change. It does not skip up to the horizon: after a crash, new transactions may
 * get the ids of transactions that were rolled back.
 */
async function firstCursor(
  database: Pick<Reads, "lookUp">,
  { origin, owner, safe }: Horizon,
): Promise<Cursor> {
  const [newest] = await database.lookUp(sql<{ version: string }>`
    select greatest(
      (
        select max(c.change_version)
        from product_changes c
        where c.organization_id = ${organization} and c.change_version < ${safe}::bigint
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
    id: NIL_UUID,
    start: newest!.version,
    issuedAt: Date.now(),
    organization: owner,
    timeline: 0,
  };
}

/** Keeps `start` below the horizon: a replica may lag and still have products deleted before `start`. */
function startBelow(safe: string, start: string): string {
  return BigInt(start) < BigInt(safe) ? start : String(BigInt(safe) - 1n);
}

function checkCursor(
  cursor: Cursor,
  { origin, owner, safe, is_replica, timeline }: Horizon,
) {
  const age = Date.now() - cursor.issuedAt;
  // A cursor ahead of the primary was issued before a restore.
  const isAhead = BigInt(cursor.version) >= BigInt(safe) && !is_replica;
  // An asynchronous failover may have lost changes that the client has received. A
  // replica learns of a new timeline late.
  const isOvertaken = cursor.timeline > 0 && cursor.timeline < timeline;
  if (
    cursor.origin === origin && cursor.organization === owner &&
    age <= RETENTION_DAYS * 86_400_000 && !isAhead && !isOvertaken
  ) return;
  throw new ApiError(
    "CURSOR_EXPIRED",
    `The cursor is older than ${RETENTION_DAYS} days, belongs to another database or organization, or was issued before a failover that may have lost changes: start over with an empty copy, without the parameter after`,
  );
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

interface ChangesRow extends ProductsRow, Page {
  /** Null if the first product is larger than a page. */
  changes: string | null;
}

/** The size at which a page ends, in bytes. The service stores no larger product. */
export const PAGE_BYTES = 4 * 2 ** 20;

const pageBytes = raw(String(PAGE_BYTES));

/** The largest product that a page has, alone: SQL may have stored it. */
const entryBytes = raw(String(4 * PAGE_BYTES));

/**
 * A page of changes, with the summaries of a source. It omits the deletion of a product
 * that exists again: the later transaction may have the lower id. It ends before the
 * product that would exceed its size. If that is the first, the page is too long.
 */
function changesPage(
  { limit, include, ...range }: Range & Pick<ChangesQuery, "limit" | "include">,
  { summary }: Source,
): Statement<ChangesRow> {
  const found = include.size === 0 ? sql`select * from positions` : smallPositions(detailsSize);
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
 * The positions up to the product that would exceed a page, with this size of product
 * `c`, or the first one. Building the arrays of large products takes seconds.
 */
export function smallPositions(size: Statement): Statement {
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

/**
 * The places of the next changes, one more than `limit`. It merges an index range of
 * changed products with one of deletions. `others` select more positions in their order.
 */
export function positionsOf(
  { from, safe }: Range,
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
