import type { Cursor } from "../../schema/changes_query.ts";
import type { DisabledReason, Event } from "../../schema/webhooks.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { timeline } from "../products/changes.ts";
import {
  announceDisabled,
  type Attempt,
  prune,
  storeAttempts,
} from "./deliveries.ts";
import {
  disable,
  type Disabled,
  END_REST,
  entriesAfter,
  notFound,
  type Secret,
  sendAll,
} from "./webhooks.ts";

/*
 * The leases of senders. A webhook is run by the sender whose lease stands in its row, until
 * then or until the sender gives it back. Whatever a sender writes is compared with it.
 */

/** Failures in a row from which a webhook rests. */
export const REST_AFTER = 5;

/** Who has a lease, and for how long after each renewal. */
export interface Lease {
  /** The id of the sender. */
  holder: string;
  seconds: number;
}

/** What attempts change in a webhook. Times are in milliseconds since 1970. */
export interface State {
  /** In a row. */
  failures: number;
  failing_since: number | null;
  resumes_at: number | null;
  last_success_at: number | null;
  disabled_reason: DisabledReason | null;
}

/** A webhook whose lease a sender has. */
export interface Leased extends State {
  id: string;
  url: string;
  description: string | null;
  events: Event[];
  secrets: Secret[];
  cursor: Cursor;
  revision: number;
  /** The number of messages that wait. */
  waiting: number;
  /** The time until the first of them is due, in milliseconds. Null if none waits. */
  due_in: number | null;
  /** Whether one of them moves the cursor. */
  waits_for_cursor: boolean;
}

function ms(column: Statement): Statement {
  return sql`(extract(epoch from ${column}) * 1000)::float8`;
}

const waiting = sql`
  from webhook_deliveries d
  where d.organization_id = ${organization} and d.webhook_id = w.id and d.status = 'waiting'
`;

/** The webhook as its sender needs it. */
function webhookToSend(id: string, condition: Statement): Statement<Leased> {
  return sql`
    select
      w.id, w.url, w.description, to_json(w.events) as events, w.secrets, w.cursor, w.revision,
      w.failures,
      ${ms(sql`w.failing_since`)} as failing_since,
      ${ms(sql`w.resumes_at`)} as resumes_at,
      ${ms(sql`w.last_success_at`)} as last_success_at,
      w.disabled_reason,
      (select count(*) ${waiting})::int as waiting,
      (
        select ${
    ms(sql`min(greatest(d.next_attempt_at, d.sent_until)) - now()`)
  } ${waiting}
      ) as due_in,
      exists (select ${waiting} and d.next_cursor is not null) as waits_for_cursor
    from webhooks w
    where w.organization_id = ${organization} and w.id = ${id} and ${condition}
  `;
}

/** The webhooks of all organizations that have something to do and no sender. */
export interface Work {
  /** The number of enabled webhooks. */
  enabled: number;
  ready: { organization_id: string; id: string }[];
}

/** Finds work, first for the webhooks that were run longest ago. */
export function findWork(limit: number, maxWaiting: number): Statement<Work> {
  const mine = sql`
    from webhook_deliveries d
    where d.organization_id = w.organization_id and d.webhook_id = w.id and d.status = 'waiting'
  `;
  return sql`
    select
      (select count(*) from webhooks w where w.enabled)::int as enabled,
      (
        select coalesce(json_agg(row_to_json(r)), '[]')
        from (
          select w.organization_id, w.id
          from webhooks w
          cross join (select o.id, ${timeline} as timeline from change_origins o) o
          where w.enabled
            and (w.leased_until is null or w.leased_until < now())
            and (w.resumes_at is null or w.resumes_at <= now())
            and (
              exists (
                select ${mine} and (d.sent_until is null or d.sent_until < now())
                  and (d.next_attempt_at <= now() or w.failures >= ${REST_AFTER})
              )
              or (
                exists (${entriesAfter(1, sql`w.organization_id`)})
                -- Nobody may lose the right to go on: a cursor is good for 30 days, in one origin and timeline.
                or (w.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000
                or (w.cursor ->> 'origin')::uuid <> o.id
                or (w.cursor ->> 'timeline')::bigint between 1 and o.timeline - 1
              )
              and not exists (select ${mine} and d.next_cursor is not null)
              and (select count(*) ${mine}) < ${maxWaiting}
              and ('feed.advanced' <> all (w.events)
                or coalesce(w.last_success_at < now() - interval '1 second', true))
            )
          order by w.leased_until nulls first
          limit ${limit}
        ) r
      ) as ready
  `;
}

const until = (seconds: number) =>
  sql`leased_until = now() + make_interval(secs => ${seconds})`;

/** Takes the lease of a webhook. Returns undefined if another sender has it, or it is disabled or gone. */
export async function takeLease(
  database: Queries,
  id: string,
  { holder, seconds }: Lease,
): Promise<Leased | undefined> {
  const [, [webhook]] = await database.write(
    sql`
      update webhooks w
      set lease_holder = ${holder}, ${until(seconds)}
      where w.organization_id = ${organization} and w.id = ${id} and w.enabled
        and (w.leased_until is null or w.leased_until < now() or w.lease_holder = ${holder})
    `,
    webhookToSend(id, sql`w.enabled and w.lease_holder = ${holder}`),
  );
  return webhook;
}

/** Gives the lease back, and the messages that were taken but not sent, and deletes old deliveries. */
export function giveBack(
  id: string,
  { holder }: Lease,
  messages: readonly string[],
): Statement[] {
  return [
    ...prune(id),
    sql`
      update webhook_deliveries d
      set sent_until = null
      where d.organization_id = ${organization} and d.webhook_id = ${id}
        and d.id = any(string_to_array(${messages.join()}, ','))
    `,
    sql`
      update webhooks w
      set leased_until = null
      where w.organization_id = ${organization} and w.id = ${id} and w.lease_holder = ${holder}
    `,
  ];
}

/** What a sender writes of its webhook. */
export interface Progress {
  attempts: readonly Attempt[];
  /** The cursor that the webhook has, and the one that it gets. */
  cursor?: { from: Cursor; to: Cursor } | undefined;
  /** Whether the receiver works again, and gets at once all that waits. */
  isBack: boolean;
  /** Whether old deliveries are deleted. */
  isPruned: boolean;
}

/**
 * Writes progress, and renews the lease. A caller's change of the webhook
 * wins over the state that the sender knew before. Returns the webhook, or undefined if it
 * has become another sender's, or is disabled or gone.
 */
export async function saveProgress(
  database: Queries,
  webhook: Leased,
  { attempts, cursor, isBack, isPruned }: Progress,
  { holder, seconds }: Lease,
): Promise<Leased | undefined> {
  const { id } = webhook;
  const own = sql`w.id = ${id} and w.lease_holder = ${holder}`;
  const results = await database.write(
    ...attempts.length > 0 ? storeResults(webhook, own, attempts, isBack) : [],
    ...isPruned ? prune(id) : [],
    ...cursor ? [moveCursor(own, cursor)] : [],
    sql`
      update webhooks w
      set ${until(seconds)}
      where w.organization_id = ${organization} and ${own}
    `,
    webhookToSend(id, sql`w.enabled and w.lease_holder = ${holder}`),
  );
  return results.at(-1)![0] as Leased | undefined;
}

/** Throws `NOT_FOUND`. */
export async function findWebhook(
  database: Queries,
  id: string,
): Promise<Leased> {
  const [webhook] = await database.scan(webhookToSend(id, sql`true`));
  if (!webhook) throw notFound(id);
  return webhook;
}

/**
 * Writes what an attempt has made of its message and its webhook, beside the sender. The
 * success of a message that moves the cursor moves it. Returns the webhook if it is
 * disabled now.
 */
export async function saveRetry(
  database: Queries,
  webhook: Leased,
  { attempt, isBack, cursor }: {
    attempt: Attempt;
    isBack: boolean;
    cursor: Cursor | null;
  },
): Promise<Disabled | undefined> {
  const { id, url, description, disabled_reason: reason } = webhook;
  const own = sql`w.id = ${id}`;
  const isMoved = cursor && attempt.status === "succeeded";
  await database.write(
    ...storeResults(webhook, own, [attempt], isBack),
    ...prune(id),
    ...isMoved ? [moveCursor(own, { from: webhook.cursor, to: cursor })] : [],
    newRevision(id, []),
  );
  return reason ? { id, url, description, reason } : undefined;
}

/** Ends the rest of a webhook: all that waits is sent at once. */
export async function endRest(database: Queries, id: string): Promise<void> {
  await database.write(newRevision(id, END_REST), sendAll(id));
}

/** Tells the sender that it must not overwrite what was written. */
function newRevision(id: string, assignments: Statement | []): Statement {
  return sql`
    update webhooks w
    set revision = w.revision + 1 ${assignments}
    where w.organization_id = ${organization} and w.id = ${id}
  `;
}

function storeResults(
  webhook: Leased,
  own: Statement,
  attempts: readonly Attempt[],
  isBack: boolean,
): Statement[] {
  const { id, url, description, disabled_reason: reason } = webhook;
  return [
    storeAttempts(own, attempts),
    ...reason ? [announceDisabled({ id, url, description, reason })] : [],
    storeState(webhook, own),
    ...isBack ? [sendAll(id)] : [],
  ];
}

/** Stores the state of a webhook, unless a caller has changed it since it was read. */
function storeState(
  { revision, ...state }: Leased,
  condition: Statement,
): Statement {
  const time = (at: number | null) =>
    sql`${at === null ? null : new Date(at).toISOString()}`;
  return sql`
    update webhooks w
    set
      failures = ${state.failures},
      failing_since = ${time(state.failing_since)},
      resumes_at = ${time(state.resumes_at)},
      last_success_at = ${time(state.last_success_at)}
      ${state.disabled_reason ? disable(state.disabled_reason) : []}
    where w.organization_id = ${organization} and ${condition} and w.revision = ${revision}
  `;
}

function moveCursor(
  own: Statement,
  { from, to }: { from: Cursor; to: Cursor },
): Statement {
  return sql`
    update webhooks w
    set cursor = ${json(to)}
    where w.organization_id = ${organization} and ${own} and w.cursor = ${
    json(from)
  }
  `;
}
