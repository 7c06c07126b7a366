import type { Cursor } from "../schema.ts";
import { ApiError, unavailable, withHint } from "../../../schema/errors.ts";
import { organization, sql } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { isOrigin } from "../../../db/origin.ts";
import { DAY_MS, DELETION_DAYS } from "../../../db/times.ts";
import { NIL_UUID } from "../../../db/uuid.ts";

/*
 * The feed of changes after a cursor, in the order of their versions. A version is the id of the
 * transaction that wrote the change. Transactions do not commit in the order of their ids, so the
 * feed ends at a horizon, below which all transactions have ended.
 *
 * For example, while transaction 7 runs, the change of transaction 8 is not listed: a client that
 * had received it would miss that of 7.
 */

/**
 * The days for which a cursor is valid: a week less than deletions are kept, since a long
 * transaction may have delayed the feed.
 */
const CURSOR_DAYS = DELETION_DAYS - 7;

/** A page of changes. */
export interface FeedPage {
  /** The version and id of its last change, or null for an empty page. */
  version: string | null;
  id: string | null;
  more: boolean;
}

/** The queries that read changes. An export makes them in one transaction. */
export type FeedQueries = Pick<Queries, "lookUp" | "scan" | "inBackground">;

/** The changes that a page may list: those after `from` and below the horizon `safe`. */
export interface FeedRange {
  from: Cursor;
  safe: string;
}

/** The feed after a cursor. */
export interface Feed {
  range: FeedRange;
  /** Returns the cursor for the next page. */
  cursorAfter(page: FeedPage): Cursor;
}

/**
 * Reads the page after a cursor, and returns it with the cursor of the next page. Throws as
 * `openFeed` does.
 */
export async function readChanges<P extends FeedPage>(
  database: Pick<FeedQueries, "lookUp">,
  after: Cursor | undefined,
  read: (range: FeedRange) => Promise<P>,
  recipient?: string,
): Promise<P & { cursor: Cursor }> {
  const { range, cursorAfter } = await openFeed(database, after, recipient);
  const page = await read(range);
  return { ...page, cursor: cursorAfter(page) };
}

/**
 * Opens the feed after a cursor, of all products or of a recipient. Throws `CURSOR_EXPIRED` if the
 * client must start over.
 */
export async function openFeed(
  database: Pick<FeedQueries, "lookUp">,
  after: Cursor | undefined,
  recipient?: string,
): Promise<Feed> {
  const [state] = await database.lookUp(FEED_STATE);
  if (!state!.is_origin) {
    throw unavailable(
      "The feed is not available until the operator has migrated the copied database",
    );
  }
  const from = after ?? await firstCursor(database, state!, recipient);
  checkCursor(from, state!, recipient);
  return {
    range: { from, safe: state!.safe },
    cursorAfter: ({ version, id, more }) => ({
      ...from,
      ...version && id && { version, id },
      timeline: state!.is_replicated ? 0 : state!.timeline,
      start: startBelow(state!.safe, from.start),
      // Deletions since the first page count until the client has read the last one.
      issuedAt: more ? from.issuedAt : Date.now(),
    }),
  };
}

/** The state of the database that cursors are checked against. */
interface FeedState {
  /** The id of the origin of the versions. A restored copy of the database starts another. */
  origin: string;
  owner: string;
  /** False in a copy of the database before `deno task migrate`. */
  is_origin: boolean;
  /** The horizon: every transaction below this version has ended. */
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

/** The horizon of origin `o`: every transaction below this version has ended. */
export const horizon = sql`(o.base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text`;

const FEED_STATE = sql<FeedState>`
  select
    o.id as origin,
    ${organization}::uuid as owner,
    ${isOrigin} as is_origin,
    ${horizon} as safe,
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
  database: Pick<FeedQueries, "lookUp">,
  { origin, owner, safe }: FeedState,
  recipient: string | undefined,
): Promise<Cursor> {
  const ofRecipient = recipient
    ? sql`(
        select max(m.change_version)
        from recipient_products m
        where m.organization_id = ${organization} and m.recipient_id = ${recipient}
          and m.change_version > 0 and m.change_version < ${safe}::bigint
      ),
      (
        select r.refreshed_version
        from recipients r
        where r.organization_id = ${organization} and r.id = ${recipient}
          and r.refreshed_version < ${safe}::bigint
      ),`
    : [];
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
      ${ofRecipient}
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
    ...recipient && { recipient },
  };
}

/** Keeps `start` below the horizon: a replica may lag and still have products deleted before `start`. */
function startBelow(safe: string, start: string): string {
  return BigInt(start) < BigInt(safe) ? start : String(BigInt(safe) - 1n);
}

function checkCursor(
  cursor: Cursor,
  { origin, owner, safe, is_replica, timeline }: FeedState,
  recipient: string | undefined,
) {
  const age = Date.now() - cursor.issuedAt;
  // A cursor ahead of the primary was issued before a restore.
  const isAhead = BigInt(cursor.version) >= BigInt(safe) && !is_replica;
  // An asynchronous failover may have lost changes that the client has received. A
  // replica learns of a new timeline late.
  const isOvertaken = cursor.timeline > 0 && cursor.timeline < timeline;
  if (
    cursor.origin === origin && cursor.organization === owner && cursor.recipient === recipient &&
    age <= CURSOR_DAYS * DAY_MS && !isAhead && !isOvertaken
  ) return;
  throw new ApiError(
    "CURSOR_EXPIRED",
    withHint(
      `The cursor is older than ${CURSOR_DAYS} days, belongs to another database, organization or recipient, or was issued before a failover that may have lost changes`,
      "start over with an empty copy, without the parameter after",
    ),
  );
}
