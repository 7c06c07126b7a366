import { assert, assertEquals } from "@std/assert";
import { randomBytes } from "node:crypto";
import { clockAhead } from "../support/clock.ts";
import { countingReads } from "../support/counting.ts";
import {
  fieldBlock,
  frame,
  HEADERS,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  WHOLE,
} from "../support/h2.ts";
import { openApp, send } from "../support/harness.ts";
import { listen } from "../support/wire.ts";

/** More than may wait for the database. */
const STRANGERS = 2_000;

/** How many requests are sent, and taken back at once. */
const TAKEN_BACK = 10_000;

/** Why the server hangs up on such a client. */
const GOODBYE = "too_many_resets";

const MAX_BODY_BYTES = 1_000;

/** What a service of such bodies holds at a time. */
const BODIES = 32;

Deno.test("Too much at a time", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();

  await t.step(
    "of unknown keys, keeps nobody out whose key is known",
    async () => {
      const database = countingReads(app.database);
      const handler = app.variant({ database });
      const ask = (key: string) =>
        send(handler, path, { headers: { "x-api-key": key } });
      await ask(org.key);
      database.reads = 0;
      // Known, and old enough to be looked up again.
      using _ = clockAhead(5_000);

      const refused = Array.from({ length: STRANGERS }, () => ask(newKey()));
      const own = await Promise.all([org.key, org.key].map(ask));
      const replies = await Promise.all(refused);
      const later = await ask(newKey());

      assertEquals(own.map(({ status }) => status), [200, 200]);
      for (const { status, headers } of replies) {
        assert(status === 401 || status === 503 && headers.has("retry-after"));
      }
      assert(replies.some(({ status }) => status === 401));
      assert(database.reads < STRANGERS / 2, `${database.reads} look-ups`);
      assertEquals(later.status, 401);
    },
  );

  await t.step("of bodies, is refused until some are written", async () => {
    const handler = app.variant({ maxBodyBytes: MAX_BODY_BYTES });
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

  await t.step(
    "of requests that are taken back, ends their connection alone",
    async () => {
      await using server = listen(app.handler);
      const request = fieldBlock(path, { "x-api-key": org.key });

      using connection = await server.connect();
      const frames = Array.from({ length: TAKEN_BACK }, (_, i) => [
        ...frame(HEADERS, WHOLE, 2 * i + 1, request),
        ...frame(RST_STREAM, 0, 2 * i + 1, [0, 0, 0, 8]),
      ]).flat();
      const writer = connection.writable.getWriter();
      await writer.write(
        Uint8Array.from([
          ...new TextEncoder().encode(PREFACE),
          ...frame(SETTINGS, 0, 0, []),
        ]),
      );
      // The server may hang up before it has heard everything.
      const written = writer.write(Uint8Array.from(frames)).catch(() => {});
      let heard = "";
      for await (
        const text of connection.readable.pipeThrough(new TextDecoderStream())
      ) {
        heard += text;
        if (heard.includes(GOODBYE)) break;
      }
      await written;
      const answers = await server.exchange(
        `GET ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${org.key}\r\nConnection: close\r\n\r\n`,
      );

      assert(heard.includes(GOODBYE), heard);
      assertEquals(answers.map(({ status }) => status), [200]);
      assertEquals(app.database.load, { used: 0, waiting: 0 });
    },
  );
});

/** A key that nobody has issued. */
function newKey(): string {
  return `cat_${randomBytes(6).toString("hex")}_${
    randomBytes(32).toString("base64url")
  }`;
}

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
