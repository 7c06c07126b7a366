import { createHash } from "node:crypto";
import type { Cursor } from "../../changes/schema.ts";
import type { Delivery, DeliveryQuery, MessageType } from "../schema.ts";
import {
  isOneOfTexts,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { type EntryPage, limitOf, selectEntries } from "../../../db/entry_page.ts";
import { rfc3339 } from "../../../db/times.ts";
import { type Webhook, webhookNotFound } from "./state.ts";

/*
 * Stores the messages of webhooks: those that wait or are being sent, and the outcomes of the last
 * ones. While a message is being sent, `sent_until` is the end of its lease. In all statements,
 * `message` is a row of webhook_deliveries, and `webhook` one of webhooks.
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

/** Returns the id of a message to a webhook. The same entry of the feed has the same id. */
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
  message.id, message.type, message.product_id, message.status, message.attempts,
  ${rfc3339("message.created_at")} as created_at,
  ${rfc3339("message.attempted_at")} as attempted_at,
  ${rfc3339("message.next_attempt_at")} as next_attempt_at,
  message.response_status, message.response_body, message.error, message.duration_ms
`;

/**
 * Whether a message is about a product, and no attempt has ended. Callers see it as an entry
 * of the feed that the webhook is behind, not as a delivery.
 */
export const isUntried = raw(
  "(message.attempts = 0 and message.product_id is not null)",
);

/** Whether the product of a message has changed since: a newer message follows. */
export const isSuperseded = sql`(
  message.product_id is not null
  and not exists (
    select
    from product_changes change
    where change.organization_id = ${organization} and change.product_id = message.product_id
      and change.change_version = message.version
  )
  and not exists (
    select
    from product_deletions deletion
    where deletion.organization_id = ${organization} and deletion.product_id = message.product_id
      and deletion.change_version = message.version
  )
)`;

/** Lists a page of a webhook's deliveries, newest first. Throws `NOT_FOUND` for an unknown webhook. */
export async function listDeliveries(
  database: Queries,
  webhookId: string,
  { status, ...query }: DeliveryQuery,
): Promise<EntryPage> {
  const hasStatus = status
    ? sql`and message.status = any(string_to_array(${status.join()}, ','))`
    : [];
  const found = sql`
    from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
      and not ${isUntried} ${hasStatus}
  `;
  const entries = sql`
    select ${shownColumns} ${found}
    order by message.created_at desc, message.id
    ${limitOf(query)}
  `;
  const [page] = await database.scan(sql<EntryPage>`
    ${selectEntries(entries, found)}
    from webhooks webhook
    where webhook.organization_id = ${organization} and webhook.id = ${webhookId}
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
    select ${shownColumns}, message.next_cursor
    from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
      and message.id ${isOneOfTexts(messages.map(({ id }) => id))}
  `;
}

/** Adds messages to each webhook of the organization with this condition. A replay sends them again. */
export function addMessages(
  condition: Statement,
  messages: readonly NewMessage[],
): Statement {
  return sql`
    insert into webhook_deliveries as message (
      organization_id, webhook_id, id, type, body, product_id, version, next_cursor,
      status, created_at, next_attempt_at, sent_until
    )
    select
      webhook.organization_id, webhook.id, new.id, new.type, new.body, new.product_id, new.version,
      new.next_cursor, 'waiting', now(), now(), new.sent_until
    from webhooks webhook
    cross join jsonb_to_recordset(${json(messages)}) new (
      id text, type text, body text, product_id uuid, version bigint, next_cursor jsonb,
      sent_until timestamptz
    )
    where webhook.organization_id = ${organization} and ${condition}
    on conflict (organization_id, webhook_id, id) do update set
      body = excluded.body,
      status = 'waiting',
      attempts = 0,
      created_at = excluded.created_at,
      next_attempt_at = excluded.next_attempt_at,
      sent_until = coalesce(excluded.sent_until, message.sent_until)
  `;
}

/**
 * Adds a message for the organization's other webhooks that subscribe to it: this one is disabled.
 * It replaces an older one that has not arrived.
 */
export function announceDisabled(
  { id, description, disabled_reason: reason, disabled_at: at }: Webhook,
): Statement[] {
  const type = "webhook.disabled";
  return [
    sql`
      delete from webhook_deliveries message
      where message.organization_id = ${organization} and message.status = 'waiting' and message.type = ${type}
        and message.body::jsonb #>> '{data,id}' = ${id}
    `,
    addMessages(
      sql`webhook.id <> ${id} and webhook.enabled and ${type} = any(webhook.events)`,
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
    update webhook_deliveries message
    set next_attempt_at = now()
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
      and message.status = 'waiting'
  `;
}

/** Deletes the waiting messages that move the cursor: the cursor or the events have been changed. */
export function dropCursorMessages(webhookId: string): Statement {
  return sql`
    delete from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
      and message.status = 'waiting' and message.next_cursor is not null
  `;
}

/** Stores deliveries whose attempts have ended. */
export function storeDeliveries(
  webhookId: string,
  deliveries: readonly Delivery[],
): Statement {
  const rows = json(deliveries);
  return sql`
    update webhook_deliveries message
    set (
      status, attempts, attempted_at, next_attempt_at, sent_until,
      response_status, response_body, error, duration_ms
    ) = (
      after.status, after.attempts, after.attempted_at, after.next_attempt_at, null,
      after.response_status, after.response_body, after.error, after.duration_ms
    )
    from jsonb_populate_recordset(null::webhook_deliveries, ${rows}) after
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId} and message.id = after.id
  `;
}

/** Deletes the deliveries beyond the last 100 that succeeded, and the last 1,000 of 30 days that failed. */
export function prune(webhookId: string): Statement {
  const beyond = (condition: Statement, offset: number) =>
    sql`(
      select old.id
      from webhook_deliveries old
      where old.organization_id = ${organization} and old.webhook_id = ${webhookId}
        and ${condition}
      order by old.created_at desc, old.id desc
      offset ${offset}
    )`;
  const isExpired = sql`old.created_at < now() - interval '30 days'`;
  // An array is made once, whatever the planner thinks of the number of rows.
  return sql`
    delete from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
      and message.id = any(array(
        ${beyond(sql`old.status = 'succeeded'`, 100)}
        union all
        ${beyond(sql`old.status = 'failed'`, 1_000)}
        union all
        ${beyond(sql`old.status = 'failed' and ${isExpired}`, 0)}
      ))
  `;
}
