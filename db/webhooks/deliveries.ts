import { createHash } from "node:crypto";
import type { Cursor } from "../../schema/changes_query.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { ApiError, conflict } from "../../schema/errors.ts";
import type {
  Delivery,
  DeliveryQuery,
  MessageType,
} from "../../schema/webhooks.ts";
import {
  isOneOfTexts,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type EntryPage, limitOf, selectEntries } from "../entry_page.ts";
import { rfc3339 } from "../times.ts";
import {
  isoTime,
  lockWebhook,
  type Webhook,
  webhookNotFound,
} from "./webhook.ts";
import { isDue, isFree, isUntried, MAX_IN_FLIGHT } from "./work.ts";

/*
 * The messages of webhooks: those that wait or are being sent, and what became of the
 * last ones. While a message is being sent, `sent_until` is the end of its lease.
 */

/** A message for an attempt. Each attempt sends the same id and body. */
export interface Message {
  id: string;
  body: string;
}

/** A message before it is stored. */
export interface NewMessage extends Message {
  type: MessageType;
  /** The entry of the feed. Absent for a message about no product. */
  product_id?: string;
  version?: string;
  /** The webhook's cursor once the message has succeeded. */
  next_cursor?: Cursor;
  /** The end of its lease, if it is sent now. */
  sent_until?: string | undefined;
}

/** The id of a message to a webhook: the same for the same entry of the feed. */
export function messageId(webhookId: string, ...entry: unknown[]): string {
  const text = [webhookId, ...entry].join(" ");
  return `msg_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}

/** The payload of a message (Standard Webhooks 1.0.0). */
export function payload(
  type: MessageType,
  data: object,
  timestamp = new Date().toISOString(),
): string {
  return JSON.stringify({ type, timestamp, data });
}

/** A delivery as responses have it. */
const shownColumns = sql`
  d.id, d.type, d.product_id, d.status, d.attempts,
  ${rfc3339("d.created_at")} as created_at,
  ${rfc3339("d.attempted_at")} as attempted_at,
  ${rfc3339("d.next_attempt_at")} as next_attempt_at,
  d.response_status, d.response_body, d.error, d.duration_ms
`;

/** Lists a page of a webhook's deliveries, newest first. Throws `NOT_FOUND` for an unknown webhook. */
export async function listDeliveries(
  database: Queries,
  webhookId: string,
  { status, ...query }: DeliveryQuery,
): Promise<EntryPage> {
  const hasStatus = status
    ? sql`and d.status = any(string_to_array(${status.join()}, ','))`
    : [];
  const found = sql`
    from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and not ${isUntried} ${hasStatus}
  `;
  const entries = sql`
    select ${shownColumns} ${found}
    order by d.created_at desc, d.id
    ${limitOf(query)}
  `;
  const [page] = await database.scan(sql<EntryPage>`
    ${selectEntries(entries, found)}
    from webhooks w
    where w.organization_id = ${organization} and w.id = ${webhookId}
  `);
  if (!page) throw webhookNotFound(webhookId);
  return page;
}

/** A delivery, with the webhook's cursor once it has succeeded. */
export interface StoredDelivery extends Delivery {
  next_cursor: Cursor | null;
}

/** Selects deliveries of a webhook. */
export function deliveriesOf(
  webhookId: string,
  messages: readonly { id: string }[],
): Statement<StoredDelivery> {
  return sql`
    select ${shownColumns}, d.next_cursor
    from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id ${isOneOfTexts(messages.map(({ id }) => id))}
  `;
}

/** Whether the entry of delivery `d` is still the last one of its product. */
const isCurrent = sql`(
  d.product_id is null
  or exists (
    select
    from product_changes c
    where c.organization_id = ${organization} and c.product_id = d.product_id
      and c.change_version = d.version
  )
  or exists (
    select
    from product_deletions x
    where x.organization_id = ${organization} and x.product_id = d.product_id
      and x.change_version = d.version
  )
)`;

/** Adds messages to each webhook `w` of the organization with this condition. A replay sends them again. */
export function addMessages(
  condition: Statement,
  messages: readonly NewMessage[],
): Statement {
  return sql`
    insert into webhook_deliveries as d (
      organization_id, webhook_id, id, type, body, product_id, version, next_cursor,
      status, created_at, next_attempt_at, sent_until
    )
    select
      w.organization_id, w.id, m.id, m.type, m.body, m.product_id, m.version, m.next_cursor,
      'waiting', now(), now(), m.sent_until
    from webhooks w
    cross join jsonb_to_recordset(${json(messages)}) m (
      id text, type text, body text, product_id uuid, version bigint, next_cursor jsonb,
      sent_until timestamptz
    )
    where w.organization_id = ${organization} and ${condition}
    on conflict (organization_id, webhook_id, id) do update set
      body = excluded.body,
      status = 'waiting',
      attempts = 0,
      created_at = excluded.created_at,
      next_attempt_at = excluded.next_attempt_at,
      sent_until = coalesce(excluded.sent_until, d.sent_until)
  `;
}

/**
 * Tells the organization's other webhooks that ask for it that this one is disabled. The
 * message replaces an older one that has not arrived.
 */
export function announceDisabled(
  { id, description, disabled_reason: reason, disabled_at: at }: Webhook,
): Statement[] {
  const type = "webhook.disabled";
  return [
    sql`
      delete from webhook_deliveries d
      where d.organization_id = ${organization} and d.status = 'waiting' and d.type = ${type}
        and d.body::jsonb #>> '{data,id}' = ${id}
    `,
    addMessages(
      sql`w.id <> ${id} and w.enabled and ${type} = any(w.events)`,
      [{
        id: messageId(id, at),
        type,
        body: payload(type, { id, description, reason }, at!),
      }],
    ),
  ];
}

/** Makes all waiting messages due now. */
export function sendAll(webhookId: string): Statement {
  return sql`
    update webhook_deliveries d
    set next_attempt_at = now()
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.status = 'waiting'
  `;
}

/** Deletes the waiting messages that move the cursor: the cursor or the events have been changed. */
export function dropCursors(webhookId: string): Statement {
  return sql`
    delete from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.status = 'waiting' and d.next_cursor is not null
  `;
}

/** Deletes the due messages about products that have changed since: newer messages follow. */
export function dropStale(webhookId: string): Statement {
  return sql`
    delete from webhook_deliveries d
    using webhooks w
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and w.organization_id = ${organization} and w.id = ${webhookId}
      and ${isDue} and not ${isCurrent}
  `;
}

/** A stored message, and the product that it is about. */
export interface DueMessage extends Message {
  product_id: string | null;
}

/** Selects due messages, twice as many as may be sent: some wait for older ones about their products. */
export function dueMessages(webhookId: string): Statement<DueMessage> {
  return sql`
    select d.id, d.body, d.product_id
    from webhook_deliveries d
    join webhooks w on w.organization_id = ${organization} and w.id = ${webhookId}
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId} and ${isDue}
    order by d.next_attempt_at, d.id
    limit ${2 * MAX_IN_FLIGHT}
  `;
}

/** Leases stored messages: until then, no other process sends them. */
export function lease(
  webhookId: string,
  messages: readonly Message[],
  until: string,
): Statement {
  return sql`
    update webhook_deliveries d
    set sent_until = ${until}
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id ${isOneOfTexts(messages.map(({ id }) => id))}
  `;
}

/** Stores deliveries whose attempts have ended. */
export function storeDeliveries(
  webhookId: string,
  deliveries: readonly Delivery[],
): Statement {
  const rows = json(deliveries);
  return sql`
    update webhook_deliveries d
    set (
      status, attempts, attempted_at, next_attempt_at, sent_until,
      response_status, response_body, error, duration_ms
    ) = (
      r.status, r.attempts, r.attempted_at, r.next_attempt_at, null,
      r.response_status, r.response_body, r.error, r.duration_ms
    )
    from jsonb_populate_recordset(null::webhook_deliveries, ${rows}) r
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.id = r.id
  `;
}

/** Deletes the deliveries beyond the last 100 that succeeded, and the last 1,000 of 30 days that failed. */
export function prune(webhookId: string): Statement {
  const old = (condition: Statement, offset: number) =>
    sql`(
      select o.id
      from webhook_deliveries o
      where o.organization_id = ${organization} and o.webhook_id = ${webhookId} and ${condition}
      order by o.created_at desc, o.id desc
      offset ${offset}
    )`;
  const isExpired = sql`o.created_at < now() - interval '30 days'`;
  // An array is made once, whatever the planner thinks of the number of rows.
  return sql`
    delete from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id = any(array(
        ${old(sql`o.status = 'succeeded'`, 100)}
        union all
        ${old(sql`o.status = 'failed'`, 1_000)}
        union all
        ${old(sql`o.status = 'failed' and ${isExpired}`, 0)}
      ))
  `;
}

/**
 * Takes one message by hand, whatever its status. Throws `NOT_FOUND`, or `CONFLICT` while
 * it is being sent or if its product has changed since.
 */
export async function takeMessage(
  database: Queries,
  webhookId: string,
  id: string,
  { timeoutMs }: WebhookConfig,
): Promise<{ webhook: Webhook; message: Message }> {
  return await database.transaction(async (tx) => {
    const { webhook, now } = await lockWebhook(tx, webhookId);
    const [[message]] = await tx.send(
      sql<Message & { is_free: boolean; is_current: boolean }>`
        select d.id, d.body, ${isFree} as is_free, ${isCurrent} as is_current
        from webhook_deliveries d
        where d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.id = ${id}
      `,
    );
    if (!message) throw deliveryNotFound(id);
    if (!message.is_free) {
      throw conflict("being_sent", "The message is being sent at the moment");
    }
    if (!message.is_current) {
      throw conflict(
        "superseded",
        "The product has changed since: the webhook gets a newer message",
      );
    }
    await tx.commit(
      lease(webhookId, [message], isoTime(now + 2 * timeoutMs)),
    );
    return { webhook, message };
  });
}

/** The error for a delivery that the webhook does not have. */
export function deliveryNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No delivery with id "${id}"`);
}
