import { organization, sql, type Statement } from "../connections/sql.ts";
import { isOrigin } from "../origin.ts";
import { timeline } from "../products/changes.ts";
import { BACK_OFF_AFTER } from "./webhook.ts";

/* What webhooks have to send. In these fragments, `w` is a webhook, `d` a delivery, `b` a backlog. */

/** Messages of a webhook that are sent at once. After a failure, it is one. */
export const MAX_IN_FLIGHT = 8;

/** A larger backlog of the feed is not counted. */
const MAX_BEHIND = 1_000;

/** The organization of the caller, or an expression for that of each webhook. */
type Owner = typeof organization | Statement;

/** Whether a message is not being sent. */
export const isFree = sql`(d.sent_until is null or d.sent_until < now())`;

/** Whether a message is due. A webhook that backs off sends any message after its pause. */
export const isDue = sql`(
  d.status = 'waiting' and ${isFree}
  and (d.next_attempt_at <= now() or w.failures >= ${BACK_OFF_AFTER})
)`;

/** The time up to which the messages of webhook `w` are due: the same rule for an index. */
const dueAt =
  sql`case when w.failures >= ${BACK_OFF_AFTER} then 'infinity' else now() end`;

/** Whether a message is about a product, and no attempt has ended. */
export const isUntried = sql`(d.attempts = 0 and d.product_id is not null)`;

/** The messages of a webhook that have not arrived. */
export interface Backlog {
  /** Those that wait for a retry. */
  waiting: number;
  /** Those about products of which no attempt has ended. Callers see them as entries of the feed. */
  untried: number;
  due: number;
  sent: number;
  /** The products of the messages that are being sent. */
  sent_products: (string | null)[];
  /** Whether one of the messages moves the cursor. Until it has arrived, the feed is not read. */
  waits_for_cursor: boolean;
}

/** Selects the backlog of webhook `w`. */
export function backlog(owner: Owner = organization): Statement<Backlog> {
  return sql`
    select
      (count(*) filter (where not ${isUntried}))::int as waiting,
      (count(*) filter (where ${isUntried}))::int as untried,
      (count(*) filter (where ${isDue}))::int as due,
      (count(*) filter (where not ${isFree}))::int as sent,
      coalesce(json_agg(d.product_id) filter (where not ${isFree}), '[]') as sent_products,
      count(d.next_cursor) > 0 as waits_for_cursor
    from webhook_deliveries d
    where d.organization_id = ${owner} and d.webhook_id = w.id and d.status = 'waiting'
  `;
}

/** Selects the backlog of one webhook. */
export function backlogOf(id: string): Statement<Backlog> {
  return sql`
    select b.*
    from webhooks w
    cross join lateral (${backlog()}) b
    where w.organization_id = ${organization} and w.id = ${id}
  `;
}

/** The number of changes that webhook `w`, with backlog `b`, has not sent. `MAX_BEHIND` is "or more". */
export function behind(owner: Owner = organization): Statement {
  const entries = entriesAfter(MAX_BEHIND, owner);
  return sql`least((select count(*) from (${entries}) entries) + b.untried, ${MAX_BEHIND})::int`;
}

/** Entries of the feed after the cursor of webhook `w`, about this many at most. */
function entriesAfter(limit: number, owner: Owner): Statement {
  const isNew = sql`
    (c.change_version, c.product_id)
      > ((w.cursor ->> 'version')::bigint, (w.cursor ->> 'id')::uuid)
  `;
  return sql`
    (
      select c.product_id
      from product_changes c
      where c.organization_id = ${owner} and ${isNew}
      limit ${limit}
    )
    union all
    (
      select c.product_id
      from product_deletions c
      where c.organization_id = ${owner} and ${isNew}
        and c.change_version > (w.cursor ->> 'start')::bigint
      limit ${limit}
    )
  `;
}

/** The webhooks of all organizations that have something to send. */
export interface Work {
  enabled: number;
  ready: { organization_id: string; id: string }[];
}

/**
 * Finds work for a process, in random order, so that no webhook is last each time. It reads
 * what is being sent and the next message of each webhook, not all that wait. Only a
 * webhook that has nothing due, and changes in the feed, is asked whether `waitingMax`
 * messages wait.
 */
export function findWork(limit: number, waitingMax: number): Statement<Work> {
  const owner = sql`w.organization_id`;
  const messages = sql`
    from webhook_deliveries d
    where d.organization_id = ${owner} and d.webhook_id = w.id
  `;
  return sql`
    select
      (select count(*) from webhooks w where w.enabled)::int as enabled,
      (
        select coalesce(json_agg(row_to_json(r)), '[]')
        from (
          select w.organization_id, w.id
          from webhooks w
          where w.enabled
            and coalesce(greatest(w.resumes_at, w.paused_until) <= now(), true)
            -- A restored dump must not call the receivers of the original.
            and exists (select from change_origins o where ${isOrigin})
            and (select count(*) ${messages} and d.sent_until >= now())
              < case when w.failures > 0 then 1 else ${MAX_IN_FLIGHT}::int end
            and (
              coalesce(
                (select min(d.next_attempt_at) ${messages} and d.status = 'waiting' and ${isFree}) <= ${dueAt},
                false
              )
              or (exists (${entriesAfter(1, owner)}) or ${isOutdated})
                and not exists (select ${messages} and d.status = 'waiting' and d.next_cursor is not null)
                and (
                  select d.id ${messages} and d.status = 'waiting'
                  order by d.next_attempt_at
                  offset ${waitingMax - 1}
                  limit 1
                ) is null
            )
          order by random()
          limit ${limit}
        ) r
      ) as ready
  `;
}

/** Whether the cursor of webhook `w` is renewed: daily, before it expires, and after a restore or a failover. */
const isOutdated = sql`(
  (w.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000
  or (w.cursor ->> 'origin')::uuid <> (select o.id from change_origins o where ${isOrigin})
  or (w.cursor ->> 'timeline')::bigint between 1 and ${timeline} - 1
)`;
