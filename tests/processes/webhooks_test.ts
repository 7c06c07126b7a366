import { assert, assertEquals } from "@std/assert";
import { pause } from "../../db/connections/deadline.ts";
import { inTime } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { openReceiver } from "../support/servers/receiver.ts";
import { processTest, startDirectly } from "../support/servers/processes.ts";

/** How often a sender is killed. */
const KILLS = 20;

const PRODUCTS = 40;

/** Starts a process that sends webhooks. Its leases last twice as long as the timeout. */
function startSender(url: string, timeoutMs = 300) {
  return startDirectly({
    DATABASE_URL: url,
    LOG_LEVEL: "warn",
    WEBHOOK_ALLOWED_TARGETS: "127.0.0.1",
    WEBHOOK_RETRY_SECONDS: "1",
    WEBHOOK_TIMEOUT_MS: String(timeoutMs),
  });
}

processTest(
  "A sender that is killed loses nothing, and sends nothing old",
  0,
  async ({ app, url }) => {
    const org = await app.organization();
    await using receiver = openReceiver();
    // One answer in four is a failure, and each takes a while.
    receiver.answer(async () => {
      await pause(20);
      return new Response(null, { status: Math.random() < 0.25 ? 500 : 204 });
    });
    const ids: string[] = [];
    for (let i = 0; i < PRODUCTS; i++) ids.push((await org.create()).id);
    const allowed = app.variant({
      sender: app.sender({ WEBHOOK_ALLOWED_TARGETS: "127.0.0.1" }),
    });
    const created = await allowed(
      new Request("http://catalogue.test/api/webhooks", {
        method: "POST",
        headers: { "x-api-key": org.key, "content-type": "application/json" },
        body: JSON.stringify({ url: receiver.url, after: "start" }),
      }),
    );
    assertEquals(created.status, 201);
    const { data: webhook } = await created.json();

    let isOver = false;
    async function write(): Promise<void> {
      for (let i = 0; !isOver; i++) {
        await org.put(`/api/products/${ids[i % PRODUCTS]}`, {
          page_count: i + 1,
        });
        await pause(5);
      }
    }
    const writing = write();
    let senders = await Promise.all([startSender(url), startSender(url)]);
    for (let kills = 0; kills < KILLS; kills++) {
      await pause(100 + Math.random() * 400);
      const [victim, survivor] = senders as [
        typeof senders[0],
        typeof senders[0],
      ];
      await victim.kill();
      senders = [survivor, await startSender(url)];
    }
    isOver = true;
    await writing;
    const settled = async () => {
      const { body: { data } } = await org.get(`/api/webhooks/${webhook.id}`);
      return [data.behind, data.waiting];
    };
    receiver.answer(() => new Response(null, { status: 204 }));
    await eventually([0, 0], settled);
    for (const sender of senders) await sender[Symbol.asyncDispose]();

    const idOf = new Map<string, string>();
    const newest = new Map<string, string>();
    for (const { id, body, message: { data } } of receiver.received) {
      assertEquals(idOf.get(body) ?? id, id, "A message keeps its id");
      idOf.set(body, id);
      const before = newest.get(data.id) ?? "";
      assert(data.updated_at >= before, `${data.updated_at} after ${before}`);
      newest.set(data.id, data.updated_at);
    }
    for (const id of ids) {
      const { body: { data } } = await org.get(`/api/products/${id}`);
      assertEquals(
        newest.get(id),
        data.updated_at,
        "The last state has arrived",
      );
    }
  },
);

processTest(
  "A sender that is stopped gives its webhooks to others at once",
  0,
  async ({ app, url }) => {
    const org = await app.organization();
    await using receiver = openReceiver();
    const slow = Promise.withResolvers<void>();
    receiver.answer(async () => {
      slow.resolve();
      await pause(200);
      return new Response(null, { status: 204 });
    });
    // On a busy machine, no answer is too late. A lease lasts a minute.
    const first = await startSender(url, 30_000);
    const created = await fetch(`${first.origin}/api/webhooks`, {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: JSON.stringify({ url: receiver.url }),
    });
    assertEquals(created.status, 201);
    await created.body?.cancel();
    for (let i = 0; i < 20; i++) await org.create();
    await inTime("a message", slow.promise);

    const stopped = Date.now();
    first.signal("SIGTERM");
    const { code, stdout } = await first.ended;
    await using _second = await startSender(url, 30_000);
    const products = () => new Set(receiver.received.map(({ message }) => message.data.id)).size;
    await eventually(20, products);

    assertEquals(code, 0);
    assert(!stdout.includes("unfinished"), stdout);
    // On a busy machine, what was being sent at the end may be sent again: eight at the most.
    const sent = receiver.received.map(({ id }) => id);
    assert(sent.length <= 28, `${sent.length}`);
    assertEquals(new Set(sent).size, 20);
    // The second sender has waited for no lease.
    assert(Date.now() - stopped < 55_000);
  },
);
