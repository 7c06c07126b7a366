import type { WebhookConfig } from "../../schema/config.ts";
import type { Delivery } from "../../schema/webhooks.ts";
import { sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  addMessages,
  announceDisabled,
  deliveriesOf,
  dropStale,
  dueMessages,
  lease,
  type Message,
  prune,
  sendAll,
  storeDeliveries,
} from "./deliveries.ts";
import { follow } from "./feed.ts";
import { afterAttempts, type Attempt } from "./outcomes.ts";
import {
  BACK_OFF_AFTER,
  isoTime,
  locked,
  pausedUntil,
  storeWebhook,
  type Webhook,
  webhookNotFound,
} from "./webhook.ts";
import { backlogOf, MAX_IN_FLIGHT } from "./work.ts";

/** What a claim has made of a webhook. */
export interface Claim {
  webhook: Webhook;
  /** Whether the attempts have disabled it. */
  isDisabled: boolean;
  /** The deliveries of the attempts. A message that was dropped meanwhile has none. */
  deliveries: Delivery[];
  messages: Message[];
  /** Whether the feed goes on, though there was room for more of its messages. */
  hasMore: boolean;
}

/**
 * Stores the outcomes of attempts, and claims up to `room` messages to send: waiting ones
 * before the next ones of the feed. Both in a transaction that locks the webhook. Throws
 * `NOT_FOUND`.
 */
export async function claimMessages(
  database: Queries,
  id: string,
  { attempts, room }: { attempts: readonly Attempt[]; room: number },
  config: WebhookConfig,
): Promise<Claim> {
  return await database.transaction(async (tx) => {
    const beginBy = performance.now() + config.timeoutMs;
    const [[row], stored] = await tx.send(
      locked(id),
      deliveriesOf(id, attempts),
    );
    if (!row) throw webhookNotFound(id);
    const { webhook: before, now } = row;
    const { webhook, deliveries } = afterAttempts(
      before,
      attempts,
      stored,
      now,
      config,
    );

    const [, [backlog]] = await tx.send(
      storeDeliveries(id, deliveries),
      backlogOf(id),
    );
    const [, due] = backlog!.due > 0
      ? await tx.send(dropStale(id), dueMessages(id))
      : [[], []];
    const { waiting, untried, sent, sent_products } = backlog!;
    const free = Math.max(0, Math.min(room, maxInFlight(webhook, now) - sent));
    const beingSent = new Set(sent_products);
    // A message about a product waits until an older one has arrived.
    const isNext = ({ product_id }: { product_id?: string | null }) =>
      !product_id || !beingSent.has(product_id);
    const leased = due.filter(isNext).slice(0, free);
    for (const { product_id } of leased) beingSent.add(product_id);
    const followed = await follow(
      { lookUp: async (statement) => (await tx.send(statement))[0] },
      { webhook, now },
      backlog!.waits_for_cursor
        ? 0
        : Math.min(free - leased.length, config.waitingMax - waiting - untried),
    );
    const leaseEnd = isoTime(now + 2 * config.timeoutMs);
    const made = followed.messages.map((message) => (
      isNext(message) ? { ...message, sent_until: leaseEnd } : message
    ));
    const isDisabled = before.enabled && !webhook.enabled;
    const hasRecovered = before.failures >= BACK_OFF_AFTER &&
      webhook.failures < BACK_OFF_AFTER;
    await tx.commit(
      storeWebhook({ ...webhook, cursor: followed.cursor }),
      ...leased.length > 0 ? [lease(id, leased, leaseEnd)] : [],
      ...made.length > 0 ? [addMessages(sql`w.id = ${id}`, made)] : [],
      ...hasRecovered ? [sendAll(id)] : [],
      ...isDisabled ? announceDisabled(webhook) : [],
      ...deliveries.length > 0 ? [prune(id)] : [],
    );
    // An attempt must end within the lease of its message.
    const messages = performance.now() > beginBy
      ? []
      : [...leased, ...made.filter(({ sent_until }) => sent_until)];
    const { hasMore } = followed;
    return { webhook, isDisabled, deliveries, messages, hasMore };
  });
}

function maxInFlight(webhook: Webhook, now: number): number {
  if (!webhook.enabled || pausedUntil(webhook) > now) return 0;
  return webhook.failures > 0 ? 1 : MAX_IN_FLIGHT;
}
