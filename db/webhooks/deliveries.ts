import { createHash } from "node:crypto";
import type { Cursor } from "../../schema/changes_query.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { ApiError } from "../../schema/errors.ts";
import type {
  Delivery,
  DeliveryQuery,
  MessageType,
} from "../../schema/webhooks.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { jsonArray } from "../products/json.ts";
import { type EntryPage, limitOf } from "../products/list.ts";
import { rfc3339 } from "../times.ts";
import {
  backlog,
  free,
  isDue,
  isFree,
  isUntried,
  type SendingWebhook,
  webhookNotFound,
} from "./work.ts";

/*
 * The messages of webhooks: those that wait or are being sent, and what became of the
 * last ones. Each has a lease of its own: `sent_until` is set while it is being sent.
 */

/** A message before it is stored. */
export interface NewMessage {
  id: string;
  type: MessageType;
  body: string;
  /** The entry of the feed. Absent for a message about no product. */
  product_id?: string;
  version?: string;
  /** The webhook's cursor once the message has succeeded. */
  next_cursor?: Cursor;
}

/** A message for its next attempt. Each attempt sends the same id and body. */
export interface Message {
  id: string;
  type: MessageType;
  body: string;
  product_id: string | null;
  /** The attempts before. */
  attempts: number;
  created_at: string;
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
  const found = sql`
    from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and not ${isUntried}
      ${status ? sql`and d.status ${isAnyOf(status)}` : []}
  `;
  const entries = jsonArray(sql`
    select ${shownColumns} ${found}
    order by d.created_at desc, d.id
    ${limitOf(query)}
  `);
  const [page] = await database.scan(sql<EntryPage>`
    select
      ${entries}::text as entries,
      (select count(*) ${found})::float8 as total
    from webhooks w
    where w.organization_id = ${organization} and w.id = ${webhookId}
  `);
  if (!page) throw webhookNotFound(webhookId);
  return page;
}

/** Selects deliveries of a webhook as responses have them. */
export function shownDeliveries(
  webhookId: string,
  ids: readonly string[],
): Statement<Delivery> {
  return sql`
    select ${shownColumns}
    from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id ${isAnyOf(ids)}
  `;
}

/** The condition that a column is one of these texts, which have no commas. */
export function isAnyOf(texts: readonly string[]): Statement {
  return sql`= any(string_to_array(${texts.join()}, ','))`;
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
      status, created_at, next_attempt_at
    )
    select
      w.organization_id, w.id, m.id, m.type, m.body, m.product_id, m.version, m.next_cursor,
      'waiting', now(), now()
    from webhooks w
    cross join jsonb_to_recordset(${json(messages)}) m (
      id text, type text, body text, product_id uuid, version bigint, next_cursor jsonb
    )
    where w.organization_id = ${organization} and ${condition}
    on conflict (organization_id, webhook_id, id) do update set
      body = excluded.body,
      status = 'waiting',
      attempts = 0,
      created_at = excluded.created_at,
      next_attempt_at = excluded.next_attempt_at
    where d.status <> 'waiting'
  `;
}

/** Sends all that waits at once. */
export function sendAll(webhookId: string): Statement {
  return sql`
    update webhook_deliveries d
    set next_attempt_at = now()
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.status = 'waiting'
  `;
}

/** The end of the lease of a message that is taken now. */
function leaseEnd({ timeoutMs }: WebhookConfig): Statement {
  return sql`now() + make_interval(secs => ${2 * timeoutMs / 1_000})`;
}

/** The next messages of a webhook from the feed, and the cursor after them. */
export interface Followed {
  messages: NewMessage[];
  cursor: Cursor;
}

const messageColumns = sql`
  d.id, d.type, d.body, d.product_id, d.attempts, d.created_at
`;

/**
 * Stores what follows in the feed, unless the cursor has moved since, and takes messages
 * to send them, as many as are free. A message whose product has changed is
 * dropped: the newer one is on its way, and waits until the older one has arrived.
 */
export async function takeMessages(
  database: Queries,
  { id, cursor: before }: SendingWebhook,
  { messages, cursor }: Followed,
  sender: string,
  config: WebhookConfig,
): Promise<Message[]> {
  const webhook =
    sql`webhooks w where w.organization_id = ${organization} and w.id = ${id}`;
  const isUnmoved = sql`w.id = ${id} and w.cursor = ${json(before)}`;
  const waiting = sql`
    d.organization_id = ${organization} and d.webhook_id = ${id}
    and w.organization_id = ${organization} and w.id = ${id} and ${isDue}
  `;
  const [, , , , , taken] = await database.write(
    // Other processes wait, so that one of them sends the messages.
    sql`select from ${webhook} for no key update`,
    sql`
      update webhooks w
      set sender = ${sender}
      where w.organization_id = ${organization} and w.id = ${id}
        and w.sender is distinct from ${sender}
        and (select b.sent = 0 from (${backlog()}) b)
    `,
    addMessages(isUnmoved, messages),
    sql`
      update webhooks w
      set cursor = ${json(cursor)}
      where w.organization_id = ${organization} and ${isUnmoved}
    `,
    sql`
      delete from webhook_deliveries d
      using webhooks w
      where ${waiting} and not ${isCurrent}
    `,
    sql<Message>`
      update webhook_deliveries d
      set sent_until = ${leaseEnd(config)}
      from (
        select d.id
        from webhook_deliveries d
        cross join webhooks w
        where ${waiting} and not exists (
          select
          from webhook_deliveries o
          where o.organization_id = ${organization} and o.webhook_id = ${id}
            and o.product_id = d.product_id and o.sent_until >= now()
        )
        order by d.next_attempt_at, d.id
        limit (
          select greatest(0, ${free(sender)})
          from webhooks w
          cross join lateral (${backlog()}) b
          where w.organization_id = ${organization} and w.id = ${id}
        )
      ) t
      where d.organization_id = ${organization} and d.webhook_id = ${id} and d.id = t.id
      returning ${messageColumns}
    `,
  );
  return taken;
}

/**
 * Takes one message, whatever its status, to send it. Throws `NOT_FOUND`,
 * or `CONFLICT` while it is being sent or if its product has changed since.
 */
export async function takeMessage(
  database: Queries,
  webhookId: string,
  id: string,
  config: WebhookConfig,
): Promise<Message> {
  const delivery = sql`
    d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.id = ${id}
  `;
  const [[found], [message]] = await database.write(
    sql<{ is_free: boolean; is_current: boolean }>`
      select ${isFree} as is_free, ${isCurrent} as is_current
      from webhook_deliveries d
      where ${delivery}
      for update
    `,
    sql<Message>`
      update webhook_deliveries d
      set sent_until = ${leaseEnd(config)}
      where ${delivery} and ${isFree} and ${isCurrent}
      returning ${messageColumns}
    `,
  );
  if (!found) throw new ApiError("NOT_FOUND", `No delivery with id "${id}"`);
  if (!found.is_free) {
    throw conflict("being_sent", "The message is being sent at the moment");
  }
  if (!found.is_current || !message) {
    throw conflict(
      "superseded",
      "The product has changed since: the webhook gets a newer message",
    );
  }
  return message;
}

function conflict(code: string, message: string): ApiError {
  return new ApiError("CONFLICT", message, {
    details: [{ code, count: 1, message }],
  });
}
