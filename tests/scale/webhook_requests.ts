import type { Database } from "../../db/database.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, type Organization, send } from "../support/app/harness.ts";
import { openReceiver } from "../support/app/receiver.ts";

/** Sends every request for webhooks, and lets their messages succeed, fail, wait and disable. */
export async function askForWebhooks(
  app: App,
  database: Database,
  { key }: Organization,
): Promise<void> {
  await using receiver = openReceiver();
  const sender = app.sender({
    WEBHOOK_ALLOWED_TARGETS: "127.0.0.1",
    WEBHOOK_RETRY_SECONDS: "1",
  }, database);
  const handler = app.variant({ database, sender });
  const ask = async (method: string, path: string, body?: unknown) => {
    const reply = await send(handler, `/api${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    sender.wake();
    return reply.body.data;
  };
  const stateOf = (path: string, field: string) => async () =>
    (await ask("GET", path))[field];
  const create = async (body: object) =>
    `/webhooks/${
      (await ask("POST", "/webhooks", { url: receiver.url, ...body })).id
    }`;

  sender.start();
  const path = await create({});
  const listener = await create({ events: ["webhook.disabled"] });
  const burst = await create({ events: ["feed.advanced"], after: "start" });
  await eventually(0, stateOf(burst, "behind"));
  await ask("GET", "/webhooks");
  await ask("PUT", path, {});
  await ask("POST", `${path}/secret`, {});
  // More than are sent at once.
  await ask("POST", "/products/batch", {
    operations: Array.from({ length: 40 }, (_, i) => (
      { method: "create", body: { title: `Book ${i}` } }
    )),
  });
  // Fails until the webhook rests, and again until the test ends the rest.
  receiver.answer(() => new Response(null, { status: 500 }));
  await ask("PUT", path, {
    url: `${receiver.url}&again`,
    description: null,
    events: ["product.changed"],
    enabled: true,
    after: "start",
  });
  // One is sent by hand, another when it is due.
  await eventually(true, async () => (await stateOf(path, "waiting")()) > 1);
  const [{ id }] = await ask("GET", `${path}/deliveries?status=waiting`);
  receiver.answer(() => new Response(null, { status: 204 }));
  await ask("POST", `${path}/deliveries/${id}/retry`);
  await app.sql`update webhooks set failures = 5`;
  await ask("POST", `${path}/test`);
  await eventually(0, stateOf(path, "waiting"));
  // A cursor of another origin.
  await app
    .sql`update webhooks set cursor = jsonb_set(cursor, '{origin}', to_jsonb(id))`;
  await eventually(0, stateOf(burst, "behind"));
  receiver.answer(() => new Response(null, { status: 410 }));
  await ask("POST", "/products", { title: "Emma" });
  await eventually("gone", stateOf(path, "disabled_reason"));
  await ask("PUT", burst, { enabled: false });
  for (const each of [path, listener, burst]) await ask("DELETE", each);
  await sender.stop(performance.now() + 10_000);
}
