import type { ChangesQuery, Cursor } from "../../schema/changes_query.ts";
import { ApiError, unavailable } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { readPage } from "./documents.ts";
import { pageOf } from "./feed_page.ts";

/*
 * What has changed since a cursor, in the order of versions. A version is the id
 * of the transaction that wrote it, so changes become visible in another order:
 * only those are given out that lie below every transaction still running.
 */

/** For how many days a cursor is good. */
export const RETENTION_DAYS = 30;

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
  const { changes, version, id, more } = await readPage(
    database,
    (summary) => pageOf(range, summary),
  );
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
  owner: string;
  is_origin: boolean;
  safe: string;
  is_replica: boolean;
}

const HORIZON = sql<Horizon>`
  select
    o.id as origin,
    ${organization}::uuid as owner,
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
  };
}

/** A replica may show products that the start has seen deleted: it has not come so far. */
function earlier(start: string, safe: string): string {
  return BigInt(start) < BigInt(safe) ? start : String(BigInt(safe) - 1n);
}

function checkCursor(
  cursor: Cursor,
  { origin, owner, safe, is_replica }: Horizon,
) {
  const age = Date.now() - cursor.issuedAt;
  // On the primary, a cursor that is ahead comes from before a restore.
  const isAhead = BigInt(cursor.version) >= BigInt(safe) && !is_replica;
  if (
    cursor.origin === origin && cursor.organization === owner &&
    age <= RETENTION_DAYS * 86_400_000 && !isAhead
  ) return;
  throw new ApiError(
    "CURSOR_EXPIRED",
    `The cursor is older than ${RETENTION_DAYS} days, or of another database or organization: begin again, with an empty copy and without the parameter after`,
  );
}
