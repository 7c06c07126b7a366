import { assertEquals } from "@std/assert";
import type { App } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";

Deno.test("A PUT", async ({ step: it }) => {
  // One session, which reports its statistics when it is told to.
  await using app = await openOwnApp({ poolSize: 1 });
  const org = await app.organization();
  const { path, product } = await org.create({
    product_prices: [{ currency_code: "GBP" }],
  });
  const [{ id }] = product.product_prices;

  for (
    const [what, body] of Object.entries({
      "a page count": { page_count: 480 },
      "a price": { product_prices: [{ id, retail_price: "8.99" }] },
    })
  ) {
    await it(`of ${what} writes products once, and no index of it`, async () => {
      const before = await updatesOf(app);

      const { status } = await org.put(path, body);

      const after = await updatesOf(app);
      assertEquals(status, 200);
      assertEquals([after.all - before.all, after.hot - before.hot], [1, 1]);
    });
  }
});

/** The updates of `products` so far, and those of them that wrote no index. */
async function updatesOf(app: App): Promise<{ all: number; hot: number }> {
  await app.sql`select pg_stat_force_next_flush()`;
  const [updates] = await app.sql<{ all: number; hot: number }[]>`
    select
      pg_stat_get_tuples_updated('products'::regclass)::int as all,
      pg_stat_get_tuples_hot_updated('products'::regclass)::int as hot
  `;
  return updates!;
}
