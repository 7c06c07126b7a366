import { assert, assertEquals } from "@std/assert";
import { installDemo } from "../../db/install.ts";
import { openApp, SETTINGS } from "../support/harness.ts";

Deno.test("The demo organization", async (t) => {
  // The demo is only installed in a database without organizations.
  await using app = await openApp({}, { ...SETTINGS, url: undefined });
  const key = await installDemo(
    app.database.until(performance.now() + 60_000),
  );
  const headers = { "x-api-key": key!, "content-type": "application/json" };
  const { body: list } = await app.send("/api/products", { headers });
  const products: { id: string }[] = [];

  await t.step("has counted products", () => {
    assert(list.data.length > 20);
    assertEquals(list.meta.total, list.data.length);
  });

  await t.step("accepts every GET response as body", async () => {
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

  await t.step("fills every field of a response", () => {
    const fields = products.flatMap((product) => fieldsOf(product));
    const filled = new Set(
      fields.filter(([, filled]) => filled).map(([path]) => path),
    );

    for (const [path] of fields) assert(filled.has(path), path);
  });
});

/** Every path of a value, and whether something is there. */
function fieldsOf(value: unknown, path = ""): [string, filled: boolean][] {
  if (typeof value !== "object") return [[path, true]];
  if (value === null) return [[path, false]];
  const entries = Array.isArray(value)
    ? value.map((item) => ["*", item] as const)
    : Object.entries(value);
  return [
    [path, entries.length > 0],
    ...entries.flatMap(([key, inner]) => fieldsOf(inner, `${path}/${key}`)),
  ];
}
