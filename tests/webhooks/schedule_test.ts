import { assert, assertEquals } from "@std/assert";
import { afterAttempts } from "../../features/webhooks/db/outcomes.ts";
import { isoTime, type Webhook } from "../../features/webhooks/db/state.ts";
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
  const attempt = () => webhook = fail(webhook, { ...DELIVERY, attempts: 0 }, now).webhook;
  for (let i = 0; i < 4; i++) attempt();
  assertEquals([webhook.failures, webhook.resumes_at], [4, null]);

  for (const seconds of [5, 300, 300, 300, 300]) {
    attempt();
    assertPause(now, webhook.resumes_at, seconds);
    now = Date.parse(webhook.resumes_at!);
  }
});

type Delivery = Given[2][number];

/** The time of the attempts below. */
const NOW = CREATED + 10 * HOUR * 1_000;

const CURSOR = { version: "2" } as unknown as Delivery["next_cursor"];

/** What an attempt makes of its message and its webhook: the table in `outcomes.ts`, and its notes. */
const OUTCOMES: Record<string, {
  status?: number;
  retryAfter?: string;
  url?: string;
  message?: Partial<Delivery>;
  webhook?: Partial<Webhook>;
  /** The status of the message, and the seconds until its next attempt. */
  becomes: [string, number | null];
  /** Of the webhook, with seconds from now for times. */
  after: Partial<Record<keyof Webhook, unknown>>;
}> = {
  "2xx": {
    status: 204,
    webhook: { failures: 7, failing_since: isoTime(CREATED) },
    becomes: ["succeeded", null],
    after: { failures: 0, failing_since: null, last_success_at: 0 },
  },
  "2xx to a message that moves the cursor": {
    status: 200,
    message: { next_cursor: CURSOR },
    becomes: ["succeeded", null],
    after: { cursor: CURSOR },
  },
  "410": {
    status: 410,
    becomes: ["waiting", 5],
    after: {
      enabled: false,
      disabled_reason: "gone",
      disabled_at: 0,
      failures: 1,
    },
  },
  "410 to a disabled webhook": {
    status: 410,
    webhook: { enabled: false, disabled_reason: "by_hand" },
    becomes: ["waiting", 5],
    after: { enabled: false, disabled_reason: "by_hand" },
  },
  "429 with seconds": {
    status: 429,
    retryAfter: "60",
    becomes: ["waiting", 5],
    after: { paused_until: 60, failures: 1, resumes_at: null },
  },
  "503 with a date": {
    status: 503,
    retryAfter: new Date(NOW + 90_000).toUTCString(),
    becomes: ["waiting", 5],
    after: { paused_until: 90 },
  },
  "503 with more than a day": {
    status: 503,
    retryAfter: "1000000",
    becomes: ["waiting", 5],
    after: { paused_until: 86_400 },
  },
  "500, whose Retry-After counts for nothing": {
    status: 500,
    retryAfter: "60",
    becomes: ["waiting", 5],
    after: { paused_until: 0, failures: 1, failing_since: 0, enabled: true },
  },
  "none, the fifth time": {
    webhook: { failures: 4 },
    becomes: ["waiting", 5],
    after: { failures: 5, resumes_at: 5 },
  },
  "none, while the webhook rests": {
    webhook: { failures: 5, resumes_at: isoTime(NOW + 3_000) },
    becomes: ["waiting", 5],
    after: { failures: 5, resumes_at: 3 },
  },
  "none, after the last step, and another has succeeded": {
    message: { attempts: STEPS.length },
    becomes: ["failed", null],
    after: { failures: 1 },
  },
  "none, after the last step, and none has succeeded": {
    message: { attempts: STEPS.length },
    webhook: { last_success_at: isoTime(CREATED - 1_000) },
    becomes: ["waiting", 24 * HOUR],
    after: { failures: 1 },
  },
  "none, after the last step of a message that moves the cursor": {
    message: { attempts: STEPS.length, type: "feed.advanced" },
    becomes: ["waiting", 24 * HOUR],
    after: { failures: 1 },
  },
  "none, for five days": {
    webhook: { failing_since: isoTime(NOW - 120 * HOUR * 1_000) },
    becomes: ["waiting", 5],
    after: { enabled: false, disabled_reason: "failing" },
  },
  "none, to a message that is tried again by hand": {
    message: { status: "failed" },
    becomes: ["failed", null],
    after: { failures: 1 },
  },
  "2xx from an older URL": {
    status: 204,
    url: "https://older.example",
    webhook: { failures: 7 },
    becomes: ["succeeded", null],
    after: { failures: 7 },
  },
};

Deno.test("An attempt makes of its message and its webhook what its answer says", async ({ step: it }) => {
  const fromNow = (value: unknown) =>
    typeof value === "string" && Date.parse(value) > CREATED
      ? (Date.parse(value) - NOW) / 1_000
      : value;
  for (const [answer, outcome] of Object.entries(OUTCOMES)) {
    await it(answer, () => {
      const { status = null, retryAfter, url = WEBHOOK.url } = outcome;
      const result = {
        attempted_at: isoTime(NOW),
        duration_ms: 1,
        response_status: status,
        response_body: null,
        error: status === null ? "connection" : status < 300 ? null : "status",
      } as Given[1][number]["result"];
      const { webhook, deliveries: [delivery] } = afterAttempts(
        { ...WEBHOOK, ...outcome.webhook },
        [{ id: DELIVERY.id, url, retryAfter, result }],
        [{ ...DELIVERY, ...outcome.message }],
        NOW,
        config,
      );

      const [becomes, seconds] = outcome.becomes;
      assertEquals(delivery!.status, becomes);
      if (seconds === null) assertEquals(delivery!.next_attempt_at, null);
      else assertPause(NOW, delivery!.next_attempt_at, seconds);
      for (const [name, expected] of Object.entries(outcome.after)) {
        const found = fromNow(webhook[name as keyof Webhook]);
        // A pause has up to a tenth more.
        if (typeof found === "number" && found > 0 && name === "resumes_at") {
          assert(
            found >= Number(expected) && found <= Number(expected) * 1.1,
            `${name}: ${found}`,
          );
        } else assertEquals(found, expected, name);
      }
    });
  }
});
