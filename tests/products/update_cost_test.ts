import { assert, assertEquals } from "@std/assert";
import { openOwnApp } from "../support/app/own_app.ts";

Deno.test("An update of products", async (t) => {
  await using app = await openOwnApp();
  const org = await app.organization();
  const { id, product } = await org.create({
    product_prices: [{ currency_code: "GBP" }],
  });
  const [price] = product.product_prices;

  for (
    const [what, change] of Object.entries({
      "a page count": `update products set page_count = 480 where id = '${id}'`,
      "a price":
        `update product_prices set retail_price = 8.99 where id = '${price.id}'`,
    })
  ) {
    await t.step(`of ${what} writes no index of products`, async () => {
      const [updates] = await app.sql(async (sql) => {
        await sql.unsafe(change);
        return await sql<{ all: number; hot: number }[]>`
          select
            pg_stat_get_xact_tuples_updated('products'::regclass)::int as all,
            pg_stat_get_xact_tuples_hot_updated('products'::regclass)::int as hot
        `;
      });

      assert(updates!.all > 0);
      assertEquals(updates!.hot, updates!.all);
    });
  }
});
