import { assert, assertEquals } from "@std/assert";
import { fullBody } from "./bodies.ts";
import { openApp, type Reply, send } from "./harness.ts";
import { placesIn, replaced } from "./places.ts";

const MIB = 1_048_576;

Deno.test("The body of a request", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();
  const whole = await fullBody(app, org);

  const writes = (body: BodyInit, headers: HeadersInit = {}) =>
    Promise.all([["POST", "/api/products"], ["PUT", path]].map((
      [method, path],
    ) =>
      app.send(path!, {
        method: method!,
        headers: {
          "x-api-key": org.key,
          "content-type": "application/json",
          ...headers,
        },
        body,
      })
    ));

  await t.step("is refused where it is no JSON", async () => {
    const texts = ["", " ", "\n", "{", '{"title":"x",}', '{"title":"x"', "[1"]
      .concat("{'title':'x'}", "{title:1}", '{"title":NaN}', '{"title":0x1}')
      .concat('{"title":Infinity}', '{"page_count":01}', '{"page_count":+1}')
      .concat('{"page_count":.5}', '{"title":"a\tb"}', '{"title":"\\x41"}')
      .concat('// x\n{"title":"x"}', '{"title":"x"}{}', '{"title":"x"} x')
      .concat('\ufeff{"title":"x"}', '{"title":"x"}\ufeff', '\xa0{"title":"x"}')
      .concat("undefined", '{"title":"x"}\0', "title=x", "<title/>");
    for (const text of texts) {
      for (const { status, body } of await writes(text)) {
        assertEquals(status, 400, text);
        assertEquals(body.error.code, "INVALID_JSON");
      }
    }
  });

  await t.step("is refused where it is no UTF-8", async () => {
    const title = (...bytes: number[]) => [
      ...new TextEncoder().encode('{"title":"x'),
      ...bytes,
      ...new TextEncoder().encode('"}'),
    ];
    const bodies = {
      latin1: title(0xe9),
      overlong: title(0xc0, 0xaf),
      surrogate: title(0xed, 0xa0, 0x80),
      cut: title(0xf0, 0x9f, 0x92),
      beyond: title(0xf4, 0x90, 0x80, 0x80),
      mark: [0xef, 0xbb, 0xbf, ...title()],
      utf16: [...'{"title":"x"}'].flatMap((c) => [c.charCodeAt(0), 0]),
      utf16be: [0xfe, 0xff, 0, 0x7b, 0, 0x7d],
    };
    for (const [name, bytes] of Object.entries(bodies)) {
      for (const { status, body } of await writes(new Uint8Array(bytes))) {
        assertEquals(status, 400, name);
        assertEquals(body.error.code, "INVALID_JSON");
      }
    }
  });

  await t.step("is refused where it is no object", async () => {
    for (const text of ["null", "[]", '[{"title":"x"}]', '"x"', "1", "true"]) {
      for (const { status, body } of await writes(text)) {
        assertEquals(status, 400, text);
        assertEquals(faultsOf(body), [["", "invalid_type"]]);
      }
    }
  });

  await t.step("nests 32 levels deep and no deeper", async () => {
    const nested = (levels: number, inner = "") =>
      `{"title":"x","product_territories":${"[".repeat(levels - 1)}${inner}${
        "]".repeat(levels - 1)
      }}`;
    const long = "12345678901234567890";
    for (const text of [nested(32), nested(32, "1"), nested(32, long)]) {
      const [created, updated] = await writes(text);

      assertEquals([created!.status, updated!.status], [201, 200]);
    }
    for (
      const text of [
        nested(33),
        "[".repeat(200_000),
        nested(100_000),
        nested(100_000, "1e5"),
        `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      ]
    ) {
      for (const { status, body, text: answer } of await writes(text)) {
        assertEquals(status, 400);
        assertEquals(body.error.code, "INVALID_JSON");
        assert(answer.length < 300);
      }
    }
  });

  await t.step("counts by the last of two equal keys", async () => {
    const other = await app.organization();
    const { license } = org;

    const [created] = await writes(
      `{"title":"x","license_id":"${other.license}","title":"y","license_id":"${license}"}`,
    );
    const [refused] = await writes(
      `{"title":"x","license_id":"${license}","license_id":"${other.license}"}`,
    );

    assertEquals(created!.body.data.title, "y");
    assertEquals(created!.body.data.license_id, license);
    assertEquals(refused!.status, 400);
  });

  await t.step("names unknown fields, whatever their names", async () => {
    const names = ["shelf", "__proto__", "constructor", "prototype", "toString"]
      .concat("hasOwnProperty", "", "a/b~c", "\0", "Title", "rawJSON", "é")
      .concat("organization", "counted", "search_text", "position");
    const keys = names.map((name) => `${JSON.stringify(name)}:{"polluted":1}`);
    const pointers = names.map((name) =>
      "/" + name.replaceAll("~", "~0").replaceAll("/", "~1")
    );

    const top = await writes(`{"title":"x",${keys.join()}}`);
    const inside = await writes(
      `{"title":"x","contributors":[{${keys.join()}}],"collateral":[{"collateral_type":"award","prize_name":"x",${keys.join()}}]}`,
    );

    for (const { status, body } of top) {
      assertEquals(status, 400);
      assertEquals(
        faultsOf(body),
        pointers.map((pointer) => [pointer, "unknown_field"]),
      );
    }
    for (const { body } of inside) {
      const unknown = faultsOf(body).filter(([, code]) =>
        code === "unknown_field"
      );
      assertEquals(
        unknown.map(([pointer]) => pointer).sort(),
        ["/collateral/0", "/contributors/0"].flatMap((at) =>
          pointers.map((pointer) => at + pointer)
        ).sort(),
      );
    }
    assertEquals(Reflect.get({}, "polluted"), undefined);
  });

  await t.step("writes no field that only an answer has", async () => {
    const other = await app.organization();
    const answered = {
      id: other.id,
      organization_id: other.id,
      product_code: "P-00000000",
      created_at: "1999-01-01T00:00:00.000Z",
      updated_at: "1999-01-01T00:00:00.000Z",
      license_name: "Stolen",
      season_name: { a: 1 },
      collections: [1],
      product_territories: [{ id: other.id }],
      product_sales_rights: "none",
    };

    const [created, updated] = await writes(
      JSON.stringify({ title: "x", ...answered }),
    );

    for (const reply of [created!, updated!]) {
      const { data } = reply.body;
      assert(reply.status < 300);
      assertEquals(data.organization_id, org.id);
      assertEquals(data.product_territories, []);
      for (const [field, value] of Object.entries(answered)) {
        assert(JSON.stringify(data[field]) !== JSON.stringify(value), field);
      }
    }
  });

  await t.step("is refused with the wrong type at any place", async () => {
    for (const [at, value] of placesIn(whole)) {
      for (const other of othersThan(at, value)) {
        const replies = await writes(
          JSON.stringify(replaced(whole, at, other)),
        );

        for (const { status, body } of replies) {
          assertEquals(status, 400, at);
          assert(
            pointersOf(body).some((pointer) => pointer.startsWith(at)),
            at,
          );
        }
      }
    }
  });

  await t.step("has neither U+0000 nor half a surrogate pair", async () => {
    const places = placesIn(whole)
      .filter(([, value]) => typeof value === "string");
    for (const [at] of places) {
      for (const bad of ["x\0", "\ud800", "a\udc00\ud800b"]) {
        for (
          const { status, body } of await writes(
            JSON.stringify(replaced(whole, at, bad)),
          )
        ) {
          assertEquals(status, 400, at);
          assert(pointersOf(body).every((pointer) => pointer === at), at);
        }
      }
    }
  });

  await t.step("gives back every other character", async () => {
    const texts = [
      "\ufffe\uffff",
      "a\u2028\u2029b",
      "\u202eabc",
      " a ",
      "\u200b",
    ]
      .concat("👨‍👩‍👧‍👦", "e\u0301 \u00e9 \u1e9b\u0323", "\u0001\u001f\u007f\u0085")
      .concat(
        "\\u0000 \\",
        '"',
        "${x} $1 %s",
        "\u{10ffff}".repeat(500),
        "İıſß",
      );
    for (const title of texts) {
      const collateral = [{ collateral_type: "text_content", text: title }];
      const custom_fields = [{
        field_id: org.customField,
        field_value: title,
      }];

      const { path } = await org.create({ title, collateral, custom_fields });

      const { body: { data } } = await org.get(path);
      assertEquals(data.title, title);
      assertEquals(data.collateral[0].text, title);
      assertEquals(data.custom_fields[0].field_value, title);
    }
  });

  await t.step("is no larger than the limit", async () => {
    const handler = app.variant({ maxBodyBytes: 100 });
    const sized = (size: number) =>
      `{"title":"${"x".repeat(size - '{"title":""}'.length)}"}`;
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

    const fitting = await post(sized(100));
    const refused = [
      await post(sized(101)),
      await post(chunked(sized(101), 7)),
      await post(chunked(sized(101), 7), { "content-length": "10" }),
      await post("{}", { "content-length": "101" }),
      await post(endless()),
    ];

    assertEquals(fitting.status, 201);
    for (const { status, body } of refused) {
      assertEquals(status, 413);
      assertEquals(body.error.code, "PAYLOAD_TOO_LARGE");
    }
  });

  await t.step(
    "is refused shortly, however much is wrong with it",
    async () => {
      const many = <T>(count: number, entry: T) => Array(count).fill(entry);
      const award = { collateral_type: "award", prize_name: "x" };
      const bodies: [number, unknown][] = [
        [300, { product_prices: many(100_000, 0) }],
        [300, { contributors: many(100_000, {}) }],
        [
          3_000,
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
    },
  );

  await t.step("is JSON by its media type, in UTF-8", async () => {
    const types = ["application/json", "APPLICATION/JSON", "application/json;"]
      .concat("application/json;charset=utf-8", "application/json ; version=1")
      .concat('application/json; Charset="UTF-8"', "application/json;\tx=y\t;")
      .concat('application/json; profile="a;b"');
    for (const type of types) {
      const [created] = await writes('{"title":"x"}', { "content-type": type });

      assertEquals(created!.status, 201, type);
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

  await t.step("is never decompressed", async () => {
    const packed = await new Response(
      new Blob(['{"title":"x"}']).stream()
        .pipeThrough(new CompressionStream("gzip")),
    ).bytes();
    for (
      const encoding of ["gzip", "GZIP", "br", "deflate", "gzip, identity"]
    ) {
      for (const body of [packed, '{"title":"x"}']) {
        const replies = await writes(body, { "content-encoding": encoding });

        for (const { status } of replies) assertEquals(status, 415, encoding);
      }
    }
    const [created] = await writes('{"title":"x"}', {
      "content-encoding": "identity",
    });
    assertEquals(created!.status, 201);
    const [bare] = await writes(packed);
    assertEquals(bare!.body.error.code, "INVALID_JSON");
  });

  await t.step("arrives within its time, or is refused", async () => {
    const handler = app.variant({ bodyArrivalMs: 50 });

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

/** Values of another type than the one that belongs to the place. */
function othersThan(at: string, value: unknown): unknown[] {
  if (at.endsWith("/content_audience")) return [{}, "00", 1];
  if (Array.isArray(value)) return [{}, "x", 1, null];
  if (typeof value === "object") return [[], "x", 1, null];
  return at.endsWith("/field_value") ? [{}, []] : [{}, [], 0.00001];
}

/** A body of unknown length, in pieces. */
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

function faultsOf(body: Reply["body"]): [string, string][] {
  return body.error.details.map((
    { pointer, code }: { pointer: string; code: string },
  ) => [pointer, code]);
}

function pointersOf(body: Reply["body"]): string[] {
  return faultsOf(body).map(([pointer]) => pointer);
}
