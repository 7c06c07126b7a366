import { createHash } from "node:crypto";
import type { Cursor } from "../../schema/changes_query.ts";
import { ApiError } from "../../schema/errors.ts";
import type {
  AttemptError,
  Delivery,
  DeliveryQuery,
  MessageType,
} from "../../schema/webhooks.ts";
import { json, organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { jsonArray } from "../products/json.ts";
import { limitOf, type ProductPage } from "../products/list.ts";
import { rfc3339 } from "../times.ts";
import { type Disabled, notFound } from "./webhooks.ts";

/* Messages that wait for a retry, and what became of the last ones. */

/** A message, which each attempt sends with the same id and body. */
export interface Message {
  id: string;
  type: MessageType;
  body: string;
  /** The entry of the feed. Null for a message about no product. */
  product_id: string | null;
  version: string | null;
  /** The webhook's cursor once the message has succeeded. */
  next_cursor: Cursor | null;
  attempts: number;
  /** RFC 3339. */
  created_at: string;
}

/** What a message has become by its last attempt. */
export interface Attempt extends Message {
  status: Delivery["status"];
  attempted_at: string | null;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: AttemptError | null;
  duration_ms: number | null;
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

/** A message whose first attempt is due. */
export function due(
  message: Pick<Message, "id" | "type" | "body"> & Partial<Message>,
): Attempt {
  const now = new Date().toISOString();
  return {
    product_id: null,
    version: null,
    next_cursor: null,
    attempts: 0,
    created_at: now,
    status: "waiting",
    attempted_at: null,
    next_attempt_at: now,
    response_status: null,
    response_body: null,
    error: null,
    duration_ms: null,
    ...message,
  };
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
): Promise<ProductPage> {
  const found = sql`
    from webhook_deliveries d
    where d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      ${
    status
      ? sql`and d.status = any(string_to_array(${status.join()}, ','))`
      : []
  }
  `;
  const entries = jsonArray(sql`
    select ${shownColumns} ${found}
    order by d.created_at desc, d.id
    ${limitOf(query)}
  `);
  const [page] = await database.scan(sql<ProductPage>`
    select
      ${entries}::text as entries,
      (select count(*) ${found})::float8 as total
    from webhooks w
    where w.organization_id = ${organization} and w.id = ${webhookId}
  `);
  if (!page) throw notFound(webhookId);
  return page;
}

/** An attempt as the response to a request for it. */
export function shownAttempt(
  { id, type, product_id, status, attempts, created_at, ...attempt }: Attempt,
): Delivery {
  const { body: _, version: __, next_cursor: ___, ...last } = attempt;
  return { id, type, product_id, status, attempts, created_at, ...last };
}

const columns = sql`
  d.id, d.type, d.body, d.product_id, d.version::text, d.next_cursor, d.attempts,
  ${rfc3339("d.created_at")} as created_at
`;

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

const isFree = sql`(d.sent_until is null or d.sent_until < now())`;

/**
 * Takes messages that wait, at most `limit`, to send them within `seconds`: those whose
 * time has come, or with `isEarly` any. A message whose product has changed since is
 * dropped: the newer one is on its way.
 */
export async function takeWaiting(
  database: Queries,
  webhookId: string,
  { limit, seconds, isEarly }: {
    limit: number;
    seconds: number;
    isEarly: boolean;
  },
): Promise<Message[]> {
  const waiting = sql`
    d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.status = 'waiting' and ${isFree}
      ${isEarly ? [] : sql`and d.next_attempt_at <= now()`}
  `;
  return await database.transaction(async (tx) => {
    const [, taken] = await tx.send(
      sql`delete from webhook_deliveries d where ${waiting} and not ${isCurrent}`,
      sql<{ id: string }>`
        select d.id
        from webhook_deliveries d
        where ${waiting}
        order by d.next_attempt_at, d.id
        limit ${limit}
        for update
      `,
    );
    const [, messages] = await tx.commit(
      ...send(webhookId, taken.map(({ id }) => id), seconds),
    );
    return messages;
  });
}

/** Marks the deliveries as being sent, and selects them. */
function send(webhookId: string, ids: string[], seconds: number) {
  const those = sql`
    d.organization_id = ${organization} and d.webhook_id = ${webhookId}
      and d.id = any(string_to_array(${ids.join()}, ','))
  `;
  return [
    sql`
      update webhook_deliveries d
      set sent_until = now() + make_interval(secs => ${seconds})
      where ${those}
    `,
    sql<Message & { status: Delivery["status"] }>`
      select ${columns}, d.status
      from webhook_deliveries d
      where ${those}
      order by d.next_attempt_at, d.id
    `,
  ] as const;
}

/**
 * Takes one delivery, whatever its status, to send it once more. Throws `NOT_FOUND`, or
 * `CONFLICT` while it is being sent or if its product has changed since.
 */
export async function takeDelivery(
  database: Queries,
  webhookId: string,
  id: string,
  { timeoutMs }: { timeoutMs: number },
): Promise<Message & { status: Delivery["status"] }> {
  const seconds = 2 * timeoutMs / 1_000;
  return await database.transaction(async (tx) => {
    const [[found]] = await tx.send(sql<
      { is_free: boolean; is_current: boolean }
    >`
      select ${isFree} as is_free, ${isCurrent} as is_current
      from webhook_deliveries d
      where d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.id = ${id}
      for update
    `);
    if (!found) throw new ApiError("NOT_FOUND", `No delivery with id "${id}"`);
    if (!found.is_free) {
      throw conflict("being_sent", "The message is being sent at the moment");
    }
    if (!found.is_current) {
      throw conflict(
        "superseded",
        "The product has changed since: the webhook gets a newer message",
      );
    }
    const [, [message]] = await tx.commit(...send(webhookId, [id], seconds));
    return message!;
  });
}

function conflict(code: string, message: string): ApiError {
  return new ApiError("CONFLICT", message, {
    details: [{ code, count: 1, message }],
  });
}

/** Stores what messages have become, for each webhook `w` of the organization with this condition. */
export function storeAttempts(
  condition: Statement,
  attempts: readonly Attempt[],
): Statement {
  return sql`
    insert into webhook_deliveries as d (
      organization_id, webhook_id, id, type, body, product_id, version, next_cursor, status,
      attempts, created_at, attempted_at, next_attempt_at, response_status, response_body,
      error, duration_ms
    )
    select
      w.organization_id, w.id, r.id, r.type, r.body, r.product_id, r.version, r.next_cursor,
      r.status, r.attempts, r.created_at, r.attempted_at, r.next_attempt_at,
      r.response_status, r.response_body, r.error, r.duration_ms
    from webhooks w
    cross join jsonb_to_recordset(${json(attempts)}) r (
      id text, type text, body text, product_id uuid, version bigint, next_cursor jsonb,
      status text, attempts int, created_at timestamptz, attempted_at timestamptz,
      next_attempt_at timestamptz, response_status int, response_body text, error text,
      duration_ms int
    )
    where w.organization_id = ${organization} and ${condition}
    on conflict (organization_id, webhook_id, id) do update set
      status = excluded.status,
      attempts = excluded.attempts,
      attempted_at = excluded.attempted_at,
      next_attempt_at = excluded.next_attempt_at,
      next_cursor = excluded.next_cursor,
      sent_until = null,
      response_status = excluded.response_status,
      response_body = excluded.response_body,
      error = excluded.error,
      duration_ms = excluded.duration_ms
  `;
}

/** Deletes the deliveries beyond the last 100 that succeeded, and the last 1,000 of 30 days that failed. */
export function prune(webhookId: string): Statement[] {
  const beyond = (status: string, kept: number) => {
    const those = sql`
      d.organization_id = ${organization} and d.webhook_id = ${webhookId} and d.status = ${status}
    `;
    return sql`
      delete from webhook_deliveries d
      where ${those} and (
        (d.created_at, d.id) <= (
          select d.created_at, d.id
          from webhook_deliveries d
          where ${those}
          order by d.created_at desc, d.id desc
          offset ${kept}
          limit 1
        )
        or d.status = 'failed' and d.created_at < now() - interval '30 days'
      )
    `;
  };
  return [beyond("succeeded", 100), beyond("failed", 1_000)];
}

/** Tells the organization's other webhooks that ask for it that this one, still enabled, will be disabled. */
export function announceDisabled(
  { id, description, reason }: Disabled,
): Statement {
  const at = new Date().toISOString();
  const message = due({
    id: messageId(id, at),
    type: "webhook.disabled",
    body: payload("webhook.disabled", { id, description, reason }, at),
  });
  return storeAttempts(
    sql`
      w.id <> ${id} and w.enabled and 'webhook.disabled' = any(w.events)
      and exists (
        select
        from webhooks o
        where o.organization_id = ${organization} and o.id = ${id} and o.enabled
      )
    `,
    [message],
  );
}
