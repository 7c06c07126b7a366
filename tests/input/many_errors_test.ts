import { assert, assertEquals } from "@std/assert";
import { openApp } from "../support/app/harness.ts";

Deno.test("Many errors", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();

  await it("are a hundred details at most", async () => {
    const secret = "x".repeat(200);
    const malformed = Array(500).fill({ currency_code: secret });
    const unknown = Array.from({ length: 500 }, () => ({
      contributor_id: crypto.randomUUID(),
      contributor_role_id: org.id,
    }));

    for (
      const body of [
        { product_prices: malformed },
        { contributors: unknown },
        Object.fromEntries(malformed.map((_, i) => [`${secret}${i}`, 1])),
      ]
    ) {
      const { status, body: { error }, text } = await org.post(
        "/api/products",
        { title: "x", ...body },
      );

      assertEquals(status, 400);
      assertEquals(error.details.length, 100);
      assertEquals(
        error.message,
        "The body has more than 100 errors; the first 100 are listed",
      );
      assert(!text.includes(secret));
    }
  });

  await it("are all listed, up to a hundred", async () => {
    const unknown = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`unknown_${i}`, 1]),
      );
    const bodies: [number, object][] = [
      [100, { product_prices: Array(100).fill({ currency_code: "x" }) }],
      [24, unknown(24)],
      [100, unknown(100)],
      [48, {
        product_prices: [unknown(24), unknown(24)].map((more) => (
          { currency_code: "EUR", ...more }
        )),
      }],
    ];
    for (const [count, body] of bodies) {
      const { status, body: { error } } = await org.post("/api/products", {
        title: "x",
        ...body,
      });

      assertEquals(status, 400);
      assertEquals(error.details.length, count);
      assertEquals(error.message, `The body has ${count} errors`);
    }
  });

  await it("are counted up to a hundred", async () => {
    const countries_included = Array(490).fill("XX");
    const market = { territory: { countries_included } };
    const { path } = await org.create();

    const { status, body: { error } } = await org.put(`${path}/territories`, [
      { markets: Array(50).fill(market) },
    ]);

    assertEquals(status, 400);
    assertEquals(error.details.length, 100);
    assertEquals(
      error.message,
      "The body has more than 100 errors; the first 100 are listed",
    );
  });
});
