import { assert, assertEquals } from "@std/assert";
import { installDemo, issueDemoKey } from "../../db/demo.ts";
import { emptyFields, fieldsOf } from "../support/data/filled_fields.ts";
import { openApp, SETTINGS } from "../support/app/harness.ts";
import { codeOf } from "../support/client/guides.ts";

/** The demo product with a value in every field. */
const COMPLETE = "P-H0BB1TPB";

Deno.test("The demo organization", async ({ step: it }) => {
  // The demo is only installed in a database without organizations.
  await using app = await openApp({}, { ...SETTINGS, url: undefined });
  const database = app.database.for({ deadline: performance.now() + 60_000 });
  await installDemo(database);
  let key = "";
  await issueDemoKey(database, (shown) => Promise.resolve(Boolean(key = shown)));
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const { body: list } = await app.send("/api/products", { headers });
  const products: { product_code: string }[] = [];

  await it("has counted products", () => {
    assert(list.data.length > 20);
    assertEquals(list.meta.total, list.data.length);
  });

  await it("accepts every GET response as body", async () => {
    for (const { id } of list.data) {
      const path = `/api/products/${id}`;
      const { body: { data: read } } = await app.send(path, { headers });
      const { status, body } = await app.send(path, {
        method: "PUT",
        headers,
        body: JSON.stringify(read),
      });

      assertEquals(status, 200, JSON.stringify(body));
      assertEquals(body.data, { ...read, updated_at: body.data.updated_at });
      products.push(read);
    }
  });

  await it("has nobody whom the guides create", async () => {
    const code = [...await codeOf(["create"], "sh"), ...await codeOf(["create"], "ts")].join("\n");
    const created = [...code.matchAll(/"\S*\/(contributors|publishers)".*?name"?: "([^"]+)"/gs)];
    assert(created.length > 2);
    for (const [, path, name] of created) {
      const { body } = await app.send(`/api/${path}?limit=100`, { headers });

      const names = body.data.map((one: { name: string }) => one.name);
      assert(!names.includes(name), `${name} would be ambiguous`);
    }
  });

  await it("fills every field of a response", () => {
    const fields = products.flatMap((product) => fieldsOf(product));
    const filled = new Set(
      fields.filter(([, filled]) => filled).map(([path]) => path),
    );

    for (const [path] of fields) assert(filled.has(path), path);
  });

  await it("has a product with every field", () => {
    const product = products.find(({ product_code }) => product_code === COMPLETE);

    assertEquals(emptyFields("Product", product), []);
  });
});
