import { assert, assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { openApp } from "../support/app/harness.ts";
import { placesIn, replaced } from "../support/client/pointers.ts";
import { errorsOf, writesOf } from "../support/client/writing.ts";

Deno.test("The fields of a body", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const { path } = await org.create();
  const writes = writesOf(app, org, path);
  const whole = await fullBody(app, org);

  await t.step("names unknown fields", async () => {
    const names = ["shelf", "__proto__", "constructor", "prototype", "toString"]
      .concat("hasOwnProperty", "", "a/b~c", "\0", "Title", "rawJSON", "é")
      .concat("organization", "change_version", "search_text", "position");
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
        errorsOf(body),
        pointers.map((pointer) => [pointer, "unknown_field"]),
      );
    }
    for (const { body } of inside) {
      const unknown = errorsOf(body).filter(([, code]) =>
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

  await t.step("ignores response-only fields", async () => {
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

    for (const reply of [created, updated]) {
      const { data } = reply.body;
      assert(reply.status < 300);
      assertEquals(data.organization_id, org.id);
      assertEquals(data.product_territories, []);
      for (const [field, value] of Object.entries(answered)) {
        assert(JSON.stringify(data[field]) !== JSON.stringify(value), field);
      }
    }
  });

  await t.step("refuses a wrong type at any place", async () => {
    for (const [at, value] of placesIn(whole)) {
      for (const other of othersThan(at, value)) {
        const replies = await writes(
          JSON.stringify(replaced(whole, at, other)),
        );

        for (const { status, body } of replies) {
          assertEquals(status, 400, at);
          assert(
            errorsOf(body).some(([pointer]) => pointer.startsWith(at)),
            at,
          );
        }
      }
    }
  });

  await t.step("refuses U+0000 and lone surrogates", async () => {
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
          assert(errorsOf(body).every(([pointer]) => pointer === at), at);
        }
      }
    }
  });

  await t.step("stores every other character unchanged", async () => {
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
});

/** Values of a wrong type for each place. */
function othersThan(at: string, value: unknown): unknown[] {
  if (at.endsWith("/content_audience")) return [{}, "00", 1];
  if (Array.isArray(value)) return [{}, "x", 1, null];
  if (typeof value === "object") return [[], "x", 1, null];
  return at.endsWith("/field_value") ? [{}, []] : [{}, [], 0.00001];
}
