import { organization, raw, sql, type Statement, unprepared } from "../../../db/connections/sql.ts";
import { type Activity, repeat, type Repeated } from "../../../db/background.ts";
import type { Database, Queries } from "../../../db/database.ts";
import { sizeOfDocument } from "../../../db/products/documents/document.ts";
import { endOfPiece, positionOf, type VersionPosition } from "./pieces.ts";
import { DELETION_DAYS } from "../../../db/times.ts";
import { MAX_UUID } from "../../../db/uuid.ts";
import { MAX_VERSIONS_BYTES, RETENTION_BYTES } from "../../../db/sizes.ts";

/*
 * Deletes old versions. A version is shown until the next one is made. So it is due in three cases:
 * the next one is older than `HISTORY_DAYS`, a thousand newer ones are kept, or it and newer ones
 * take more than 64 MiB. All versions of a deleted product are due when its deletion is older than
 * `HISTORY_DAYS` and has left the feed.
 *
 * A round walks the versions that have become old or were made since the last round, in the order
 * of their times. It handles up to 500 per transaction, in one process at a time. No writer waits:
 * writers insert versions, and change only the newest.
 *
 * A clock that is ahead for a moment must not empty the history. So due versions are found by a
 * time that advances at most `MAX_SPEED` times as fast as the process runs. It is stored every
 * hour, and a process that starts continues from there.
 */

/** The maximum number of versions kept per product. */
const MAX_VERSIONS = 1_000;

/** The number of versions that a piece has, which takes some 10 ms. */
const VERSIONS_AT_ONCE = 500;

const INTERVAL_MS = 5_000;

/** The time limit of a piece. */
const LIMIT_MS = 60_000;

/**
 * The interval after which the walk begins again, since a long transaction commits versions with an
 * older time.
 */
const WALK_MS = 3_600_000;

/** How much faster than the process the time of retention may run: a service that was stopped for a month needs a day. */
const MAX_SPEED = 24;

/** How far the rounds have come. */
export interface RetentionProgress {
  /** The time up to which they have looked at old versions. */
  old: string;
  /** The time up to which they have looked at all versions. */
  made: string;
  /**
   * The time by which due versions are found, and when the last round began. Absent before the
   * first one.
   */
  clock?: { at: string; readAt: number } | undefined;
}

/** A walk over versions after a time, up to another one. */
interface Walk {
  after: string;
  end: string;
  /** Deletes the due versions of the products in a piece of the walk. */
  remove: (versions: Statement) => Statement;
}

/** Deletes due versions every `INTERVAL_MS`. */
export function keepDeletingOldVersions(
  database: Database,
  days: number,
  activity: Activity,
  onError: (error: unknown) => void,
): Repeated {
  let progress = initialProgress();
  let beganAt = performance.now();
  async function work(): Promise<void> {
    if (performance.now() - beganAt > WALK_MS) {
      beganAt = performance.now();
      progress = { ...initialProgress(), clock: progress.clock };
    }
    progress = await deleteDue(database, days, progress);
  }
  return repeat(work, { everyMs: INTERVAL_MS, activity, onError });
}

/** Deletes due versions. Returns the progress, which stays the same if another process deletes. */
export async function deleteDue(
  database: Database,
  days: number,
  { old, made, clock }: RetentionProgress,
): Promise<RetentionProgress> {
  const readAt = performance.now();
  const seconds = clock ? MAX_SPEED * (readAt - clock.readAt) / 1_000 : 0;
  const [stored] = await queriesFor(database).lookUp(storedClock);
  const [now] = await queriesFor(database).lookUp(sql<
    { at: string; old: string; gone: string; now: string; made: string }
  >`
    select
      t.at::text as at,
      (t.at - interval '1 second' - make_interval(days => ${days}::int))::text as old,
      (t.at - make_interval(days => greatest(${days}::int, ${DELETION_DAYS}::int)))::text as gone,
      now()::text as now,
      ${committedUntil}::text as made
    from (
      select least(
        now(),
        ${clock?.at ?? stored?.at ?? null}::timestamptz + make_interval(secs => ${seconds}::float8)
      ) as at
    ) t
  `);
  const next = { at: now!.at, readAt };
  const isFirst = old === "-infinity";
  if (isFirst) await queriesFor(database).write(storeClock(now!.at));
  // After a clock that was ahead, versions are dated later than now.
  const end = isFirst ? "infinity" : now!.now;
  const isFree =
    await walkVersions(database, { after: old, end: now!.old, remove: removeBefore }) &&
    await walkVersions(database, { after: made, end, remove: removeSurplus });
  if (!isFree) return { old, made, clock: next };
  await removeDeleted(database, now!.gone);
  return { old: now!.old, made: now!.made, clock: next };
}

/**
 * The time up to which all versions are committed. Versions have the time when their transaction
 * began, so the next round walks again from the oldest running transaction, for at most a minute.
 */
const committedUntil = sql`(
  select greatest(
    now() - interval '1 minute',
    least(now(), min(s.xact_start)) - interval '1 second'
  )
  from pg_stat_activity s
  where s.datname = current_database() and s.backend_type = 'client backend'
)`;

/** Apart from `pg_stat_activity`: Citus would let only superusers join that to a table. */
const storedClock = sql<{ at: string }>`select c.at::text as at from history_clock c`;

function storeClock(at: string): Statement {
  return sql`
    insert into history_clock as c (at)
    values (${at}::timestamptz)
    on conflict (one) do update set at = excluded.at
  `;
}

/**
 * Returns the start of the walks of a process. A product with too many versions is found at its
 * next change.
 */
export function initialProgress(): RetentionProgress {
  return {
    old: "-infinity",
    made: new Date(Date.now() - WALK_MS).toISOString(),
  };
}

/** Walks the versions of all organizations. Returns false if another process deletes. */
async function walkVersions(
  database: Database,
  { after, end, remove }: Walk,
): Promise<boolean> {
  const organizations = await queriesFor(database).scan(sql<{ id: string }>`
    select o.id
    from organizations o
    where exists (
      select from product_documents d
      where d.organization_id = o.id and d.changed_at > ${after}::timestamptz
        and d.changed_at <= ${end}::timestamptz
    )
  `);
  for (const { id } of organizations) {
    // A walk begins after all versions of its time.
    let position: VersionPosition | undefined = { at: after, id: MAX_UUID };
    while (position) {
      const piece = await walkPiece(queriesFor(database, id), position, end, remove);
      if (!piece.isFree) return false;
      position = piece.last;
    }
  }
  return true;
}

/**
 * Deletes due versions in the next piece of a walk. Returns the position of its last version, if
 * there was one, and whether no other process deletes.
 */
async function walkPiece(
  queries: Queries,
  from: VersionPosition,
  end: string,
  remove: Walk["remove"],
): Promise<{ isFree: boolean; last?: VersionPosition }> {
  return await queries.transaction(async (tx) => {
    const [[lock], [last]] = await tx.send(LOCK, endOfWalked(from, end));
    const isFree = lock!.is_free;
    if (!isFree || !last) {
      await tx.commit();
      return { isFree };
    }
    await tx.commit(unprepared(remove(walkedBetween(from, last))));
    return { isFree, last };
  });
}

/** The lock of the process that deletes, until its transaction ends. */
const LOCK = sql<{ is_free: boolean }>`
  select pg_try_advisory_xact_lock(hashtextextended('history', 0)) as is_free
`;

/** The last version of a piece. */
function endOfWalked(from: VersionPosition, end: string): Statement<VersionPosition> {
  return endOfPiece({
    shown: sql`d.changed_at::text as at, d.product_id as id`,
    order: sql`d.changed_at, d.product_id`,
    isNext: sql`
      (d.changed_at, d.product_id) > ${positionOf(from)}
      and d.changed_at <= ${end}::timestamptz
    `,
    maxVersions: VERSIONS_AT_ONCE,
    maxBytes: RETENTION_BYTES,
  });
}

/** The versions between two positions, the latter included. */
function walkedBetween(from: VersionPosition, last: VersionPosition): Statement {
  return sql`
    select s.product_id, max(s.change_version) as change_version
    from product_documents s
    where s.organization_id = ${organization}
      and (s.changed_at, s.product_id) > ${positionOf(from)}
      and (s.changed_at, s.product_id) <= ${positionOf(last)}
      and s.event <> 'deleted'
    group by s.product_id
  `;
}

/** Deletes all but the newest versions of these products. */
function removeSurplus(versions: Statement): Statement {
  return removeBefore(sql`
    select s.product_id, min(n.change_version) as change_version
    from (${versions}) s
    cross join lateral (
      select d.change_version, sum(${sizeOfDocument}) over (order by d.change_version desc) as bytes
      from (
        select d.change_version, d.summary, d.details
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = s.product_id
        order by d.change_version desc
        limit ${MAX_VERSIONS}
      ) d
    ) n
    where n.bytes <= ${MAX_VERSIONS_BYTES}
    group by s.product_id
  `);
}

/**
 * Deletes the versions of products before these. They are first found by primary key: a join could
 * scan the full table, whose older versions never change.
 */
function removeBefore(versions: Statement): Statement {
  return sql`
    delete from product_documents x
    where x.organization_id = ${organization} and x.ctid = any (array(
      select d.place
      from (${versions}) s
      cross join lateral (
        select d.ctid as place
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = s.product_id
          and d.change_version < s.change_version
        offset 0
      ) d
    ))
  `;
}

/** Deletes the versions of products whose deletions are due, unless another process deletes. */
async function removeDeleted(database: Database, end: string): Promise<void> {
  const isDueOf = (owner: Statement) =>
    sql`
    d.organization_id = ${owner} and d.event = 'deleted' and d.changed_at < ${end}::timestamptz
    and not exists (
      select from product_documents n
      where n.organization_id = ${owner} and n.product_id = d.product_id
        and n.change_version > d.change_version
    )
  `;
  const organizations = await queriesFor(database).scan(sql<{ id: string }>`
    select o.id
    from organizations o
    where exists (select from product_documents d where ${isDueOf(raw("o.id"))})
  `);
  for (const { id } of organizations) {
    const remove = unprepared(sql`
      delete from product_documents x
      where x.organization_id = ${organization} and x.product_id in (
        select d.product_id
        from product_documents d
        where ${isDueOf(sql`${organization}`)}
        order by d.changed_at
        limit 10
      )
    `);
    let count: number;
    do {
      count = await queriesFor(database, id).transaction(async (tx) => {
        const [[lock]] = await tx.send(LOCK);
        const [removed] = await tx.commit(...lock!.is_free ? [remove] : []);
        return removed?.count ?? 0;
      });
    } while (count > 0);
  }
}

function queriesFor(database: Database, organizationId?: string): Queries {
  return database.for({
    deadline: performance.now() + LIMIT_MS,
    caller: organizationId ? { organizationId, name: "history" } : undefined,
  });
}
