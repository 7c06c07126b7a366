import type { Cursor } from "../../changes/schema.ts";
import { ApiError } from "../../../schema/errors.ts";
import type { DisabledReason, Event } from "../schema.ts";
import { json, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";

/*
 * The row of a webhook, with its failures and pauses. A transaction that changes it, or begins to
 * send one of its messages, locks it.
 */

/** Failures in a row from which a webhook backs off: it sends one message after each pause. */
export const BACK_OFF_AFTER = 5;

/** A row of `webhooks`. Times are texts with a time zone. */
export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  events: Event[];
  /** Newest first. */
  secrets: Secret[];
  enabled: boolean;
  disabled_reason: DisabledReason | null;
  disabled_at: string | null;
  /** The position in the feed after the messages that were made. */
  cursor: Cursor;
  /** In a row. */
  failures: number;
  failing_since: string | null;
  /** The end of the pause after failures, which a success ends. */
  resumes_at: string | null;
  /** The end of the pause that the receiver has asked for. */
  paused_until: string | null;
  last_success_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A key that signs messages, and until when. */
export interface Secret {
  secret: string;
  created_at: string;
  /** Null for the newest. */
  expires_at: string | null;
}

/** A locked webhook, and the time of the database in milliseconds since 1970. */
export interface LockedWebhook {
  webhook: Webhook;
  now: number;
}

/** Locks a webhook until the end of the transaction. */
export function selectLocked(id: string): Statement<LockedWebhook> {
  return sql`
    select to_jsonb(webhook) as webhook, (extract(epoch from now()) * 1000)::float8 as now
    from webhooks webhook
    where webhook.organization_id = ${organization} and webhook.id = ${id}
    for no key update
  `;
}

/** Locks a webhook, as `selectLocked` does, and returns it. Throws `NOT_FOUND`. */
export async function lockWebhook(
  tx: Transaction,
  id: string,
): Promise<LockedWebhook> {
  const [[row]] = await tx.send(selectLocked(id));
  if (!row) throw webhookNotFound(id);
  return row;
}

/** The error for a webhook that the organization does not have. */
export function webhookNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No webhook with id "${id}"`);
}

const STORED_COLUMNS = raw(`
  url, description, events, enabled, disabled_reason, disabled_at, cursor,
  failures, failing_since, resumes_at, paused_until, last_success_at, updated_at
`);

/** Stores a locked webhook, but not its secrets: a server may log what slow statements are given. */
export function storeWebhook({ secrets: _, ...webhook }: Webhook): Statement {
  const stored = sql`jsonb_populate_record(null::webhooks, ${json(webhook)})`;
  return sql`
    update webhooks webhook
    set (${STORED_COLUMNS}) = (select ${STORED_COLUMNS} from ${stored})
    where webhook.organization_id = ${organization} and webhook.id = ${webhook.id}
  `;
}

/** A webhook after a success. A pause that the receiver has asked for goes on. */
export const RECOVERED = { failures: 0, failing_since: null, resumes_at: null };

/** A webhook that is disabled for this reason, from now on. */
export function disabledBy(reason: DisabledReason, now: number) {
  return { enabled: false, disabled_reason: reason, disabled_at: isoTime(now) };
}

/** The end of a webhook's pause, in milliseconds since 1970. */
export function pausedUntil({ resumes_at, paused_until }: Webhook): number {
  return Math.max(msOf(resumes_at), msOf(paused_until));
}

/** A time in milliseconds since 1970, and 0 for none. */
export function msOf(time: string | null): number {
  return time === null ? 0 : Date.parse(time);
}

/** Milliseconds since 1970 as RFC 3339 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
