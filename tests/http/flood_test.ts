import { assert, assertEquals } from "@std/assert";
import { randomBytes } from "node:crypto";
import { eventually } from "../support/app/eventually.ts";
import { clockAhead } from "../support/app/clock.ts";
import { withOperations } from "../support/app/operations.ts";
import {
  fieldBlock,
  frame,
  HEADERS,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  WHOLE,
} from "../support/client/h2.ts";
import { openApp, send } from "../support/app/harness.ts";
import { sampleOf } from "../support/app/sample.ts";
import { listen } from "../support/client/wire.ts";
import { inTime, TIMED } from "../support/app/deadline.ts";

/** More requests than may wait for the database. */
const STRANGERS = 2_000;

/** The number of requests that are sent and cancelled at once. */
const TAKEN_BACK = 10_000;

/** The reason for which the server closes the connection. */
const GOODBYE = "too_many_resets";

const MIB = 1_048_576;

/** More bodies of 1 MiB than one caller may have in memory. */
const STALLED = 80;

/** Bodies that together take seconds to validate: on a busy machine, eight are done before two answers of a neighbour. */
const LONG = 32;

/** As many short bodies with many errors. */
const SHORT = 256;

/** Unknown country codes, or entries that are no objects. */
const CODES = Array<string>(490).fill("XX");

/** Prices with two errors each. */
const PRICES = Array(500).fill({ currency_code: "ZZZ", retail_price: "x" });

/** More bodies than one caller may send at once, since each holds a read buffer. */
const STALLED_SHORT = 1_300;

Deno.test("A flood", TIMED, async ({ step: it }) => {
  await using app = await openApp({
    verifyToken: (token) => Promise.resolve(token.split(".")[1]!),
  });
  const org = await app.organization();
  const { path } = await org.create();

  async function member(role: string): Promise<HeadersInit> {
    const user = crypto.randomUUID();
    await app.sql`
      insert into organization_members (organization_id, user_id, role)
      values (${org.id}, ${user}, ${role})
    `;
    return {
      "authorization": `Bearer head.${user}.signature`,
      "x-organization-id": org.id,
    };
  }

  await it("of unknown keys locks out neither known keys nor new ones", async () => {
    const { key: secondKey } = await app.organization();
    const guess = `${org.key.slice(0, -43)}${newKey().slice(-43)}`;
    let [running, most, refused] = [0, 0, 0];
    const database = withOperations(app.database, (operations) => ({
      ...operations,
      async lookUp(statement) {
        most = Math.max(most, ++running);
        return await operations.lookUp(statement).finally(() => running--);
      },
    }));
    const handler = app.variant({ database });
    const ask = (key: string) => send(handler, path, { headers: { "x-api-key": key } });
    await ask(org.key);
    most = 0;
    // The known key was not used for longer than a minute.
    using _ = clockAhead(65_000);

    const strangers = Array.from({ length: STRANGERS }, async () => {
      const { status } = await ask(newKey());
      refused++;
      return status;
    });
    const own = [org.key, org.key, guess].map(ask);
    const [first, second, guessed] = await Promise.all(own);
    const refusedBefore = refused;
    const { status: ofNew } = await ask(secondKey);
    const statuses = await Promise.all(strangers);

    assertEquals([first, second].map((reply) => reply!.status), [200, 200]);
    assertEquals(guessed!.status, 401);
    assert(refusedBefore < STRANGERS / 10, `${refusedBefore} before`);
    // The product is another organization's.
    assertEquals(ofNew, 404);
    assertEquals(new Set(statuses), new Set([401]));
    // Four of unknown keys, and those of the known one and its product.
    assert(most <= 7, `${most} look-ups at once`);
  });

  await it("of bodies that were received leaves no trace", async () => {
    const key = { "x-api-key": org.key };
    const writes: [string, string, HeadersInit, object][] = [
      ["POST", "/api/products", key, { title: "" }],
      ["PUT", path, key, { title: "" }],
      ["POST", "/api/products/batch", key, { operations: [] }],
      ["POST", "/api/api-keys", await member("admin"), { name: "" }],
    ];
    for (
      const [method, path, credentials, body] of sampleOf(writes, () => "")
    ) {
      for (let i = 0; i < STALLED; i++) {
        const { status } = await send(app.handler, path, {
          method,
          headers: { ...credentials, "content-type": "application/json" },
          body: JSON.stringify(body).padEnd(MIB - 100),
        });

        assertEquals(status, 400, `${method} ${path}`);
      }
    }
  });

  await it("of long bodies lets others run in between", async () => {
    const other = { "x-api-key": (await app.organization()).key };
    const wrong = JSON.stringify([
      {
        markets: Array(100).fill({ territory: { countries_included: CODES } }),
      },
    ]);
    const operations = Array(100).fill({
      method: "create",
      body: { title: "Emma", contributors: CODES },
    });
    const short = JSON.stringify({ product_prices: PRICES });
    const bodies: [string, string, string, number][] = [
      ["PUT", `${path}/territories`, wrong, LONG],
      ["POST", "/api/products/batch", JSON.stringify({ operations }), LONG],
      ["POST", "/api/products", short, SHORT],
    ];
    for (const [method, path, body, count] of bodies) {
      let [received, before] = [0, count];
      const long = Array.from({ length: count }, () =>
        send(app.handler, path, {
          method,
          headers: { "x-api-key": org.key, "content-type": "application/json" },
          body,
        }).finally(() => received++));

      for (let i = 0; i < 2; i++) {
        const { status } = await send(app.handler, "/api/products", {
          headers: other,
        });
        assertEquals(status, 200);
        before = Math.min(before, received);
      }

      assert(before < count, `${path}: ${before}`);
      await Promise.all(long);
    }
  });

  await it("of short bodies that stall is limited too", async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>();

    const stalled = Array.from(
      { length: STALLED_SHORT },
      () =>
        send(app.handler, "/api/products", {
          method: "POST",
          headers: { "x-api-key": org.key, "content-type": "application/json" },
          body: unfinished(20, end),
        }),
    );
    const refused = await inTime("a refusal", Promise.any(stalled));
    resolve();
    const statuses = (await Promise.all(stalled)).map(({ status }) => status);

    assertEquals(refused.body.error.code, "TOO_MANY_REQUESTS");
    assertEquals(refused.headers.get("retry-after"), "1");
    assertEquals(
      refused.headers.get("ratelimit-policy"),
      '"caller";q=500;qu="concurrent-requests"',
    );
    assertEquals(refused.headers.get("ratelimit"), '"caller";r=0;t=1');
    assertEquals(new Set(statuses), new Set([201, 429]));
  });

  for (const kind of ["key", "user"]) {
    await it(`of stalled bodies affects only its own ${kind}`, async () => {
      const other = { "x-api-key": (await app.organization()).key };
      const [own, second] = kind === "key"
        ? [{ "x-api-key": org.key }, {
          "x-api-key": await org.issueKey("write"),
        }]
        : [await member("editor"), await member("editor")];
      const post = (credentials: HeadersInit, body: BodyInit) =>
        send(app.handler, "/api/products", {
          method: "POST",
          headers: { ...credentials, "content-type": "application/json" },
          body,
        });
      const { promise: end, resolve } = Promise.withResolvers<void>();

      const stalled = Array.from(
        { length: STALLED },
        () => post(own, unfinished(MIB - 100, end)),
      );
      let ended = 0;
      for (const reply of stalled) reply.then(() => ended++);
      const others = await Promise.all(
        [second, other, other].map((credentials) =>
          post(credentials, '{"title":"Emma"}'.padEnd(MIB - 100))
        ),
      );
      const endedBefore = ended;
      resolve();
      const statuses = (await Promise.all(stalled)).map(({ status }) => status);
      const after = await post(own, '{"title":"Emma"}');

      assertEquals(others.map(({ status }) => status), [201, 201, 201]);
      assertEquals(endedBefore, 0);
      // A body that gets no memory waits for it.
      assertEquals(new Set(statuses), new Set([201]));
      assertEquals(after.status, 201);
    });
  }

  await it("of cancelled requests closes only its own connection", async () => {
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
    // The server may close the connection before it has read everything.
    const written = writer.write(Uint8Array.from(frames)).catch(() => {});
    let heard = "";
    for await (
      const text of connection.readable.pipeThrough(new TextDecoderStream())
    ) {
      heard += text;
      if (heard.includes(GOODBYE)) break;
    }
    await written;
    const responses = await server.exchange(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nx-api-key: ${org.key}\r\nConnection: close\r\n\r\n`,
    );

    assert(heard.includes(GOODBYE), heard);
    assertEquals(responses.map(({ status }) => status), [200]);
    // A distributed database ends the last look-up a moment later.
    await eventually({ used: 0, waiting: 0 }, () => app.database.load);
  });
});

/** A key that was never issued. */
function newKey(): string {
  return `cat_${randomBytes(6).toString("hex")}_${randomBytes(32).toString("base64url")}`;
}

/** A body of this size whose stream does not end before `end`. */
function unfinished(
  bytes: number,
  end: Promise<void>,
): ReadableStream<Uint8Array> {
  const text = JSON.stringify({ title: "Emma" }).padEnd(bytes);
  return new ReadableStream({
    async start(stream) {
      stream.enqueue(new TextEncoder().encode(text));
      await end;
      stream.close();
    },
  });
}
