import { assert, assertEquals, assertMatch } from "@std/assert";
import { timedWebhookTest, webhookTest } from "./scene.ts";

/** Wrong fields of a body, with the place of the fault and its code. */
// deno-fmt-ignore
const WRONG: [object, string, string][] = [
  [{ url: 7 }, "/url", "invalid_type"],
  [{ url: null }, "/url", "invalid_type"],
  [{ url: "/hook" }, "/url", "invalid_url"],
  [{ url: "https://user@shop.example/" }, "/url", "invalid_url"],
  [{ url: "https://:pass@shop.example/" }, "/url", "invalid_url"],
  [{ url: "https://shop.example/#a" }, "/url", "invalid_url"],
  [{ url: "https://shop.example/".padEnd(2_001, "a") }, "/url", "invalid_url"],
  [{ url: "http://shop.example/" }, "/url", "https_required"],
  [{ events: [] }, "/events", "too_few"],
  [{ events: ["product.created"] }, "/events/0", "invalid_value"],
  [{ events: ["product.deleted", "product.deleted"] }, "/events/1", "duplicate"],
  [{ events: ["feed.advanced", "product.deleted"] }, "/events", "invalid_value"],
  [{ enabled: "yes" }, "/enabled", "invalid_type"],
  [{ description: "a".repeat(501) }, "/description", "too_long"],
  [{ after: "nonsense" }, "/after", "invalid_cursor"],
  [{ after: 7 }, "/after", "invalid_type"],
  [{ secret: "whsec_" }, "/secret", "unknown_field"],
];

webhookTest("/webhooks", async (scene, { step: it }) => {
  const { ask, receiver } = scene;

  await it("POST makes a webhook and shows its secret once", async () => {
    const { status, headers, body: { data } } = await ask("POST", "/webhooks", {
      url: receiver.url,
    });

    assertEquals(status, 201);
    assertEquals(headers.get("location"), `/api/webhooks/${data.id}`);
    assertMatch(data.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assertEquals(data.events, ["product.changed", "product.deleted"]);
    assertEquals(
      [data.enabled, data.behind, data.waiting, data.description],
      [true, 0, 0, null],
    );
    const { secret: _, ...shown } = data;
    assertEquals((await ask("GET", `/webhooks/${data.id}`)).body.data, shown);
    assertEquals((await ask("GET", "/webhooks")).body.data, [shown]);
  });

  await it("PUT changes what the body has", async () => {
    const [before] = (await ask("GET", "/webhooks")).body.data;
    const path = `/webhooks/${before.id}`;

    const same = await ask("PUT", path, {});
    const { headers, body: { data } } = await ask("PUT", path, {
      ...before,
      description: "The shop",
      events: ["product.deleted"],
    });
    const cleared = await ask("PUT", path, { description: null });

    assertEquals(same.body.data, before);
    assertMatch(headers.get("ignored-fields")!, /\bcursor\b.*\bsecrets\b/);
    assertEquals(data.description, "The shop");
    assertEquals(data.events, ["product.deleted"]);
    assert(data.updated_at > before.updated_at);
    assertEquals(cleared.body.data.description, null);
  });

  await it("refuses wrong fields", async () => {
    const [{ id }] = (await ask("GET", "/webhooks")).body.data;
    for (const [body, pointer, code] of WRONG) {
      for (
        const reply of [
          await ask("POST", "/webhooks", { url: receiver.url, ...body }),
          await ask("PUT", `/webhooks/${id}`, body),
        ]
      ) {
        assertEquals(reply.status, 400, JSON.stringify(body));
        const [detail] = reply.body.error.details;
        assertEquals([detail.pointer, detail.code], [pointer, code]);
      }
    }
    assertEquals((await ask("POST", "/webhooks", {})).status, 400);
    assertEquals((await ask("GET", "/webhooks")).body.data.length, 1);
  });

  await it("takes a URL of 2,000 characters", async () => {
    const [{ id }] = (await ask("GET", "/webhooks")).body.data;
    const url = receiver.url.padEnd(2_000, "a");

    const { body: { data } } = await ask("PUT", `/webhooks/${id}`, { url });

    assertEquals(data.url, url);
  });

  await it("refuses the eleventh, of several at once too", async () => {
    const replies = await Promise.all(
      Array.from(
        { length: 12 },
        () => ask("POST", "/webhooks", { url: receiver.url, enabled: false }),
      ),
    );

    const refused = replies.filter(({ status }) => status === 409);
    assertEquals(refused.length, 3);
    for (const { body: { error } } of refused) {
      assertEquals(error.code, "CONFLICT");
      assertEquals(error.details[0].code, "limit_reached");
    }
    assertEquals((await ask("GET", "/webhooks")).body.data.length, 10);
  });

  await it("DELETE deletes it", async () => {
    for (const { id } of (await ask("GET", "/webhooks")).body.data) {
      const { body: { data } } = await ask("DELETE", `/webhooks/${id}`);
      assertEquals(data, { id, deleted: true });
    }
    assertEquals((await ask("GET", "/webhooks")).body.data, []);
  });
});

timedWebhookTest(
  "The place of a webhook in the feed",
  async (scene, { step: it }) => {
    const { ask, receiver } = scene;
    const first = await scene.product("First");
    const second = await scene.product("Second");
    const { body: { meta: { cursor } } } = await ask(
      "GET",
      "/products/changes?limit=1",
    );

    await it("is now by default, or the start, or a cursor", async () => {
      await scene.webhook();
      const fromStart = await scene.webhook({ after: "start" });
      await scene.arrived(2);
      const fromCursor = await scene.webhook({ after: cursor });
      await scene.arrived(3);

      assertEquals(
        receiver.received.map(({ message }) => message.data.id).sort(),
        [first, second, second],
      );
      await scene.until(fromStart, "behind", 0);
      await scene.until(fromCursor, "behind", 0);
    });

    await it("is a cursor of the feed", async () => {
      const [webhook] = (await ask("GET", "/webhooks")).body.data;

      const { body } = await ask(
        "GET",
        `/products/changes?after=${webhook.cursor}`,
      );

      assertEquals(body.data, []);
    });

    await it("set back, sends the same messages again", async () => {
      const [, webhook] = (await ask("GET", "/webhooks")).body.data;
      const sent = (from: number, to: number) =>
        receiver.received.slice(from, to)
          .map(({ id, body }) => `${id} ${body}`).sort();

      await ask("PUT", `/webhooks/${webhook.id}`, { after: "start" });
      await scene.arrived(5);

      assertEquals(sent(3, 5), sent(0, 2));
    });

    await it("cannot be a cursor of another organization", async () => {
      const other = await scene.app.organization();
      const { body: { meta } } = await other.get("/api/products/changes");

      const reply = await ask("POST", "/webhooks", {
        url: receiver.url,
        after: meta.cursor,
      });

      assertEquals(reply.status, 410);
      assertEquals(reply.body.error.code, "CURSOR_EXPIRED");
    });
  },
);
