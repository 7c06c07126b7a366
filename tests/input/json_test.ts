import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openApp } from "../support/app/harness.ts";
import { errorsOf, writesOf } from "../support/client/writing.ts";

Deno.test("The JSON of a body", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();
  const writes = writesOf(app, org, path);

  await it("is refused with INVALID_JSON if it is not JSON (RFC 8259)", async () => {
    const texts = ["", " ", "\n", "{", '{"title":"x",}', '{"title":"x"', "[1"]
      .concat("{'title':'x'}", "{title:1}", '{"title":NaN}', '{"title":0x1}')
      .concat('{"title":Infinity}', '{"page_count":01}', '{"page_count":+1}')
      .concat('{"page_count":.5}', '{"title":"a\tb"}', '{"title":"\\x41"}')
      .concat('// x\n{"title":"x"}', '{"title":"x"}{}', '{"title":"x"} x')
      .concat('{"title":"x"}\ufeff', '\xa0{"title":"x"}', "\ufeff")
      .concat('\ufeff\ufeff{"title":"x"}')
      .concat("undefined", '{"title":"x"}\0', "title=x", "<title/>");
    for (const text of texts) {
      for (const { status, body } of await writes(text)) {
        assertEquals(status, 400, text);
        assertEquals(body.error.code, "INVALID_JSON");
      }
    }
  });

  await it("is refused if an object has a name twice (RFC 8259, 4)", async () => {
    const price = '{"currency_code":"GBP","currency_code":"EUR"}';
    const twice = {
      title: '{"title":"Emma", "title" :"Emma"}',
      currency_code: `{"title":"Emma","product_prices":[${price}]}`,
      subtitle: '{"title":"Emma","subtitle":"a","sub\\u0074itle":"b"}',
    };
    for (const [name, text] of Object.entries(twice)) {
      for (const { status, body: { error } } of await writes(text)) {
        assertEquals([status, error.code, error.message], [
          400,
          "INVALID_JSON",
          `The body has the name "${name}" twice in one object`,
        ]);
      }
    }
    const once =
      '{"title":"title","subtitle":"title","product_prices":[{"currency_code":"GBP"},{"currency_code":"EUR"}]}';
    for (const { status } of await writes(once)) assert(status < 300);
  });

  await it("may begin with a byte order mark (RFC 8259, 8.1)", async () => {
    for (const { status } of await writes('\ufeff{"title":"x"}')) {
      assert(status < 300);
    }
  });

  await it("is refused with INVALID_JSON if it is not UTF-8 (RFC 8259, 8.1)", async () => {
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

  await it("is refused with VALIDATION_ERROR if it is not an object", async () => {
    for (
      const text of ["null", "[]", '[{"title":"x"}]', '"x"', "1", "true"]
    ) {
      for (const { status, body } of await writes(text)) {
        assertEquals(status, 400, text);
        assertEquals(errorsOf(body), [["", "invalid_type"]]);
      }
    }
  });

  await it("nests at most 32 levels deep", async () => {
    const nested = (levels: number, inner = "") =>
      `{"title":"x","product_territories":${"[".repeat(levels - 1)}${inner}${
        "]".repeat(levels - 1)
      }}`;
    const long = "12345678901234567890";
    for (const text of [nested(32), nested(32, "1"), nested(32, long)]) {
      const [created, updated] = await writes(text);

      assertEquals([created.status, updated.status], [201, 200]);
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
      for (const { status, body, text: response } of await writes(text)) {
        assertEquals(status, 400);
        assertEquals(body.error.code, "INVALID_JSON");
        assert(response.length < 300);
      }
    }
  });

  await it("has a bounded number of values", async () => {
    const array = (value: string, count: number) =>
      `{"title":"x","product_territories":[${Array(count).fill(value).join(",")}]}`;
    const members = Array.from({ length: 50_001 }, (_, i) => `"${i}":1`);
    const texts = {
      "names and values": [array("1", 99_998), `{${members.join(",")}}`],
      "more than 15 digits": [array("1e400", 10_001)],
    };
    for (const [what, refused] of Object.entries(texts)) {
      for (
        const { status, body } of (await Promise.all(refused.map((text) => writes(text)))).flat()
      ) {
        assertEquals(status, 400);
        assertEquals(body.error.code, "INVALID_JSON");
        assertStringIncludes(body.error.message, what);
      }
    }
    const accepted = [array("1", 99_997), array("1e400", 10_000)];
    for (const text of [...accepted, array('"1e400,:[{"', 70_000)]) {
      for (const { status } of await writes(text)) assert(status < 300);
    }
  });
});
