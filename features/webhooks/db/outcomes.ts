import type { WebhookConfig } from "../../../schema/config.ts";
import type { Delivery } from "../schema.ts";
import type { StoredDelivery } from "./deliveries.ts";
import { BACK_OFF_AFTER, disabledBy, isoTime, msOf, RECOVERED, type Webhook } from "./state.ts";

/*
 * What an attempt makes of its message and of its webhook:
 *
 *     answer                     the message                       the webhook
 *     -------------------------  --------------------------------  ----------------------------
 *     2xx                        succeeded                         recovers, and its cursor may move
 *     410                        waits for the next step           is disabled: gone
 *     429, 503 with Retry-After  waits for the next step           fails, and pauses until then
 *     another, or none           waits for the next step           fails, and from five in a row
 *                                                                  rests after each
 *     - after the last step      failed, if another has succeeded  fails
 *                                since it was made; else it waits
 *     - without a success for    waits for the next step           is disabled: failing
 *       WEBHOOK_DISABLE_SECONDS
 *
 * A failed or delivered message that a caller sends again does not wait: the attempt succeeds, or the
 * message is failed. An attempt at an older URL of the webhook changes the message, not the webhook.
 */

/** The longest pause after failures. */
const MAX_BACK_OFF_SECONDS = 300;

/** The longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** An attempt to send a message. */
export interface Attempt {
  /** The id of the message. */
  id: string;
  /** The URL that was called. */
  url: string;
  /** The header `Retry-After`. */
  retryAfter?: string | undefined;
  /** The response of the receiver, or the reason why there is none. */
  result: Pick<
    Delivery,
    | "attempted_at"
    | "duration_ms"
    | "response_status"
    | "response_body"
    | "error"
  >;
}

/**
 * Returns the webhook after attempts, and their deliveries. A message that was dropped meanwhile
 * has none, because its webhook was set to another cursor.
 */
export function afterAttempts(
  before: Webhook,
  attempts: readonly Attempt[],
  stored: readonly StoredDelivery[],
  now: number,
  config: WebhookConfig,
): { webhook: Webhook; deliveries: Delivery[] } {
  let webhook = before;
  const deliveries: Delivery[] = [];
  for (const attempt of attempts) {
    const delivery = stored.find(({ id }) => id === attempt.id);
    if (delivery) {
      deliveries.push(deliveryAfter(delivery, attempt, webhook, now, config));
    }
    // The caller has changed the URL meanwhile, so the attempt shows nothing about the new
    // receiver.
    if (attempt.url === webhook.url) {
      webhook = webhookAfter(webhook, attempt, now, config);
    }
    const hasMoved = attempt.result.error === null &&
      delivery?.status === "waiting" && delivery.next_cursor;
    if (hasMoved) webhook = { ...webhook, cursor: delivery.next_cursor! };
  }
  return { webhook, deliveries };
}

/** The delivery after the attempt. A manual retry of a delivery that did not wait is the last attempt. */
function deliveryAfter(
  { next_cursor: _, ...delivery }: StoredDelivery,
  { result }: Attempt,
  { last_success_at }: Webhook,
  now: number,
  { retrySeconds }: WebhookConfig,
): Delivery {
  const attempts = delivery.attempts + 1;
  const ended = { ...delivery, ...result, attempts, next_attempt_at: null };
  if (result.error === null) return { ...ended, status: "succeeded" };
  // If no other message has succeeded meanwhile, the receiver was down, and the message is not the
  // cause.
  const isBad = attempts > retrySeconds.length &&
    !delivery.type.startsWith("feed.") &&
    msOf(last_success_at) > msOf(delivery.created_at);
  if (isBad || delivery.status !== "waiting") {
    return { ...ended, status: "failed" };
  }
  const pause = pauseMs(step(retrySeconds, attempts - 1));
  return { ...ended, next_attempt_at: isoTime(now + pause) };
}

function webhookAfter(
  webhook: Webhook,
  attempt: Attempt,
  now: number,
  { retrySeconds, disableSeconds }: WebhookConfig,
): Webhook {
  const { error, response_status } = attempt.result;
  if (error === null) {
    return { ...webhook, ...RECOVERED, last_success_at: isoTime(now) };
  }
  const failing_since = webhook.failing_since ?? isoTime(now);
  const reason = response_status === 410
    ? "gone"
    : now - msOf(failing_since) >= disableSeconds * 1_000
    ? "failing"
    : undefined;
  const paused_until = Math.max(
    msOf(webhook.paused_until),
    now + askedPauseMs(attempt, now),
  );
  return {
    ...webhook,
    ...failed(webhook, now, retrySeconds),
    failing_since,
    paused_until: isoTime(paused_until),
    ...reason && webhook.enabled && disabledBy(reason, now),
  };
}

/** Counts a failure. Messages that were sent before a pause began do not prolong it. */
function failed(
  { failures, resumes_at }: Webhook,
  now: number,
  retrySeconds: readonly number[],
): Partial<Webhook> {
  if (msOf(resumes_at) > now) return {};
  const over = failures + 1 - BACK_OFF_AFTER;
  if (over < 0) return { failures: failures + 1 };
  const seconds = Math.min(step(retrySeconds, over), MAX_BACK_OFF_SECONDS);
  return {
    failures: failures + 1,
    resumes_at: isoTime(now + pauseMs(seconds)),
  };
}

/** The pause that `Retry-After` (RFC 9110, 10.2.3) asks for: seconds, or a date. */
function askedPauseMs(
  { result: { response_status }, retryAfter = "" }: Attempt,
  now: number,
): number {
  if (response_status !== 429 && response_status !== 503) return 0;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);
}

/** A step of the schedule. The last one repeats. */
function step(retrySeconds: readonly number[], i: number): number {
  return retrySeconds[Math.min(i, retrySeconds.length - 1)]!;
}

/** The pause, with up to a tenth more: messages that failed together are not sent together. */
function pauseMs(seconds: number): number {
  return seconds * 1_000 * (1 + Math.random() / 10);
}
