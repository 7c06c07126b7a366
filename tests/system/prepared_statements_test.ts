import { assert, assertEquals } from "@std/assert";
import { SORTS } from "../../schema/list_query.ts";
import { fullBody } from "../support/bodies.ts";
import {
  type App,
  openApp,
  type Organization,
  SETTINGS,
} from "../support/harness.ts";

/** The maximum number of statements per connection, far more than all kinds of requests need. */
const MOST = 100;

Deno.test({
  name: "Prepared statements",
  ignore: !SETTINGS.prepare,
  async fn(t) {
    // A single connection, which the test inspects.
    await using app = await openApp({}, { poolSize: 1 });

    await t.step("are bounded for any requests", async () => {
      const [first, second] = [
        await app.organization(),
        await app.organization(),
      ];

      await askForAll(app, first, 1);
      const few = await preparedStatements(app);
      for (const [i, org] of [first, second, first].entries()) {
        await askForAll(app, org, i + 2);
      }

      assertEquals(await preparedStatements(app), few);
      assert(few < MOST, `${few} statements`);
    });
  },
});

/** Requests of every kind, with this number of entries in each array. */
async function askForAll(app: App, org: Organization, entries: number) {
  const full = await fullBody(app, org);
  const prices = Array.from({ length: entries }, (_, i) => ({
    currency_code: "GBP",
    retail_price: 9.99 + i,
  }));
  const { path, product } = await org.create({
    ...full,
    product_prices: prices,
  });
  await org.create({ title: `Emma ${entries}` });
  const ids = product.product_prices.map(({ id }: { id: string }) => ({ id }));
  const bodies: object[] = [
    { ...full, product_prices: [...ids, ...prices] },
    { title: "Emma", page_count: entries, product_prices: ids },
    { product_collections: [], series_id: null },
    { collateral: [], custom_fields: [], contributors: [] },
    { format_id: null, product_form_id: null },
    { product_prices: [] },
  ];
  for (const body of bodies) {
    const { status } = await org.put(path, body);
    assertEquals(status, 200);
  }
  for (const query of queries(product, entries)) {
    const { status } = await org.get(`/api/products?${query}`);
    assertEquals(status, 200, query);
  }
  await org.get(path);
  await org.delete(path);
}

function queries(product: Record<string, string>, n: number): string[] {
  const filters = ["publishing_status_id", "format_id", "lifecycle_status_id"]
    .map((name) => `${name}=${product[name]}`);
  return [
    `page=${n}&limit=${n * 3}`,
    ...filters,
    filters.join("&"),
    `${filters[0]}&page=${n}`,
    "include=product_territories",
    "include=product_territories,sales_rights",
    ...SORTS.map((sort) => `sort=${sort}&page=${n}`),
    `search=em${"m".repeat(n)}`,
    `search=e&limit=${n}`,
    `isbn13=${product.isbn13}`,
    "updated_since=2026-01-01T00:00:00Z",
  ];
}

async function preparedStatements(app: App): Promise<number> {
  const [row] = await app.sql((sql) =>
    sql<{ count: string }[]>`select count(*) from pg_prepared_statements`
  );
  return Number(row!.count);
}
