import { assert, assertEquals, assertMatch } from "@std/assert";
import { clockAhead } from "../support/app/clock.ts";
import { openReceiver, signaturesOf } from "../support/servers/receiver.ts";
import { settled } from "../support/app/settled.ts";
import { timedWebhookTest, webhookTest } from "./scene.ts";

webhookTest("A message", async (scene, { step: it }) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook();
  const last = () => receiver.received.at(-1)!;
  let id = "";
  let code = "";

  await it("about a product has what identifies it", async () => {
    const { body: { data } } = await ask("POST", "/products", {
      title: "Emma",
      isbn13: "978-0-14-143958-7",
    });
    id = data.id;
    code = data.product_code;
    await scene.arrived(1);

    assertEquals(last().message, {
      type: "product.changed",
      timestamp: data.updated_at,
      data: {
        id: data.id,
        product_code: data.product_code,
        isbn13: "9780141439587",
        title: "Emma",
        created_at: data.created_at,
        updated_at: data.updated_at,
      },
    });
  });

  await it("is signed as Standard Webhooks says", () => {
    const { headers, body, at } = last();

    assertEquals(headers.get("content-type"), "application/json");
    assertMatch(headers.get("webhook-id")!, /^[\w-]+$/);
    assertMatch(headers.get("user-agent")!, /^[\w-]+\/[\d.]+$/);
    const timestamp = Number(headers.get("webhook-timestamp"));
    assert(Math.abs(timestamp - at / 1_000) < 30);
    assert(body.length < 20_000);
    assertEquals(
      headers.get("webhook-signature"),
      signaturesOf(last(), webhook.secret),
    );
  });

  await it("follows each change, however it was made", async () => {
    await ask("PUT", `/products/${id}`, { page_count: 474 });
    await scene.arrived(2);
    await ask("POST", "/products/batch", {
      operations: [{ method: "update", id, body: { title: "Emma again" } }],
    });
    await scene.arrived(3);
    await scene.app
      .sql`update products set title = 'Emma by SQL', updated_at = now() where id = ${id}`;
    await scene.arrived(4);

    const titles = receiver.received.map(({ message }) => message.data.title);
    assertEquals(titles, ["Emma", "Emma", "Emma again", "Emma by SQL"]);
    assertEquals(new Set(receiver.received.map(({ id }) => id)).size, 4);
  });

  await it("about a deletion has what others know the product by", async () => {
    const { body } = await ask("DELETE", `/products/${id}`);
    assertEquals(body.data.deleted, true);
    await scene.arrived(5);

    const { type, timestamp, data } = last().message;
    assertEquals([type, data], ["product.deleted", {
      id,
      isbn13: "9780141439587",
      product_code: code,
      record_reference: null,
      updated_at: timestamp,
    }]);
  });

  await it("does not follow a request that changes nothing", async () => {
    const product = await scene.product();
    await scene.arrived(6);
    await ask("PUT", `/products/${product}`, {});
    await ask("PUT", `/products/${product}`, { title: 7 });
    await scene.product("Last");
    await scene.arrived(7);

    assertEquals(last().message.data.title, "Last");
  });

  await it("of another type is not sent", async () => {
    await ask("PUT", webhook.path, { events: ["product.deleted"] });
    const product = await scene.product("Unseen");
    await ask("DELETE", `/products/${product}`);
    await scene.arrived(8);

    assertEquals(last().type, "product.deleted");
    await scene.until(webhook, "behind", 0);
  });

  await it("is listed as a delivery", async () => {
    await scene.until(webhook, "failing_since", null);
    const [newest, ...others] = await scene.deliveries(webhook);

    assertEquals(others.length, 7);
    assertEquals(newest.id, last().id);
    assertEquals(newest.type, "product.deleted");
    assertEquals(newest.status, "succeeded");
    assertEquals(newest.attempts, 1);
    assertEquals(newest.response_status, 204);
    assertEquals([newest.error, newest.next_attempt_at], [null, null]);
    assertEquals(await scene.deliveries(webhook, "waiting,failed"), []);
  });

  await it("comes for each of more deletions than are sent at once", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push(await scene.product());
    const before = receiver.received.length;
    const operations = ids.map((id) => ({ method: "delete", id }));
    await ask("POST", "/products/batch", { operations });
    await scene.arrived(before + 20);

    const deleted = receiver.received.slice(before)
      .map(({ message }) => message.data.id);
    assertEquals(deleted.sort(), ids.sort());
  });
});

webhookTest(
  "A message follows many of a type that is not sent",
  async (scene) => {
    const { ask, receiver } = scene;
    await scene.webhook({ events: ["product.changed"] });
    await using other = openReceiver();
    await scene.webhook({ events: ["product.deleted"], url: other.url });
    const batch = (operations: object[]) => ask("POST", "/products/batch", { operations });
    const created = Array.from({ length: 100 }, (_, i) => (
      { method: "create", body: { title: `Book ${i}` } }
    ));
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { body: { data } } = await batch(created);
      ids.push(...data.map(({ data }: { data: { id: string } }) => data.id));
    }
    await scene.arrived(400);
    for (let i = 0; i < 400; i += 100) {
      await batch(
        ids.slice(i, i + 100).map((id) => ({ method: "delete", id })),
      );
    }
    await scene.product("After them");
    // Transactions of other tests hold the feed back.
    await settled(scene.app.sql);
    const start = performance.now();

    await scene.arrived(401);

    const ms = performance.now() - start;
    assertEquals(receiver.received.at(-1)!.message.data.title, "After them");
    // At eight entries a second, they would take 50 seconds.
    assert(ms < 30_000, `${ms} ms`);
    await other.arrived(400);
  },
);

webhookTest("The secrets of a webhook", async (scene, { step: it }) => {
  const { ask, receiver } = scene;
  const webhook = await scene.webhook();
  const rotate = async (body: object) =>
    (await ask("POST", `${webhook.path}/secret`, body)).body.data;
  const signatures = async () => {
    await ask("POST", `${webhook.path}/test`);
    return receiver.received.at(-1)!.headers.get("webhook-signature");
  };
  const expected = (...secrets: string[]) => signaturesOf(receiver.received.at(-1)!, ...secrets);

  await it("sign together during the grace, newest first", async () => {
    const second = await rotate({});
    const third = await rotate({ grace_seconds: 3600 });

    assertEquals(
      await signatures(),
      expected(third.secret, second.secret, webhook.secret),
    );
    assertEquals(third.secrets.length, 3);
    assertEquals(third.secrets[0].expires_at, null);
    for (const { expires_at } of third.secrets.slice(1)) {
      const left = Date.parse(expires_at) - Date.now();
      assert(left > 3_500_000 && left <= 3_600_000, "A shorter grace shortens");
    }
  });

  await it("are three at most", async () => {
    await rotate({});
    const { secrets } = await rotate({});

    assertEquals(secrets.length, 3);
    assertEquals((await signatures())!.split(" ").length, 3);
  });

  await it("end at once without a grace", async () => {
    const { secret, secrets } = await rotate({ grace_seconds: 0 });

    assertEquals(secrets.length, 1);
    assertEquals(await signatures(), expected(secret));
  });

  await it("end after the grace", async () => {
    const { secret } = await rotate({ grace_seconds: 60 });
    assertEquals((await signatures())!.split(" ").length, 2);
    using _ahead = clockAhead(60_001);

    assertEquals(await signatures(), expected(secret));
    assertEquals((await scene.state(webhook)).secrets.length, 1);
  });

  await it("refuse a wrong grace", async () => {
    for (const grace_seconds of [-1, 604_801, 1.5, "1", null]) {
      const { status } = await ask("POST", `${webhook.path}/secret`, {
        grace_seconds,
      });
      assertEquals(status, 400);
    }
  });
});

timedWebhookTest(
  "A burst of changes as one message",
  async (scene, { step: it }) => {
    const { ask, receiver } = scene;
    await scene.product();
    const webhook = await scene.webhook({ events: ["feed.advanced"] });
    const changesOf = async (at: number) => {
      const { data } = receiver.received[at]!.message;
      const { body } = await ask(
        "GET",
        `/products/changes?after=${data.after}`,
      );
      return { told: data.changes, listed: body.data.length };
    };

    await it("names the cursor after which they are listed", async () => {
      const operations = Array.from({ length: 100 }, (_, i) => (
        { method: "create", body: { title: `Book ${i}` } }
      ));
      await ask("POST", "/products/batch", { operations });
      await scene.arrived(1);

      assertEquals(receiver.received[0]!.type, "feed.advanced");
      assertEquals(await changesOf(0), { told: 100, listed: 100 });
      await scene.until(webhook, "behind", 0);
    });

    await it("comes again only once it was answered", async () => {
      receiver.answer(() => new Response(null, { status: 500 }));
      await scene.product();
      await scene.arrived(2);
      await scene.until(webhook, "waiting", 1);
      await scene.product();
      assertEquals((await scene.state(webhook)).behind, 2);
      receiver.answer(() => new Response(null, { status: 204 }));
      await scene.arrived(4);

      const [, first, again, next] = receiver.received;
      assertEquals([again!.id, again!.body], [first!.id, first!.body]);
      assertEquals(next!.message.data.changes, 1);
      await scene.until(webhook, "behind", 0);
    });

    await it("stays listed when the webhook is set to another place", async () => {
      await scene.until(webhook, "waiting", 0);
      const before = await scene.deliveries(webhook);
      await ask("PUT", webhook.path, { after: "now" });

      assertEquals(before.length, 3);
      assertEquals(await scene.deliveries(webhook), before);
    });
  },
);
