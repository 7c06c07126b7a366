import { assertEquals } from "@std/assert";
import { openApp, send } from "./harness.ts";

const MAX_BODY_BYTES = 1_000;

/** What a service of such bodies holds at a time. */
const BODIES = 32;

Deno.test("Bodies of many requests at a time", async () => {
  await using app = await openApp();
  const handler = app.variant({ maxBodyBytes: MAX_BODY_BYTES });
  const org = await app.organization();
  const post = (body: BodyInit) =>
    send(handler, "/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body,
    });
  const { promise: end, resolve } = Promise.withResolvers<void>();

  const held = Array.from(
    { length: BODIES },
    () => post(all(MAX_BODY_BYTES, end)),
  );
  const refused = await post(all(MAX_BODY_BYTES, end));
  const small = await post('{"title":"Emma"}');
  resolve();
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  const after = await post(all(MAX_BODY_BYTES, end));

  assertEquals(refused.status, 503);
  assertEquals(refused.body.error.code, "SERVICE_UNAVAILABLE");
  assertEquals(refused.headers.get("retry-after"), "1");
  assertEquals(small.status, 503);
  assertEquals(statuses, statuses.map(() => 201));
  assertEquals(after.status, 201);
});

/** A body of so many bytes that has arrived but for its end. */
function all(bytes: number, end: Promise<void>): ReadableStream<Uint8Array> {
  const text = JSON.stringify({ title: "Emma" }).padEnd(bytes);
  return new ReadableStream({
    async start(stream) {
      stream.enqueue(new TextEncoder().encode(text));
      await end;
      stream.close();
    },
  });
}
