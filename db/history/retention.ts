import { organization, sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Database, Queries } from "../database.ts";
import { DELETION_DAYS } from "../products/feed.ts";
import { MAX_UUID } from "../uuid.ts";

/*
 * Deletes versions that are due. A version is shown until the next one is made, so it is due
 * when the next one is older than `HISTORY_DAYS`, or when a thousand newer ones are kept. All
 * versions of a deleted product are due when its deletion is older than that and has left the feed.
 *
 * A round walks the versions that have become old or were made since the last one, in the
 * order of their times: a few in a transaction, in one process at a time. No writer waits: it
 * inserts versions, and changes the newest alone.
 */

/** The most versions that are kept of a product. */
const MAX_VERSIONS = 1_000;

/** The versions that a batch looks at, which takes some 10 ms. */
const VERSIONS_AT_ONCE = 500;

const INTERVAL_MS = 5_000;

/** The time limit of a batch. */
const LIMIT_MS = 60_000;

/** The walk begins again after this: a long transaction commits versions with an older time. */
const WALK_MS = 3_600_000;

/** A place in the walk of an organization: after the version of this product at this time. */
interface WalkPlace {
  at: string;
  id: string;
}

/** The times up to which rounds have walked. */
export interface Walked {
  /** Of versions that are old. */
  old: string;
  /** Of all. */
  made: string;
}

/** A walk over versions after a time, up to another one. */
interface Walk {
  after: string;
  end: string;
  /** Deletes what is due of the products whose versions are in a part of the walk. */
  remove: (versions: Statement) => Statement;
}

/** Deletes what is due every `INTERVAL_MS`. Returns the function that stops it. */
export function keepDeletingOldVersions(
  database: Database,
  days: number,
  onError: (error: unknown) => void,
): () => void {
  let isWorking = false;
  let walked = notWalked();
  let beganAt = performance.now();
  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    try {
      if (performance.now() - beganAt > WALK_MS) {
        beganAt = performance.now();
        walked = notWalked();
      }
      walked = await deleteDue(database, days, walked);
    } catch (error) {
      onError(error);
    }
    isWorking = false;
  }
  const timer = setInterval(work, INTERVAL_MS);
  return () => clearInterval(timer);
}

/**
 * Deletes what is due. Returns how far it has walked: no further than before if another process
 * deletes.
 */
export async function deleteDue(
  database: Database,
  days: number,
  { old, made }: Walked,
): Promise<Walked> {
  const [now] = await queriesFor(database).lookUp(sql<
    { is_distributed: boolean; old: string; gone: string; made: string }
  >`
    select
      to_regtype('product_json') is not null as is_distributed,
      (now() - interval '1 second' - make_interval(days => ${days}::int))::text as old,
      (now() - make_interval(days => greatest(${days}::int, ${DELETION_DAYS}::int)))::text as gone,
      now()::text as made
  `);
  if (now!.is_distributed) return { old, made };
  const isFree =
    await walkVersions(database, { after: old, end: now!.old, remove: removeBefore }) &&
    await walkVersions(database, { after: made, end: now!.made, remove: removeSurplus });
  if (!isFree) return { old, made };
  await removeDeleted(database, now!.gone);
  return { old: now!.old, made: now!.made };
}

/**
 * Where the walks of a process begin. A product with too many versions is found at its next
 * change.
 */
export function notWalked(): Walked {
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
    let place: WalkPlace | undefined = { at: after, id: MAX_UUID };
    while (place) {
      const batch = await walkBatch(queriesFor(database, id), place, end, remove);
      if (!batch.isFree) return false;
      place = batch.last;
    }
  }
  return true;
}

/**
 * Deletes what is due in the next batch of a walk. Returns the place of its last version, if
 * there was one, and whether no other process deletes.
 */
async function walkBatch(
  queries: Queries,
  from: WalkPlace,
  end: string,
  remove: Walk["remove"],
): Promise<{ isFree: boolean; last?: WalkPlace }> {
  return await queries.transaction(async (tx) => {
    const [[lock], [last]] = await tx.send(LOCK, endOfBatch(from, end));
    const isFree = lock!.is_free;
    if (!isFree || !last) {
      await tx.commit();
      return { isFree };
    }
    await tx.commit(unprepared(remove(walkedBetween(from, last))));
    return { isFree, last };
  });
}

/** Taken by the process that deletes, until its transaction ends. */
const LOCK = sql<{ is_free: boolean }>`
  select pg_try_advisory_xact_lock(hashtextextended('history', 0)) as is_free
`;

/** The last version of a batch. */
function endOfBatch(from: WalkPlace, end: string): Statement<WalkPlace> {
  return sql`
    select d.changed_at::text as at, d.product_id as id
    from (
      select d.changed_at, d.product_id
      from product_documents d
      where d.organization_id = ${organization}
        and (d.changed_at, d.product_id) > (${from.at}::timestamptz, ${from.id}::uuid)
        and d.changed_at <= ${end}::timestamptz
      order by d.changed_at, d.product_id
      limit ${VERSIONS_AT_ONCE}
    ) d
    order by d.changed_at desc, d.product_id desc
    limit 1
  `;
}

/** The versions between two places, the latter included. */
function walkedBetween(from: WalkPlace, last: WalkPlace): Statement {
  return sql`
    select s.product_id, max(s.change_version) as change_version
    from product_documents s
    where s.organization_id = ${organization}
      and (s.changed_at, s.product_id) > (${from.at}::timestamptz, ${from.id}::uuid)
      and (s.changed_at, s.product_id) <= (${last.at}::timestamptz, ${last.id}::uuid)
      and s.event <> 'deleted'
    group by s.product_id
  `;
}

/** Deletes all but the newest versions of these products. */
function removeSurplus(versions: Statement): Statement {
  return removeBefore(sql`
    select s.product_id, n.change_version
    from (${versions}) s
    cross join lateral (
      select n.change_version
      from product_documents n
      where n.organization_id = ${organization} and n.product_id = s.product_id
      order by n.change_version desc
      limit 1 offset ${MAX_VERSIONS - 1}
    ) n
  `);
}

/**
 * Deletes the versions of products before these. Their places are found by primary key first:
 * a join could scan the whole table, whose older versions nobody changes.
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
  const isDue = sql`
    d.event = 'deleted' and d.changed_at < ${end}::timestamptz
    and not exists (
      select from product_documents n
      where n.organization_id = d.organization_id and n.product_id = d.product_id
        and n.change_version > d.change_version
    )
  `;
  const organizations = await queriesFor(database).scan(sql<{ id: string }>`
    select o.id
    from organizations o
    where exists (select from product_documents d where d.organization_id = o.id and ${isDue})
  `);
  for (const { id } of organizations) {
    let count: number;
    do {
      [{ count }] = await queriesFor(database, id).write(unprepared(sql`
        delete from product_documents x
        where x.organization_id = ${organization} and (${LOCK}) and x.product_id in (
          select d.product_id
          from product_documents d
          where d.organization_id = ${organization} and ${isDue}
          order by d.changed_at
          limit 10
        )
      `));
    } while (count > 0);
  }
}

function queriesFor(database: Database, organizationId?: string): Queries {
  return database.for({
    deadline: performance.now() + LIMIT_MS,
    caller: organizationId ? { organizationId, name: "history" } : undefined,
  });
}
