import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { openApp, send } from "../support/app/harness.ts";
import type { Reply } from "../support/client/envelope.ts";
import { writesOf } from "../support/client/writing.ts";
import { TIMED } from "../support/app/deadline.ts";

setFlagsFromString("--expose-gc");

const collectGarbage: () => void = runInNewContext("gc");

const MIB = 1_048_576;

Deno.test("The body of a request", TIMED, async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();
  const writes = writesOf(app, org, path);

  await it("is no larger than the limit", async () => {
    const handler = app.variant({ maxBodyBytes: 100 });
    const sized = (size: number) => `{"title":"${"x".repeat(size - '{"title":""}'.length)}"}`;
    const post = (body: BodyInit, headers: Record<string, string> = {}) =>
      send(handler, "/api/products", {
        method: "POST",
        headers: {
          "x-api-key": org.key,
          "content-type": "application/json",
          ...headers,
        },
        body,
      });

    const fitting = [
      await post(sized(100)),
      await post(chunked(sized(100), 7)),
    ];
    const refused = [
      await post(sized(101)),
      await post(chunked(sized(101), 7)),
      await post(chunked(sized(101), 7), { "content-length": "10" }),
      await post("{}", { "content-length": "101" }),
      await post(endless()),
    ];

    assertEquals(fitting.map(({ status }) => status), [201, 201]);
    for (const { status, body } of refused) {
      assertEquals(status, 413);
      assertEquals(body.error.code, "PAYLOAD_TOO_LARGE");
    }
  });

  await it("gets a short response for any number of errors", async () => {
    const many = <T>(count: number, entry: T) => Array(count).fill(entry);
    const award = { collateral_type: "award", prize_name: "x" };
    const bodies: [number, unknown][] = [
      [300, { product_prices: many(100_000, 0) }],
      [300, { contributors: many(100_000, {}) }],
      [
        12_000,
        Object.fromEntries(many(70_000, 0).map((_, i) => [`k${i}`, 1])),
      ],
      [600, {
        collateral: [{ ...award, content_audience: many(99_999, "z") }],
      }],
      [
        600,
        {
          collateral: [{
            collateral_type: "text_content",
            text: "x",
            content_audience: many(99_999, "z"),
          }],
        },
      ],
      [12_000, { product_prices: many(500, { a: "v".repeat(1_500) }) }],
      [30_000, { product_prices: many(500, { ["\x01~/".repeat(200)]: 1 }) }],
      [300, { subtitle: "v".repeat(MIB / 2) }],
    ];
    for (const [most, body] of bodies) {
      const replies = await writes(
        JSON.stringify({ title: "x", ...body as object }),
      );

      for (const { status, text, body } of replies) {
        assertEquals(status, 400);
        assert(body.error.details.length <= 100);
        assert(text.length < most, `${text.length} ${text.slice(0, 200)}`);
        assert(!text.includes("vvv"));
      }
    }
  });

  await it("has all errors listed, up to a hundred", async () => {
    const entries = (count: number, entry: object) => Array.from({ length: count }, () => entry);
    const unknown = () => ({
      contributor_id: crypto.randomUUID(),
      contributor_role_id: org.id,
    });
    const territory = { countries_included: Array(490).fill("XX") };
    const create = (body: object) => org.post("/api/products", { title: "x", ...body });
    const named = (count: number, name = "unknown") =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`${name}_${i}`, 1]),
      );
    const prices = (...more: object[]) => ({
      product_prices: more.map((entry) => ({ currency_code: "EUR", ...entry })),
    });
    const wrong = { currency_code: "x".repeat(200) };
    const refused: [Reply, number][] = [
      [await create(named(24)), 24],
      [await create(prices(named(24), named(24))), 48],
      [await create(named(100)), 100],
      [await create(prices(...entries(100, wrong))), 100],
      [await create(prices(...entries(101, wrong))), 101],
      [await create(named(500, "x".repeat(200))), 101],
      [
        await create({ contributors: Array.from({ length: 500 }, unknown) }),
        101,
      ],
      [
        await org.put(`${path}/territories`, [
          { markets: entries(50, { territory }) },
        ]),
        101,
      ],
    ];
    for (const [{ status, body: { error }, text }, count] of refused) {
      assertEquals([status, error.details.length], [400, Math.min(count, 100)]);
      const all = count > 100
        ? "more than 100 errors; the first 100 are listed"
        : `${count} errors`;
      assertEquals(error.message, `The body has ${all}`);
      assert(!text.includes(wrong.currency_code));
    }
  });

  await it("is JSON by its media type, in UTF-8", async () => {
    const types = ["application/json", "APPLICATION/JSON", "application/json;"]
      .concat("application/json;charset=utf-8", "application/json ; version=1")
      .concat('application/json; Charset="UTF-8"', "application/json;\tx=y\t;")
      .concat('application/json; profile="a;b"');
    for (const type of types) {
      const [created] = await writes('{"title":"x"}', { "content-type": type });

      assertEquals(created.status, 201, type);
    }
    const others = [
      "",
      "text/plain",
      "application/x-www-form-urlencoded",
      "*/*",
    ]
      .concat("multipart/form-data; boundary=x", "application/vnd.api+json")
      .concat("application/json; charset=utf-16", "application/jsonx", "json")
      .concat('application/json; charset="latin1"', "application/json, a/b")
      .concat("application/json; charset=utf-8; charset=utf-16")
      .concat(`application/json${"; ".repeat(30_000)}x`);
    for (const type of others) {
      const replies = await writes('{"title":"x"}', { "content-type": type });

      for (const { status, body } of replies) {
        assertEquals(status, 415, type);
        assertEquals(body.error.code, "UNSUPPORTED_MEDIA_TYPE");
      }
    }
  });

  await it("is never decompressed", async () => {
    const packed = await new Response(
      new Blob(['{"title":"x"}']).stream()
        .pipeThrough(new CompressionStream("gzip")),
    ).bytes();
    for (
      const encoding of ["gzip", "GZIP", "br", "deflate", "gzip, identity"]
    ) {
      for (const body of [packed, '{"title":"x"}']) {
        const replies = await writes(body, { "content-encoding": encoding });

        for (const { status, headers } of replies) {
          assertEquals(status, 415, encoding);
          assertEquals(headers.get("accept-encoding"), "identity");
        }
      }
    }
    const [created] = await writes('{"title":"x"}', {
      "content-encoding": "identity",
    });
    assertEquals(created.status, 201);
    const [bare] = await writes(packed);
    assertEquals(bare.body.error.code, "INVALID_JSON");
  });

  await it("is not read further once it is refused", async () => {
    let isCancelled = false;

    const { status } = await send(app.handler, "/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: new ReadableStream({
        pull: (stream) => stream.enqueue(new Uint8Array(1_000_000)),
        cancel() {
          isCancelled = true;
        },
      }),
    });

    assertEquals(status, 413);
    assert(isCancelled);
  });

  await it(
    "takes no more memory in many chunks than in one, and lets others in",
    async () => {
      const bytes = new TextEncoder().encode(
        " ".repeat(5_000) + '{"title":"Emma"}',
      );
      let at = 0;
      const before = Deno.memoryUsage().external;
      let most = 0;
      let others = 0;
      const other = setInterval(() => others++, 0);

      const { status } = await send(app.handler, "/api/products", {
        method: "POST",
        headers: { "x-api-key": org.key, "content-type": "application/json" },
        body: new ReadableStream({
          type: "bytes",
          pull(stream) {
            if (at === bytes.length) return stream.close();
            // Deno allocates this for each read.
            const buffer = new Uint8Array(65_536);
            buffer[0] = bytes[at++]!;
            stream.enqueue(buffer.subarray(0, 1));
            // What nobody holds is not collected for a while beside other tests.
            if (Deno.memoryUsage().external - before > 50e6) collectGarbage();
            most = Math.max(most, Deno.memoryUsage().external - before);
          },
        }),
      });

      clearInterval(other);
      assertEquals(status, 201);
      assert(most < 150e6, `${most} bytes`);
      assert(others > 100, `${others} others`);
    },
  );

  await it("is refused with 408 if it is too slow", async () => {
    let timer: ReturnType<typeof setInterval>;
    // The body may be late for three tenths of it.
    const handler = app.variant({ bodyTimeoutMs: 10_000 });

    const { status, body } = await send(handler, "/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: new ReadableStream({
        start(stream) {
          stream.enqueue(new Uint8Array(100_000).fill(0x20));
          const space = new Uint8Array([0x20]);
          timer = setInterval(() => stream.enqueue(space), 50);
        },
        cancel: () => clearInterval(timer),
      }),
    });

    assertEquals(status, 408);
    assertMatch(body.error.message, /^The body stalled/);
  });

  await it("is refused with 408 after the time limit", async () => {
    const handler = app.variant({ bodyTimeoutMs: 50 });

    const { status, body } = await send(handler, "/api/products", {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode("{")),
      }),
    });

    assertEquals(status, 408);
    assertEquals(body.error.code, "REQUEST_TIMEOUT");
  });
});

/** A chunked body, without Content-Length. */
function chunked(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(stream) {
      if (at >= bytes.length) return stream.close();
      stream.enqueue(bytes.slice(at, at += size));
    },
  });
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (stream) => stream.enqueue(new Uint8Array(16)),
  });
}
