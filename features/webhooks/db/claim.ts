import type { WebhookConfig } from "../../../schema/config.ts";
import type { Delivery } from "../schema.ts";
import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import {
  addMessages,
  announceDisabled,
  deliveriesOf,
  isSuperseded,
  type Message,
  prune,
  sendAll,
  storeDeliveries,
} from "./deliveries.ts";
import { nextMessages } from "./feed.ts";
import { afterAttempts, type Attempt } from "./outcomes.ts";
import {
  BACK_OFF_AFTER,
  isoTime,
  pausedUntil,
  selectLocked,
  storeWebhook,
  type Webhook,
  webhookNotFound,
} from "./state.ts";
import { MAX_IN_FLIGHT } from "./work.ts";

/*
 * Claims messages to send. A webhook is a row with a cursor in the feed of changes. Terms of this
 * folder:
 *
 *     message    what is sent, with the same id and body each time
 *     attempt    one POST of a message
 *     delivery   a message as callers see it: one about a product, after its first attempt
 *     lease      the time in which no other process sends a claimed message, until `sent_until`
 *
 * The path of a message:
 *
 *     findWork             work.ts       finds webhooks with something to send
 *     claimMessages        this file     in a transaction that locks the webhook:
 *         afterAttempts    outcomes.ts       the outcomes of attempts for messages and webhook
 *         claimDue         this file         the waiting messages that are due
 *         nextMessages     feed.ts           the next messages of the feed
 *     attempt              sender/       POSTs the claimed messages; the next claim stores the outcomes
 *
 * `state.ts` is the row of a webhook, `deliveries.ts` those of its messages. `requests.ts` has the
 * operations of callers, `manual.ts` the messages that they send.
 */

/** The result of a claim. */
export interface Claim {
  webhook: Webhook;
  /** Whether the attempts have disabled it. */
  isDisabled: boolean;
  /** The deliveries of the attempts. A message that was dropped meanwhile has none. */
  deliveries: Delivery[];
  messages: Message[];
  /** Whether the feed has more, although there was room for more messages. */
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
      selectLocked(id),
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
    const isDisabled = before.enabled && !webhook.enabled;
    const hasRecovered = before.failures >= BACK_OFF_AFTER &&
      webhook.failures < BACK_OFF_AFTER;
    const leaseEnd = isoTime(now + 2 * config.timeoutMs);
    const inFlight = maxInFlight(webhook, now);

    const [, , claimed, [unsent]] = await tx.send(
      storeDeliveries(id, deliveries),
      dropStale(before),
      claimDue(before, { room, inFlight, leaseEnd }),
      unsentOf(id),
    );
    const { waiting, sent, sent_products, waits_for_cursor } = unsent!;
    const followed = await nextMessages(
      { lookUp: async (statement) => (await tx.send(statement))[0] },
      { webhook, now },
      waits_for_cursor ? 0 : Math.min(
        room - claimed.length,
        inFlight - sent,
        config.waitingMax - waiting,
      ),
    );
    // A message about a product waits until the older one has arrived.
    const mayGo = ({ product_id = null }: { product_id?: string | null }) =>
      product_id === null || !sent_products.includes(product_id);
    const made = followed.messages.map((message) => (
      mayGo(message) ? { ...message, sent_until: leaseEnd } : message
    ));
    await tx.commit(
      storeWebhook({ ...webhook, cursor: followed.cursor }),
      ...made.length > 0 ? [addMessages(sql`webhook.id = ${id}`, made)] : [],
      ...hasRecovered ? [sendAll(id)] : [],
      ...isDisabled ? announceDisabled(webhook) : [],
      ...deliveries.length > 0 ? [prune(id)] : [],
    );
    // An attempt must end within the lease of its message.
    const messages = performance.now() > beginBy
      ? []
      : [...claimed, ...made.filter(({ sent_until }) => sent_until)];
    const { hasMore } = followed;
    return { webhook, isDisabled, deliveries, messages, hasMore };
  });
}

function maxInFlight(webhook: Webhook, now: number): number {
  if (!webhook.enabled || pausedUntil(webhook) > now) return 0;
  return webhook.failures > 0 ? 1 : MAX_IN_FLIGHT;
}

/** A message that is claimed, and the product that it is about. */
interface Claimed extends Message {
  product_id: string | null;
}

/**
 * Claims the messages that are due, the oldest first: until their lease ends, no other process
 * sends them. Some messages of the webhook may be sent already, and count.
 */
export function claimDue(
  webhook: Webhook,
  { room, inFlight, leaseEnd }: {
    room: number;
    inFlight: number;
    leaseEnd: string;
  },
): Statement<Claimed> {
  const { id } = webhook;
  return sql<Claimed>`
    update webhook_deliveries message
    set sent_until = ${leaseEnd}
    where message.organization_id = ${organization} and message.webhook_id = ${id}
      and message.id in (
        select due.id
        from webhook_deliveries due
        where due.organization_id = ${organization} and due.webhook_id = ${id}
          and due.status = 'waiting'
          and due.next_attempt_at <= greatest(now(), ${dueBy(webhook)}::timestamptz)
          and (due.sent_until is null or due.sent_until < now())
          -- A message about a product waits until an older one has arrived.
          and not exists (
            select
            from webhook_deliveries older
            where older.organization_id = ${organization} and older.webhook_id = ${id}
              and older.sent_until >= now() and older.product_id = due.product_id
          )
        order by due.next_attempt_at, due.id
        limit greatest(0, least(${room}::bigint, ${inFlight}::bigint - (
          select count(*)
          from webhook_deliveries sent
          where sent.organization_id = ${organization} and sent.webhook_id = ${id}
            and sent.status = 'waiting' and sent.sent_until >= now()
        )))
      )
    returning message.id, message.body, message.product_id
  `;
}

/** Deletes the due messages about products that have changed since: newer messages follow. */
function dropStale(webhook: Webhook): Statement {
  return sql`
    delete from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${webhook.id}
      and message.status = 'waiting'
      and message.next_attempt_at <= greatest(now(), ${dueBy(webhook)}::timestamptz)
      and (message.sent_until is null or message.sent_until < now())
      and ${isSuperseded}
  `;
}

/**
 * A webhook that backs off sends any message after its pause. Others send those whose time has
 * come.
 */
function dueBy({ failures }: Webhook): "infinity" | null {
  return failures >= BACK_OFF_AFTER ? "infinity" : null;
}

/** The messages of a webhook that have not arrived. */
interface Unsent {
  waiting: number;
  /** The number that are being sent. */
  sent: number;
  /** The products that these are about. */
  sent_products: (string | null)[];
  /** Whether one of the messages moves the cursor. Until it has arrived, the feed is not read. */
  waits_for_cursor: boolean;
}

function unsentOf(id: string): Statement<Unsent> {
  return sql`
    select
      count(*)::int as waiting,
      (count(*) filter (where message.sent_until >= now()))::int as sent,
      coalesce(
        json_agg(message.product_id) filter (where message.sent_until >= now()), '[]'
      ) as sent_products,
      count(message.next_cursor) > 0 as waits_for_cursor
    from webhook_deliveries message
    where message.organization_id = ${organization} and message.webhook_id = ${id}
      and message.status = 'waiting'
  `;
}
