import { assertEquals } from "@std/assert";
import { openApp, send } from "../support/app/harness.ts";
import { openReceiver, signaturesOf } from "../support/app/receiver.ts";
import { eventually } from "../support/app/eventually.ts";

Deno.test("smoke", async () => {
  await using app = await openApp();
  await using receiver = openReceiver();
  const sender = app.sender({ WEBHOOK_ALLOWED_TARGETS: "127.0.0.1" });
  const handler = app.variant({ sender });
  const org = await app.organization();
  const call = (method: string, path: string, body?: unknown) =>
    send(handler, path, {
      method,
      headers: {
        "x-api-key": org.key,
        ...body !== undefined && { "content-type": "application/json" },
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
  sender.start();
  const r = await call("POST", "/api/webhooks", { url: receiver.url });
  console.log(r.status, r.body);
  assertEquals(r.status, 201);
  const { id, secret } = r.body.data;
  const t = await call("POST", `/api/webhooks/${id}/test`);
  console.log(t.body);
  const p = await call("POST", "/api/products", { title: "Emma" });
  sender.wake();
  await eventually(2, () => receiver.received.length);
  console.log(receiver.received);
  assertEquals(
    receiver.received[1]!.headers.get("webhook-signature"),
    signaturesOf(receiver.received[1]!, secret),
  );
  await call("DELETE", `/api/products/${p.body.data.id}`);
  sender.wake();
  await eventually(3, () => receiver.received.length);
  console.log(receiver.received[2]!.body);
  await eventually(
    2,
    async () =>
      (await call("GET", `/api/webhooks/${id}/deliveries`)).body.data.length,
  );
  console.log(
    (await call("GET", `/api/webhooks/${id}/deliveries?status=succeeded`)).body,
  );
  console.log((await call("GET", `/api/webhooks`)).body);
  receiver.answer(() => new Response("no", { status: 500 }));
  await call("POST", "/api/products", { title: "Emma" });
  sender.wake();
  await eventually(4, () => receiver.received.length);
  await eventually(
    1,
    async () => (await call("GET", `/api/webhooks`)).body.data[0].waiting,
  );
  const d =
    (await call("GET", `/api/webhooks/${id}/deliveries?status=waiting`)).body
      .data[0];
  console.log(d);
  receiver.answer(() => new Response("yes"));
  const rt = await call("POST", `/api/webhooks/${id}/deliveries/${d.id}/retry`);
  console.log(rt.body);
  console.log(
    (await call("PUT", `/api/webhooks/${id}`, {
      enabled: false,
      description: "x",
    })).body,
    app.logged.filter((l) => l.level === "warn"),
  );
  console.log((await call("POST", `/api/webhooks/${id}/secret`, {})).body);
  console.log(
    (await call("POST", `/api/webhooks`, {
      url: "https://127.0.0.1/",
      after: "nonsense",
      events: ["feed.advanced", "product.changed"],
    })).body.error,
  );
  console.log(
    (await call("POST", `/api/webhooks`, { url: "https://10.0.0.1/" })).body
      .error,
  );
  await sender.stop(performance.now() + 1000);
});
