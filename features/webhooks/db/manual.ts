import type { WebhookConfig } from "../../../schema/config.ts";
import { ApiError, conflict } from "../../../schema/errors.ts";
import type { Delivery } from "../schema.ts";
import { organization, sql } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { claimMessages } from "./claim.ts";
import { isSuperseded, type Message, messageId, payload, sendAll } from "./deliveries.ts";
import type { Attempt } from "./outcomes.ts";
import { readWebhook } from "./requests.ts";
import { isoTime, lockWebhook, RECOVERED, storeWebhook, type Webhook } from "./state.ts";

/*
 * Sends messages that a caller asks for, one at a time: a test, or a retry. They are sent even if
 * the webhook pauses. For example, `POST /webhooks/{id}/test` sends `webhook.test` now.
 */

/** What a manual message needs of the service. */
export interface ManualSending {
  /**
   * Returns queries. An attempt may take longer than the time limit of a request, so the queries
   * after it get a new one.
   */
  queries: () => Queries;
  attempt: (webhook: Webhook, message: Message) => Promise<Attempt>;
  config: WebhookConfig;
}

/**
 * Sends a test message. Its failure changes nothing. Its success ends the pauses after failures.
 * Throws `NOT_FOUND`.
 */
export async function sendTest(
  { queries, attempt }: ManualSending,
  webhookId: string,
): Promise<Delivery> {
  const { webhook } = await readWebhook(queries(), webhookId);
  const type = "webhook.test";
  const id = messageId(webhookId, crypto.randomUUID());
  const { result } = await attempt(webhook, { id, body: payload(type, {}) });
  const isSuccess = result.error === null;
  if (isSuccess) await endPauses(queries(), webhookId);
  return {
    id,
    type,
    product_id: null,
    status: isSuccess ? "succeeded" : "failed",
    attempts: 1,
    created_at: result.attempted_at!,
    next_attempt_at: null,
    ...result,
  };
}

/**
 * Ends the pauses after failures, of the webhook and of its messages, since its receiver works
 * again. A pause that the receiver has asked for continues. Returns the webhook. Throws
 * `NOT_FOUND`.
 */
async function endPauses(database: Queries, id: string): Promise<Webhook> {
  return await database.transaction(async (tx) => {
    const { webhook: before } = await lockWebhook(tx, id);
    const webhook = { ...before, ...RECOVERED };
    await tx.commit(storeWebhook(webhook), sendAll(id));
    return webhook;
  });
}

/** The result of a retry. */
export interface Retried {
  delivery: Delivery;
  webhook: Webhook;
  /** Whether the attempt has disabled the webhook. */
  isDisabled: boolean;
}

/**
 * Sends a message again. No other attempt follows unless the message waits. Its success ends the
 * pauses after failures. Throws `NOT_FOUND`, and `CONFLICT` while the message is being sent or if
 * its product has changed since.
 */
export async function retryMessage(
  { queries, attempt, config }: ManualSending,
  webhookId: string,
  id: string,
): Promise<Retried> {
  const taken = await takeMessage(queries(), webhookId, id, config);
  const made = await attempt(taken.webhook, taken.message);
  const { webhook, isDisabled, deliveries: [delivery] } = await claimMessages(
    queries(),
    webhookId,
    { attempts: [made], room: 0 },
    config,
  );
  // The webhook was set to another cursor meanwhile.
  if (!delivery) throw deliveryNotFound(id);
  const isSuccess = delivery.status === "succeeded";
  return {
    delivery,
    webhook: isSuccess ? await endPauses(queries(), webhookId) : webhook,
    isDisabled,
  };
}

/** Leases one message, whatever its status. */
async function takeMessage(
  database: Queries,
  webhookId: string,
  id: string,
  { timeoutMs }: WebhookConfig,
): Promise<{ webhook: Webhook; message: Message }> {
  return await database.transaction(async (tx) => {
    const { webhook, now } = await lockWebhook(tx, webhookId);
    const [[message]] = await tx.send(
      sql<Message & { is_sent: boolean; is_superseded: boolean }>`
        select
          message.id, message.body, coalesce(message.sent_until >= now(), false) as is_sent,
          ${isSuperseded} as is_superseded
        from webhook_deliveries message
        where message.organization_id = ${organization} and message.webhook_id = ${webhookId} and message.id = ${id}
      `,
    );
    if (!message) throw deliveryNotFound(id);
    if (message.is_sent) {
      throw conflict("being_sent", "The message is being sent at the moment");
    }
    if (message.is_superseded) {
      throw conflict(
        "superseded",
        "The product has changed since: the webhook gets a newer message",
      );
    }
    await tx.commit(sql`
      update webhook_deliveries message
      set sent_until = ${isoTime(now + 2 * timeoutMs)}
      where message.organization_id = ${organization} and message.webhook_id = ${webhookId}
        and message.id = ${id}
    `);
    return { webhook, message };
  });
}

/** The error for a delivery that the webhook does not have. */
function deliveryNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No delivery with id "${id}"`);
}
