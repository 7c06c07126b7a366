import type { Cursor } from "../../schema/changes_query.ts";
import { ApiError } from "../../schema/errors.ts";
import type { DisabledReason, Event } from "../../schema/webhooks.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { timeline } from "../products/changes.ts";

/* Webhooks as their senders see them. */

/** Failures in a row from which a webhook rests: then it sends one message after each pause. */
export const REST_AFTER = 5;

/** Messages of a webhook that its sender takes before it needs them. After a failure, it takes one. */
const MAX_TAKEN = 32;

/** A larger backlog of the feed is not counted. */
const MAX_BEHIND = 1_000;

/** What attempts change in a webhook. Times are in milliseconds since 1970. */
export interface State {
  /** In a row. */
  failures: number;
  failing_since: number | null;
  /** Until then nothing is sent: the webhook rests, or the receiver has asked for a pause. */
  resumes_at: number | null;
  /** Until then the receiver has asked for a pause. */
  paused_until: number | null;
  last_success_at: number | null;
  /** Null while it is enabled. */
  disabled_reason: DisabledReason | null;
}

/** A key that signs messages, and until when. */
export interface Secret {
  secret: string;
  created_at: string;
  /** Null for the newest. */
  expires_at: string | null;
}

/** A webhook as its messages need it. */
export interface SendingWebhook extends State {
  id: string;
  url: string;
  description: string | null;
  events: Event[];
  secrets: Secret[];
  cursor: Cursor;
}

/** A webhook with what it has to send. */
export interface WebhookWork extends SendingWebhook {
  /** Its messages that wait for a retry. */
  waiting: number;
  /** Those about products of which no attempt has ended. Callers see them as entries of the feed. */
  untried: number;
  /** How many of them may be sent now. */
  due: number;
  /** How many may be taken now. Negative if more are being sent. */
  free: number;
  /** Whether one of them moves the cursor. Until then, the feed is not read. */
  waits_for_cursor: boolean;
}

/** The organization of the caller, or an expression for that of each webhook. */
type Owner = typeof organization | Statement;

/** Whether no process sends delivery `d` at the moment. */
export const isFree = sql`(d.sent_until is null or d.sent_until < now())`;

/** Whether delivery `d` of webhook `w` may be sent. After a pause, a webhook that rests sends any. */
export const isDue = sql`(
  d.status = 'waiting' and ${isFree}
  and (d.next_attempt_at <= now() or w.failures >= ${REST_AFTER})
)`;

/** Whether no attempt of delivery `d` has ended, which is about a product. */
export const isUntried = sql`(d.attempts = 0 and d.product_id is not null)`;

/** What webhook `w` has to send. */
export function backlog(owner: Owner = organization): Statement {
  return sql`
    select
      (count(*) filter (where not ${isUntried}))::int as waiting,
      (count(*) filter (where ${isUntried}))::int as untried,
      (count(*) filter (where ${isDue}))::int as due,
      (count(*) filter (where not ${isFree}))::int as sent,
      count(d.next_cursor) > 0 as waits_for_cursor
    from webhook_deliveries d
    where d.organization_id = ${owner} and d.webhook_id = w.id and d.status = 'waiting'
  `;
}

/**
 * How many messages of webhook `w`, with backlog `b`, a process may take. Those that are
 * being sent belong to one process, which keeps the limits.
 */
export function free(sender: string): Statement {
  return sql`(
    (
      w.enabled
      and (w.resumes_at is null or w.resumes_at <= now())
      and (b.sent = 0 or w.sender is not distinct from ${sender})
    )::int * case when w.failures > 0 then 1 else ${MAX_TAKEN}::int end - b.sent
  )`;
}

const ms = (column: string) =>
  raw(`(extract(epoch from w.${column}) * 1000)::float8 as ${column}`);

const sendingColumns = sql`
  w.id, w.url, w.description, to_json(w.events) as events, w.secrets, w.cursor, w.failures,
  ${ms("failing_since")}, ${ms("resumes_at")}, ${ms("paused_until")}, ${
  ms("last_success_at")
},
  w.disabled_reason
`;

/** Selects a webhook as `SendingWebhook`. */
export function sendingWebhook(id: string): Statement<SendingWebhook> {
  return sql`
    select ${sendingColumns}
    from webhooks w
    where w.organization_id = ${organization} and w.id = ${id}
  `;
}

/** Throws `NOT_FOUND`. */
export async function findWebhook(
  database: Queries,
  id: string,
): Promise<SendingWebhook> {
  const [webhook] = await database.lookUp(sendingWebhook(id));
  if (!webhook) throw webhookNotFound(id);
  return webhook;
}

/** Finds what the process has to send for a webhook. Throws `NOT_FOUND`. */
export async function findWorkOf(
  database: Queries,
  id: string,
  sender: string,
): Promise<WebhookWork> {
  const [webhook] = await database.scan(sql<WebhookWork>`
    select ${sendingColumns}, b.*, ${free(sender)} as free
    from webhooks w
    cross join lateral (${backlog()}) b
    where w.organization_id = ${organization} and w.id = ${id}
  `);
  if (!webhook) throw webhookNotFound(id);
  return webhook;
}

/** The error for a webhook that the organization does not have. */
export function webhookNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No webhook with id "${id}"`);
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
  /** The number of enabled webhooks. */
  enabled: number;
  ready: { organization_id: string; id: string }[];
}

/** Finds work for the process. Who is served first is drawn by lot, so that nobody is last each time. */
export function findWork(
  sender: string,
  limit: number,
  waitingMax: number,
): Statement<Work> {
  const owner = sql`w.organization_id`;
  return sql`
    select
      (select count(*) from webhooks w where w.enabled)::int as enabled,
      (
        select coalesce(json_agg(row_to_json(r)), '[]')
        from (
          select w.organization_id, w.id
          from webhooks w
          cross join lateral (${backlog(owner)}) b
          cross join (select o.id, ${timeline} as timeline from change_origins o) o
          where w.enabled and ${free(sender)} > 0 and (
            b.due > 0
            or not b.waits_for_cursor and b.waiting + b.untried < ${waitingMax} and (
              exists (${entriesAfter(1, owner)})
              -- Nobody may lose the right to go on: a cursor is good for 30 days, in one origin and timeline.
              or (w.cursor ->> 'issuedAt')::bigint < extract(epoch from now() - interval '1 day') * 1000
              or (w.cursor ->> 'origin')::uuid <> o.id
              or (w.cursor ->> 'timeline')::bigint between 1 and o.timeline - 1
            )
          )
          order by random()
          limit ${limit}
        ) r
      ) as ready
  `;
}
