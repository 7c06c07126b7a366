import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { ApiError, unavailable } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { isOrigin } from "../origin.ts";
import { pageOf } from "./feed_page.ts";
import { currentSummary, readPage, storedSummary } from "./page.ts";

/*
 * The changes since a cursor, in the order of their versions. A version is the id
 * of the transaction that wrote the change, and transactions do not commit in the
 * order of their ids. So only versions below every running transaction are listed.
 */

/** The lifetime of a cursor, in days. */
const RETENTION_DAYS = 30;

/** A page of changes as a JSON array. */
export interface Changes {
  changes: string;
  /** The cursor of the next page. */
  cursor: Cursor;
  /** Whether the next page already has changes. */
  more: boolean;
}

/** Returns the next changes of the organization. Throws `CURSOR_EXPIRED` if the client must start over. */
export async function listChanges(
  database: Queries,
  { after, limit, include }: ChangesQuery,
): Promise<Changes> {
  const [horizon] = await database.lookUp(HORIZON);
  if (!horizon!.is_origin) {
    throw unavailable(
      "The feed is not available until the operator has migrated the copied database",
    );
  }
  const from = after ?? await firstCursor(database, horizon!);
  checkCursor(from, horizon!);
  const range = { from, limit, include, safe: horizon!.safe };
  const { changes, version, id, more } = await readPage(
    database,
    pageOf(range, storedSummary),
    () => pageOf(range, currentSummary),
  );
  return {
    changes,
    more,
    cursor: {
      ...from,
      ...version && id && { version, id },
      timeline: horizon!.is_replicated ? 0 : horizon!.timeline,
      start: startBelow(horizon!.safe, from.start),
      // Deletions since the first page must be kept until the client reaches the end.
      issuedAt: more ? from.issuedAt : Date.now(),
    },
  };
}

/** The state of the database that cursors are checked against. */
interface Horizon {
  /** The id of the origin of the versions. A restored copy of the database starts another. */
  origin: string;
  /** The organization. */
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

const HORIZON = sql<Horizon>`
  select
    o.id as origin,
    ${organization}::uuid as owner,
    ${isOrigin} as is_origin,
    (o.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text as safe,
    pg_is_in_recovery() as is_replica,
    case
      when pg_is_in_recovery() then (select c.timeline_id from pg_control_checkpoint() c)
      else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
    end as timeline,
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
  database: Queries,
  { origin, owner, safe }: Horizon,
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
