import { assert, assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { openReceiver } from "../support/servers/receiver.ts";
import { inTime } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { settled } from "../support/app/settled.ts";
import { timedWebhookTest, VARIABLES, webhookTest } from "./scene.ts";

const OK = () => new Response(null, { status: 204 });

function failing(status = 500, headers?: HeadersInit) {
  return () => new Response("Down", { status, headers });
}

function titles(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `Book ${i}`);
}

timedWebhookTest("A message that fails", async (scene, { step: it }) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook();

  await it("waits and is sent again, alike", async () => {
    const seen = Promise.withResolvers<void>();
    receiver.answer(async () => {
      if (receiver.received.length === 1) return failing()();
      await seen.promise;
      return OK();
    });
    await scene.product("Emma");
    await scene.until(webhook, "waiting", 1);
    const [waiting] = await scene.deliveries(webhook, "waiting");
    assertEquals(
      [waiting.error, waiting.response_status, waiting.response_body],
      ["status", 500, "Down"],
    );
    assert(
      Date.parse(waiting.next_attempt_at) > Date.parse(waiting.attempted_at),
    );
    assert((await scene.state(webhook)).failing_since);
    seen.resolve();
    await scene.until(webhook, "waiting", 0);

    const [first, second] = receiver.received;
    assertEquals([second!.id, second!.body], [first!.id, first!.body]);
    const pause = second!.at - first!.at;
    assert(pause >= 1_000, `The step is 1 s, the pause was ${pause} ms`);
    const { failing_since, last_success_at } = await scene.state(webhook);
    assertEquals(failing_since, null);
    assert(last_success_at);
    const [sent] = await scene.deliveries(webhook, "succeeded");
    assertEquals([sent.id, sent.attempts], [first!.id, 2]);
  });

  await it("is stored with whatever the receiver answers", async () => {
    // PostgreSQL stores no NUL, and bytes need not be UTF-8.
    const answer = new Uint8Array([97, 0, 98, 0xff]);
    receiver.answer(() => new Response(answer, { status: 500 }));
    await scene.product("Emma");
    await scene.until(webhook, "waiting", 1);

    const [{ response_body }] = await scene.deliveries(webhook, "waiting");
    assertEquals(response_body, "a\ufffdb\ufffd");
    receiver.answer(OK);
    await scene.until(webhook, "waiting", 0);
  });

  await it("holds up no other", async () => {
    receiver.received.length = 0;
    const { last_success_at } = await scene.state(webhook);
    const stored = Promise.withResolvers<void>();
    receiver.answer(async ({ id, message }) => {
      if (message.data.title !== "Bad") return OK();
      const attempts = receiver.received.filter((one) => one.id === id).length;
      // Without the success of another, it would wait once more.
      if (attempts > 1) await stored.promise;
      return failing(400)();
    });
    await scene.product("Bad");
    await scene.product("Good");
    await eventually(
      true,
      () => receiver.received.some(({ message }) => message.data.title === "Good"),
    );
    await eventually(
      true,
      async () => (await scene.state(webhook)).last_success_at !== last_success_at,
    );
    stored.resolve();
  });

  await it("is failed at the end of the schedule", async () => {
    await eventually(1, async () => {
      await scene.product("Another success");
      return (await scene.deliveries(webhook, "failed")).length;
    });

    const [failed] = await scene.deliveries(webhook, "failed");
    assertEquals(failed.next_attempt_at, null);
    assertEquals(failed.attempts, 2);
    const { waiting, enabled } = await scene.state(webhook);
    assertEquals([waiting, enabled], [0, true]);
  });

  await it("can be sent by hand", async () => {
    const [failed] = await scene.deliveries(webhook, "failed");
    const path = `${webhook.path}/deliveries/${failed.id}/retry`;

    const again = await ask("POST", path);
    receiver.answer(OK);
    receiver.received.length = 0;
    const sent = await ask("POST", path);

    assertEquals([again.status, again.body.data.status], [200, "failed"]);
    assertEquals([sent.status, sent.body.data.status], [200, "succeeded"]);
    assertEquals(sent.body.data.attempts, 4);
    // Another product may be sent meanwhile.
    assert(receiver.received.some(({ id }) => id === failed.id));
  });

  await it("is not sent by hand twice at once", async () => {
    const [sent] = await scene.deliveries(webhook, "succeeded");
    const arrived = Promise.withResolvers<void>();
    const respond = Promise.withResolvers<Response>();
    receiver.answer(() => {
      arrived.resolve();
      return respond.promise;
    });
    const path = `${webhook.path}/deliveries/${sent.id}/retry`;

    const first = ask("POST", path);
    await inTime("a message", arrived.promise);
    const second = await ask("POST", path);
    respond.resolve(OK());

    assertEquals(second.status, 409);
    assertEquals(second.body.error.details[0].code, "being_sent");
    assertEquals((await first).status, 200);
    receiver.answer(OK);
  });

  await it("is followed by one at a time until one arrives", async () => {
    await scene.until(webhook, "waiting", 0);
    await scene.until(webhook, "behind", 0);
    receiver.answer(failing());
    await scene.product("Failing");
    await scene.until(webhook, "waiting", 1);
    const answered = Promise.withResolvers<void>();
    receiver.answer(async () => {
      await answered.promise;
      return OK();
    });
    receiver.received.length = 0;
    for (let i = 0; i < 8; i++) await scene.product();

    await scene.arrived(1);
    await pause(300);
    const atOnce = receiver.received.length;
    answered.resolve();

    await scene.until(webhook, "waiting", 0);
    await scene.until(webhook, "behind", 0);
    assertEquals(atOnce, 1);
  });

  await it("is dropped once its product has changed", async () => {
    await scene.until(webhook, "waiting", 0);
    await scene.until(webhook, "behind", 0);
    // During the pause it is not sent again. Enabling the webhook ends the pause.
    receiver.answer(failing(503, { "retry-after": "60" }));
    const id = await scene.product("Old");
    await scene.until(webhook, "waiting", 1);
    const [old] = await scene.deliveries(webhook, "waiting");
    await ask("PUT", webhook.path, { enabled: false });
    await ask("PUT", `/products/${id}`, { title: "New" });

    const refused = await ask(
      "POST",
      `${webhook.path}/deliveries/${old.id}/retry`,
    );
    receiver.received.length = 0;
    receiver.answer(OK);
    await ask("PUT", webhook.path, { enabled: true });
    await scene.until(webhook, "waiting", 0);
    await scene.until(webhook, "behind", 0);

    assertEquals(refused.status, 409);
    assertEquals(refused.body.error.details[0].code, "superseded");
    assertEquals(
      receiver.received.map(({ message }) => message.data)
        .filter((data) => data.id === id).map(({ title }) => title),
      ["New"],
    );
  });
});

timedWebhookTest("A receiver that is down", async (scene, { step: it }) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook();
  const create = (titles: string[]) =>
    ask("POST", "/products/batch", {
      operations: titles.map((title) => ({
        method: "create",
        body: { title },
      })),
    });

  /** Creates products whose messages fail, and waits until the webhook rests. */
  async function failUntilRest(count: number): Promise<void> {
    receiver.answer(failing());
    await create(titles(count));
    await eventually(
      true,
      async () => (await scene.state(webhook)).resumes_at !== null,
    );
  }

  await it("gets no more after five failures", async () => {
    await failUntilRest(100);
    const sent = () => new Set(receiver.received.map(({ id }) => id)).size;
    // Eight were sent before the first of them failed.
    assert(sent() >= 5 && sent() <= 13, `${sent()}`);
    // The results of those in flight are stored a moment later.
    await eventually(true, async () => {
      const { behind, waiting } = await scene.state(webhook);
      assertEquals(behind, 100 - waiting);
      return waiting === sent();
    });
  });

  await it("gets one message after each pause", async () => {
    const before = receiver.received.length;
    await scene.arrived(before + 1);
    await scene.arrived(before + 2);

    const [first, second] = receiver.received.slice(before);
    const pause = second!.at - first!.at;
    assert(pause >= 2_000, `The pause was ${pause} ms`);
  });

  await it("rests on after a test that fails", async () => {
    const { body: { data } } = await ask("POST", `${webhook.path}/test`);

    assertEquals(data.status, "failed");
    const [{ failures }] = await scene.app.sql<[{ failures: number }]>`
      select failures from webhooks where id = ${webhook.id}
    `;
    assert(failures >= 5, `${failures}`);
  });

  await it("gets all once it answers, each product once", async () => {
    receiver.received.length = 0;
    receiver.answer(OK);
    await scene.until(webhook, "behind", 0);
    await scene.until(webhook, "waiting", 0);

    const ids = receiver.received.map(({ message }) => message.data.id);
    assertEquals([ids.length, new Set(ids).size], [100, 100]);
    assertEquals((await scene.state(webhook)).resumes_at, null);
  });

  await it("gets all at once after a successful test", async () => {
    await failUntilRest(20);
    receiver.answer(OK);
    receiver.received.length = 0;
    await ask("POST", `${webhook.path}/test`);

    assertEquals((await scene.state(webhook)).resumes_at, null);
    await scene.until(webhook, "waiting", 0);
    await scene.until(webhook, "behind", 0);
    assertEquals(receiver.received.length, 21);
  });

  await it("is remembered by its last hundred messages that arrived", async () => {
    const { body: { meta } } = await ask(
      "GET",
      `${webhook.path}/deliveries?status=succeeded`,
    );

    assertEquals(meta.total, 100);
  });

  await it("rests no longer at a new URL", async () => {
    await failUntilRest(20);
    receiver.answer(OK);

    const url = `${receiver.url}&new`;
    const { body: { data } } = await ask("PUT", webhook.path, { url });

    assertEquals([data.resumes_at, data.failing_since], [null, null]);
  });

  await it("gets nothing while it has asked for that, though it answers", async () => {
    await ask("DELETE", webhook.path);
    const late = Promise.withResolvers<void>();
    const paused = await scene.webhook();
    receiver.answer(async ({ message }) => {
      if (message.data.title === "Busy") {
        // Three years, of which a day is granted.
        return failing(503, { "retry-after": "99999999" })();
      }
      await late.promise;
      return OK();
    });
    // One is answered after the rest has begun, which its success ends.
    await create(["Late", ...Array(7).fill("Busy")]);
    await scene.until(paused, "waiting", 7);
    late.resolve();
    await eventually(
      true,
      async () => (await scene.state(paused)).last_success_at !== null,
    );
    await ask("POST", `${paused.path}/test`);

    const { resumes_at, failing_since } = await scene.state(paused);
    assertEquals(failing_since, null);
    const pause = Date.parse(resumes_at) - Date.now();
    assert(pause > 30_000 && pause <= 86_400_000, `${pause} ms`);
    const enabled = await ask("PUT", paused.path, { enabled: true });
    assertEquals(enabled.body.data.resumes_at, null);
  });
}, { WEBHOOK_RETRY_SECONDS: "2" });

webhookTest(
  "Two senders together send eight messages of a webhook at once",
  async (scene) => {
    const { app, receiver } = scene;
    const answered = Promise.withResolvers<void>();
    receiver.answer(async () => {
      await answered.promise;
      return OK();
    });
    const webhook = await scene.webhook({ enabled: false });
    for (let i = 0; i < 8; i++) await scene.product();
    // Transactions of other tests may hold back some of the messages until the first ones time out.
    await settled(app.sql);
    await scene.ask("PUT", webhook.path, { enabled: true });
    await scene.arrived(8);

    // The first sender does not notice these at once.
    for (let i = 0; i < 8; i++) await scene.org.create();
    const other = app.sender(VARIABLES);
    other.start();
    // Each sender asks for work once a second.
    await pause(1_500);

    assertEquals(receiver.received.length, 8);
    answered.resolve();
    await scene.arrived(16);
    await other.stop(performance.now() + 10_000);
  },
);

timedWebhookTest("A webhook waits", async (scene, { step: it }) => {
  const { ask, receiver } = scene;

  await it("as long as Retry-After says", async () => {
    const webhook = await scene.webhook();
    receiver.answer(failing(429, { "retry-after": "3" }));
    await scene.product("First");
    await scene.until(webhook, "waiting", 1);
    receiver.answer(OK);
    await scene.product("Second");
    await scene.arrived(3);

    const [first, second] = receiver.received;
    assert(second!.at - first!.at >= 3_000);
    await ask("DELETE", webhook.path);
  });

  await it("with the feed while as many messages wait", async () => {
    receiver.received.length = 0;
    receiver.answer(failing());
    const webhook = await scene.webhook();
    for (let i = 0; i < 5; i++) await scene.product(`Book ${i}`);
    await scene.until(webhook, "waiting", 2);
    await scene.arrived(4);

    assertEquals(new Set(receiver.received.map(({ id }) => id)).size, 2);
    assertEquals((await scene.state(webhook)).behind, 3);
    receiver.answer(OK);
    await scene.until(webhook, "behind", 0);
    await ask("DELETE", webhook.path);
  });
}, { WEBHOOK_WAITING_MAX: "2" });

timedWebhookTest("A webhook is disabled", async (scene, { step: it }) => {
  const { app, ask, receiver } = scene;
  await using other = openReceiver();
  const listener = await scene.webhook({
    url: other.url,
    events: ["webhook.disabled"],
  });
  const disabled = await scene.webhook({
    url: other.url,
    events: ["webhook.disabled"],
    enabled: false,
  });
  /** What the listener and the log were told last. */
  async function told(count: number) {
    await other.arrived(count);
    const { type, message: { data } } = other.received.at(-1)!;
    const line = app.logged.findLast(({ message }) => message === "A webhook is disabled")!;
    assertEquals(type, "webhook.disabled");
    assertEquals(line.webhook_id, data.id);
    assertEquals(line.reason, data.reason);
    assertEquals(line.host, "127.0.0.1");
    assertEquals(line.organization_id, scene.org.id);
    return data;
  }

  await it("by hand, and goes on where it stood", async () => {
    const webhook = await scene.webhook({ description: "The shop" });
    const { body: { data } } = await ask("PUT", webhook.path, {
      enabled: false,
    });
    await scene.product("Meanwhile");

    assertEquals(data.disabled_reason, "by_hand");
    assert(data.disabled_at);
    assertEquals(await told(1), {
      id: webhook.id,
      description: "The shop",
      reason: "by_hand",
    });
    assertEquals(receiver.received, []);
    const enabled = await ask("PUT", webhook.path, { enabled: true });
    assertEquals(enabled.body.data.disabled_reason, null);
    await scene.arrived(1);
    await ask("DELETE", webhook.path);
  });

  await it("by a response 410", async () => {
    const webhook = await scene.webhook();
    receiver.answer(failing(410));
    await scene.product("Gone");
    await scene.until(webhook, "disabled_reason", "gone");

    assertEquals((await told(2)).reason, "gone");
    const { enabled, waiting } = await scene.state(webhook);
    assertEquals([enabled, waiting], [false, 1]);
    const test = await ask("POST", `${webhook.path}/test`);
    assertEquals(test.body.data.response_status, 410);
    receiver.received.length = 0;
    receiver.answer(OK);
    await ask("PUT", webhook.path, { enabled: true });
    await scene.arrived(1);
    assertEquals(receiver.received[0]!.message.data.title, "Gone");
    await ask("DELETE", webhook.path);
  });

  await it("by failures without a success", async () => {
    const webhook = await scene.webhook();
    receiver.answer(failing());
    await scene.product("Failing");
    await scene.until(webhook, "disabled_reason", "failing");

    assertEquals((await told(3)).reason, "failing");
    await ask("DELETE", webhook.path);
  });

  await it("and tells nobody twice", async () => {
    await scene.until(listener, "waiting", 0);
    assertEquals(other.received.length, 3);
    assertEquals((await scene.state(disabled)).waiting, 0);
  });
}, { WEBHOOK_DISABLE_SECONDS: "2" });

webhookTest(
  "Only the newest message about a disabled webhook waits",
  async (scene) => {
    const { ask, receiver } = scene;
    const listener = await scene.webhook({ events: ["webhook.disabled"] });
    const switched = await scene.webhook({ events: ["feed.advanced"] });
    const enable = (enabled: boolean) => ask("PUT", switched.path, { enabled });
    receiver.answer(failing());
    await enable(false);
    await scene.until(listener, "waiting", 1);
    for (let i = 0; i < 5; i++) {
      await enable(true);
      await enable(false);
    }
    await enable(true);
    const { body: { data } } = await enable(false);

    assertEquals((await scene.state(listener)).waiting, 1);
    receiver.answer(OK);
    await scene.until(listener, "waiting", 0);
    const { message } = receiver.received.at(-1)!;
    assertEquals(message.timestamp, data.disabled_at);
  },
);

webhookTest("A webhook whose place in the feed is gone", async (scene) => {
  const { app, ask, receiver } = scene;
  const kept = await scene.product("Kept");
  // A webhook that is made before other tests' transactions have ended gets the product as a change.
  await settled(app.sql);
  const webhook = await scene.webhook();
  // As after `deno task recount`, or the restore of a dump.
  await app
    .sql`update webhooks set cursor = jsonb_set(cursor, '{origin}', to_jsonb(id)) where id = ${webhook.id}`;
  await scene.arrived(2);

  const [restarted, product] = receiver.received;
  assertEquals(
    [restarted!.type, restarted!.message.data],
    ["feed.restarted", {}],
  );
  assertEquals(product!.message.data.id, kept);
  await scene.until(webhook, "behind", 0);
  await ask("DELETE", webhook.path);
});

webhookTest("A copied database calls nobody", async (scene) => {
  const { app, sender, receiver } = scene;
  const webhook = await scene.webhook();
  receiver.answer(failing());
  await scene.product();
  await scene.until(webhook, "waiting", 1);
  await sender.stop(performance.now() + 10_000);
  receiver.received.length = 0;
  const move = (place: string) => app.sql`update change_origins set place = ${place}`;
  const [{ place }] = await app
    .sql`select place from change_origins` as unknown as [{ place: string }];

  // As in a restored dump, which `deno task migrate` has not seen yet.
  await move("elsewhere");
  const other = app.sender(VARIABLES);
  other.start();
  await pause(2_500);
  const called = receiver.received.length;
  await move(place);

  assertEquals(called, 0);
  receiver.answer(OK);
  await scene.until(webhook, "waiting", 0);
  assert(receiver.received.length > 0);
  await other.stop(performance.now() + 10_000);
});

webhookTest("A test of a webhook counts for nothing", async (scene) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook({ enabled: false });
  receiver.answer(failing());

  const { status, body: { data } } = await ask("POST", `${webhook.path}/test`);

  assertEquals(status, 200);
  assertEquals(
    [data.type, data.status, data.error, data.response_body],
    ["webhook.test", "failed", "status", "Down"],
  );
  assertEquals(await scene.deliveries(webhook), []);
  const { failing_since, last_success_at } = await scene.state(webhook);
  assertEquals([failing_since, last_success_at], [null, null]);
});

webhookTest("After a failure, all that waits is sent at once", async (scene, { step: it }) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook();

  const byHand: [what: string, path: () => Promise<string>][] = [
    ["a test that succeeds", () => Promise.resolve("test")],
    ["a retry that succeeds", async () => {
      const [{ id }] = await scene.deliveries(webhook, "waiting");
      return `deliveries/${id}/retry`;
    }],
  ];
  for (const [what, path] of byHand) {
    await it(`by ${what}`, async () => {
      receiver.answer(failing());
      for (const title of ["One", "Another"]) await scene.product(title);
      await scene.until(webhook, "waiting", 2);
      await eventually(true, async () => {
        const deliveries = await scene.deliveries(webhook, "waiting");
        return deliveries.every(({ attempts }) => attempts === 1);
      });
      receiver.answer(OK);

      const { body } = await ask("POST", `${webhook.path}/${await path()}`);

      assertEquals(body.data.status, "succeeded");
      await scene.until(webhook, "waiting", 0);
      assertEquals((await scene.state(webhook)).failing_since, null);
    });
  }
}, { WEBHOOK_RETRY_SECONDS: "9999" });
