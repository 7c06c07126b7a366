import { assert, assertEquals } from "@std/assert";
import { afterAttempts } from "../../db/webhooks/outcomes.ts";
import { isoTime, type Webhook } from "../../db/webhooks/webhook.ts";
import { readConfig } from "../../schema/config.ts";

/*
 * The default schedule takes three days, so that only its outcomes are tried: a message
 * and its webhook after one failed attempt after the other.
 */

const HOUR = 3_600;

/** The steps of Standard Webhooks 1.0.0, in seconds. */
const STEPS = [
  5,
  300,
  HOUR / 2,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

const CREATED = Date.parse("2027-01-01T00:00:00Z");

type Given = Parameters<typeof afterAttempts>;

const WEBHOOK = {
  url: "https://receiver.example",
  enabled: true,
  failures: 0,
  failing_since: null,
  resumes_at: null,
  paused_until: null,
  // Another message has arrived since.
  last_success_at: isoTime(CREATED + 1_000),
} as Given[0];

const DELIVERY = {
  id: "msg_1",
  type: "product.changed",
  status: "waiting",
  attempts: 0,
  created_at: isoTime(CREATED),
  next_cursor: null,
} as Given[2][number];

const { webhooks: config } = readConfig(() => undefined);

/** What a failed attempt at this time makes of both. */
function fail(webhook: Webhook, delivery: Given[2][number], now: number) {
  const result = {
    attempted_at: isoTime(now),
    duration_ms: 1,
    response_status: 500,
    response_body: "",
    error: "status",
  } as Given[1][number]["result"];
  const attempt = { id: delivery.id, url: webhook.url, result };
  const after = afterAttempts(webhook, [attempt], [delivery], now, config);
  return { ...after, delivery: after.deliveries[0]! };
}

/** Asserts that a time is this many seconds after another, and a tenth more at most. */
function assertPause(from: number, to: string | null, seconds: number) {
  const pause = (Date.parse(to!) - from) / 1_000;
  assert(
    pause >= seconds && pause <= seconds * 1.1,
    `${pause} s instead of ${seconds} s`,
  );
}

Deno.test("A message is tried again after each step of the schedule, and then failed", () => {
  let delivery = DELIVERY;
  let now = CREATED;
  for (const [i, seconds] of STEPS.entries()) {
    const after = fail(WEBHOOK, delivery, now);
    const { next_attempt_at } = after.delivery;
    assertEquals([after.delivery.status, after.delivery.attempts], [
      "waiting",
      i + 1,
    ]);
    assertPause(now, next_attempt_at, seconds);
    delivery = { ...after.delivery, next_cursor: null };
    now = Date.parse(next_attempt_at!);
  }

  const last = fail(WEBHOOK, delivery, now).delivery;

  assertEquals(
    [last.status, last.attempts, last.next_attempt_at],
    ["failed", 10, null],
  );
});

Deno.test("A webhook rests by the schedule, five minutes at most", () => {
  let webhook = WEBHOOK;
  let now = CREATED;
  const attempt = () =>
    webhook = fail(webhook, { ...DELIVERY, attempts: 0 }, now).webhook;
  for (let i = 0; i < 4; i++) attempt();
  assertEquals([webhook.failures, webhook.resumes_at], [4, null]);

  for (const seconds of [5, 300, 300, 300, 300]) {
    attempt();
    assertPause(now, webhook.resumes_at, seconds);
    now = Date.parse(webhook.resumes_at!);
  }
});
