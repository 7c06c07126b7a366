import type { WebhookConfig } from "../../schema/config.ts";
import type {
  AttemptError,
  Delivery,
  DisabledReason,
} from "../../schema/webhooks.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  addMessages,
  isAnyOf,
  type Message,
  messageId,
  payload,
  sendAll,
  shownDeliveries,
} from "./deliveries.ts";
import {
  REST_AFTER,
  sendingWebhook,
  type State,
  webhookNotFound,
} from "./work.ts";

/* What attempts make of their messages and of their webhook. */

/** The longest pause of a resting webhook. */
const MAX_REST_SECONDS = 300;

/** The longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** An attempt, and what the receiver answered or why it did not. */
export interface Outcome {
  message: Message;
  /** The URL that was called. */
  url: string;
  /** RFC 3339. */
  attempted_at: string;
  duration_ms: number;
  response_status: number | null;
  response_body: string | null;
  /** The header `Retry-After`. */
  retryAfter?: string | undefined;
  error: AttemptError | null;
}

/** The delivery after the attempt, if it was one of the schedule. */
export function deliveryAfter(
  { message, error, ...answer }: Outcome,
  { last_success_at }: State,
  { retrySeconds }: WebhookConfig,
): Delivery {
  const { id, type, product_id, created_at } = message;
  const attempts = message.attempts + 1;
  // If nothing else has succeeded meanwhile, the receiver was down: the message is not to blame.
  const isBad = attempts > retrySeconds.length && !type.startsWith("feed.") &&
    (last_success_at ?? 0) > Date.parse(created_at);
  const status = error === null ? "succeeded" : isBad ? "failed" : "waiting";
  const next = Date.now() + pauseMs(step(retrySeconds, attempts - 1));
  return {
    id,
    type,
    product_id,
    status,
    attempts,
    created_at,
    attempted_at: answer.attempted_at,
    next_attempt_at: status === "waiting" ? new Date(next).toISOString() : null,
    response_status: answer.response_status,
    response_body: answer.response_body,
    error,
    duration_ms: answer.duration_ms,
  };
}

/** The state of the webhook after the attempt. */
export function stateAfter(
  outcome: Outcome,
  state: State,
  { retrySeconds, disableSeconds }: WebhookConfig,
): State {
  const now = Date.now();
  if (outcome.error === null) {
    return {
      ...state,
      failures: 0,
      failing_since: null,
      resumes_at: laterThan(now, state.paused_until),
      last_success_at: now,
    };
  }
  // What was sent before a rest began does not prolong it.
  const isResting = state.failures >= REST_AFTER &&
    (state.resumes_at ?? 0) > now;
  const failures = state.failures + (isResting ? 0 : 1);
  const failing_since = state.failing_since ?? now;
  const rest = !isResting && failures >= REST_AFTER
    ? Math.min(step(retrySeconds, failures - REST_AFTER), MAX_REST_SECONDS)
    : 0;
  const paused_until = laterThan(
    now,
    state.paused_until,
    now + askedPauseMs(outcome, now),
  );
  return {
    ...state,
    failures,
    failing_since,
    resumes_at: laterThan(
      now,
      state.resumes_at,
      now + pauseMs(rest),
      paused_until,
    ),
    paused_until,
    disabled_reason: state.disabled_reason ??
      (outcome.response_status === 410
        ? "gone"
        : now - failing_since >= disableSeconds * 1_000
        ? "failing"
        : null),
  };
}

/** The last of these times that are later than `now`, or null. */
function laterThan(now: number, ...times: (number | null)[]): number | null {
  const last = Math.max(...times.map(Number));
  return last > now ? last : null;
}

/** The pause that `Retry-After` (RFC 9110, 10.2.3) asks for: seconds, or a date. */
function askedPauseMs(
  { response_status, retryAfter = "" }: Outcome,
  now: number,
): number {
  if (response_status !== 429 && response_status !== 503) return 0;
  const ms = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - now;
  return Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);
}

/** A step of the schedule. The last one repeats. */
function step(retrySeconds: readonly number[], i: number): number {
  return retrySeconds[Math.min(i, retrySeconds.length - 1)]!;
}

/** The pause, with up to a tenth more: what failed together is not sent together. */
function pauseMs(seconds: number): number {
  return seconds * 1_000 * (1 + Math.random() / 10);
}

/**
 * Stores what attempts have made of their messages and their webhook, and gives the
 * messages back that were taken but not sent. Returns the deliveries, and the webhook if
 * it is disabled now. Throws `NOT_FOUND`.
 */
export async function storeOutcomes(
  database: Queries,
  id: string,
  { outcomes, unsent = [] }: {
    outcomes: readonly Outcome[];
    unsent?: readonly string[];
  },
  config: WebhookConfig,
): Promise<{ deliveries: Delivery[]; disabled?: Disabled | undefined }> {
  return await database.transaction(async (tx) => {
    const [[webhook]] = await tx.send(
      sql<State & Omit<Disabled, "reason">>`
        ${sendingWebhook(id)} for no key update of w
      `,
    );
    if (!webhook) throw webhookNotFound(id);
    let state: State = webhook;
    let isBack = false;
    const deliveries = outcomes.map((outcome) => {
      const delivery = deliveryAfter(outcome, state, config);
      // The caller has changed the URL meanwhile: nothing is known about the new receiver.
      if (outcome.url === webhook.url) {
        isBack ||= outcome.error === null && state.failures >= REST_AFTER;
        state = stateAfter(outcome, state, config);
      }
      return delivery;
    });
    const { disabled_reason: reason } = state;
    const disabled = reason && !webhook.disabled_reason
      ? { ...webhook, reason }
      : undefined;
    const [, , stored] = await tx.commit(
      storeState(id, state, deliveries),
      storeDeliveries(id, deliveries),
      shownDeliveries(id, deliveries.map(({ id }) => id)),
      ...unsent.length > 0 ? [giveBack(id, unsent)] : [],
      ...isBack ? [sendAll(id)] : [],
      ...disabled ? [announceDisabled(disabled)] : [],
      prune(id),
    );
    return { deliveries: stored, disabled };
  });
}

/** Stores the state. The success of a message that moves the cursor moves it. */
function storeState(
  id: string,
  state: State,
  deliveries: readonly Delivery[],
): Statement {
  const succeeded = deliveries.filter(({ status }) => status === "succeeded");
  const time = (at: number | null) => at && new Date(at).toISOString();
  return sql`
    update webhooks w
    set
      failures = ${state.failures},
      failing_since = ${time(state.failing_since)},
      resumes_at = ${time(state.resumes_at)},
      paused_until = ${time(state.paused_until)},
      last_success_at = ${time(state.last_success_at)},
      cursor = coalesce(
        (
          select d.next_cursor
          from webhook_deliveries d
          where d.organization_id = ${organization} and d.webhook_id = ${id}
            and d.id ${isAnyOf(succeeded.map(({ id }) => id))}
            and d.next_cursor is not null
        ),
        w.cursor
      )
      ${state.disabled_reason ? disable(state.disabled_reason) : []}
    where w.organization_id = ${organization} and w.id = ${id}
  `;
}

/** Stores the deliveries. No other attempt follows one that did not wait. */
function storeDeliveries(
  webhookId: string,
  deliveries: readonly Delivery[],
): Statement {
  return sql`
    update webhook_deliveries d
    set
      status = case
        when r.status = 'waiting' and d.status <> 'waiting' then 'failed'
        else r.status
      end,
      next_attempt_at = case when d.status = 'waiting' then r.next_attempt_at end,
      next_cursor = case when r.status <> 'succeeded' then d.next_cursor end,
      sent_until = null,
      attempts = r.attempts,
      attempted_at = r.attempted_at,
      response_status = r.response_status,
      response_body = r.response_body,
      error = r.error,
      duration_ms = r.duration_ms
    from jsonb_to_recordset(${json(deliveries)}) r (
      id text, status text, attempts int, attempted_at timestamptz,
      next_attempt_at timestamptz, response_status int, response_body text, error text,
      duration_ms int
    )
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.id = r.id
  `;
}

function giveBack(webhookId: string, ids: readonly string[]): Statement {
  return sql`
    update webhook_deliveries d
    set sent_until = null
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id ${isAnyOf(ids)}
  `;
}

/** Deletes the deliveries beyond the last 100 that succeeded, and the last 1,000 of 30 days that failed. */
function prune(webhookId: string): Statement {
  const old = (condition: Statement, offset: number) =>
    sql`(
      select o.id
      from webhook_deliveries o
      where o.organization_id = ${organization} and o.webhook_id = ${webhookId} and ${condition}
      order by o.created_at desc, o.id desc
      offset ${offset}
    )`;
  // An array is made once, whatever the planner thinks of the number of rows.
  return sql`
    delete from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id = any(array(
        ${old(sql`o.status = 'succeeded'`, 100)}
        union all
        ${old(sql`o.status = 'failed'`, 1_000)}
        union all
        ${
    old(
      sql`o.status = 'failed' and o.created_at < now() - interval '30 days'`,
      0,
    )
  }
      ))
  `;
}

/** A webhook that was disabled, and why. */
export interface Disabled {
  id: string;
  url: string;
  description: string | null;
  reason: DisabledReason;
}

/** Assignments that disable a webhook. */
export function disable(reason: DisabledReason): Statement {
  return sql`, enabled = false, disabled_reason = ${reason}, disabled_at = now()`;
}

/** Tells the organization's other webhooks that ask for it that this one is disabled. */
export function announceDisabled(
  { id, description, reason }: Disabled,
): Statement {
  const type = "webhook.disabled";
  const at = new Date().toISOString();
  const body = payload(type, { id, description, reason }, at);
  return addMessages(
    sql`w.id <> ${id} and w.enabled and ${type} = any(w.events)`,
    [{ id: messageId(id, at), type, body }],
  );
}
