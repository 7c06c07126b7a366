import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { Attempt, Message } from "../../db/webhooks/deliveries.ts";
import { REST_AFTER, type State } from "../../db/webhooks/leases.ts";
import { type Secret, signing } from "../../db/webhooks/webhooks.ts";
import type { WebhookConfig } from "../../schema/config.ts";
import { VERSION } from "../../schema/version.ts";
import { type Answer, post } from "./post.ts";

/* One attempt to send a message, and what follows from it. */

const USER_AGENT = `product-catalogue/${VERSION}`;

/** The longest pause of a resting webhook. */
const MAX_REST_SECONDS = 300;

/** The longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** A webhook with what an attempt needs of it. */
export interface Target {
  url: string;
  secrets: readonly Secret[];
}

/** An answer with the times of its attempt. */
export type TimedAnswer = Answer & {
  attempted_at: string;
  duration_ms: number;
};

/** Sends a message, signed with all secrets (Standard Webhooks 1.0.0). Never throws. */
export async function attempt(
  { url, secrets }: Target,
  { id, body }: Pick<Message, "id" | "body">,
  { timeoutMs, allowedTargets: allowed }: WebhookConfig,
): Promise<TimedAnswer> {
  const start = performance.now();
  const now = Date.now();
  const timestamp = String(Math.floor(now / 1_000));
  const headers = {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signing(secrets)
      .map(({ secret }) => signature(secret, `${id}.${timestamp}.${body}`))
      .join(" "),
  };
  const answer = await post({ url, headers, body, timeoutMs, allowed });
  return {
    ...answer,
    attempted_at: new Date(now).toISOString(),
    duration_ms: Math.round(performance.now() - start),
  };
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}

/** What an attempt has made of its message and its webhook. */
export interface Judged {
  attempt: Attempt;
  state: State;
  /** Whether it ended a rest. */
  isBack: boolean;
}

/**
 * Judges an attempt. `failures` is the number that the webhook had before it: what was sent
 * before a rest began does not prolong it.
 */
export function judge(
  message: Message,
  answer: TimedAnswer,
  { state, failures = state.failures }: { state: State; failures?: number },
  config: WebhookConfig,
): Judged {
  const attempts = message.attempts + 1;
  const tried = {
    ...message,
    attempts,
    attempted_at: answer.attempted_at,
    response_status: answer.status,
    response_body: answer.body,
    error: answer.error,
    duration_ms: answer.duration_ms,
  };
  const now = Date.now();
  if (answer.error === null) {
    const isBack = state.failures >= REST_AFTER;
    const isOver = isBack || (state.resumes_at ?? 0) <= now;
    return {
      attempt: {
        ...tried,
        status: "succeeded",
        next_attempt_at: null,
        next_cursor: null,
      },
      state: {
        ...state,
        failures: 0,
        failing_since: null,
        resumes_at: isOver ? null : state.resumes_at,
        last_success_at: now,
      },
      isBack,
    };
  }
  const isStale = state.failures >= REST_AFTER && failures !== state.failures;
  const failed: State = {
    ...state,
    failures: state.failures + (isStale ? 0 : 1),
    failing_since: state.failing_since ?? now,
  };
  failed.resumes_at = resumesAt(failed, isStale, answer, now, config);
  failed.disabled_reason = answer.status === 410
    ? "gone"
    : now - failed.failing_since! >= config.disableSeconds * 1_000
    ? "failing"
    : null;
  // If nothing else has succeeded meanwhile, the receiver was down: the message is not to blame.
  const isBad = attempts > config.retrySeconds.length &&
    message.next_cursor === null &&
    (state.last_success_at ?? 0) > Date.parse(message.created_at);
  const next = now + pauseMs(step(config, attempts - 1));
  return {
    attempt: {
      ...tried,
      status: isBad ? "failed" : "waiting",
      next_attempt_at: isBad ? null : new Date(next).toISOString(),
    },
    state: failed,
    isBack: false,
  };
}

/** When the webhook goes on, if it rests or the receiver has asked for a pause. */
function resumesAt(
  { failures, resumes_at }: State,
  isStale: boolean,
  { status, retryAfter }: Answer,
  now: number,
  config: WebhookConfig,
): number | null {
  const times = [resumes_at ?? 0];
  if (failures >= REST_AFTER && !isStale) {
    const seconds = step(config, failures - REST_AFTER);
    times.push(now + pauseMs(Math.min(seconds, MAX_REST_SECONDS)));
  }
  if (status === 429 || status === 503) {
    times.push(now + retryAfterMs(retryAfter, now));
  }
  const latest = Math.max(...times);
  return latest > now ? latest : null;
}

/** The value of `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. */
function retryAfterMs(value = "", now: number): number {
  const ms = /^\d+$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - now;
  return Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS);
}

/** A step of the schedule. The last one repeats. */
function step({ retrySeconds }: WebhookConfig, i: number): number {
  return retrySeconds[Math.min(i, retrySeconds.length - 1)]!;
}

/** The pause, with up to a tenth more: what failed together is not sent together. */
function pauseMs(seconds: number): number {
  return seconds * 1_000 * (1 + Math.random() / 10);
}
