import { assert, assertEquals } from "@std/assert";
import { SORTS } from "../../schema/list_query.ts";
import { fullBody } from "../support/data/bodies.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, SETTINGS } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { load } from "../support/sql/loading.ts";

/** The maximum number of statements per connection, far more than all kinds of requests need. */
const MOST = 100;

const INCLUDES = [
  "product_territories",
  "product_sales_rights",
  "product_prices",
  "packing_configurations",
  "contributors",
  "custom_fields",
  "collateral",
];

/** PostgreSQL plans a statement as often before it may keep a plan for all values. */
const PLANNED = 5;

Deno.test({
  name: "Prepared statements",
  ignore: !SETTINGS.prepare,
  async fn({ step: it }) {
    // A single connection, which the test inspects. PostgreSQL may plan the lists of an organization with fewer products
    // than most anew, so no other test's are there.
    await using app = await openOwnApp({ poolSize: 1 });

    await it("are bounded for any requests", async () => {
      const [first, second] = [
        await app.organization(),
        await app.organization(),
      ];

      await askForAll(app, first, 1);
      await eventually({ used: 0, waiting: 0 }, () => app.database.load);
      const few = await preparedStatements(app);
      for (const [i, org] of [first, second, first].entries()) {
        await askForAll(app, org, i + 2);
      }

      await eventually({ used: 0, waiting: 0 }, () => app.database.load);
      assertEquals(await preparedStatements(app), few);
      assert(few < MOST, `${few} statements`);
    });

    await it({
      name: "of lists are not planned for each page",
      // Citus finds the node of the organization at each execution.
      ignore: app.isDistributed,
      async fn() {
        const org = await app.organization();
        await load(app, org, 300);
        await app.sql`analyze products`;
        for (const include of ["", "contributors", "contributors,collateral"]) {
          for (let page = 1; page <= 2 * PLANNED; page++) {
            const { status } = await org.get(
              `/api/products?limit=25&page=${page}&include=${include}`,
            );
            assertEquals(status, 200);
          }
        }

        assertEquals(Math.max(...await plansOfLists(app)), PLANNED);
      },
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
  for (const include of includes(entries)) {
    const { status } = await org.get(
      `/api/products/changes?include=${include}`,
    );
    assertEquals(status, 200, include);
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
    ...includes(n).map((include) => `include=${include}`),
    ...SORTS.map((sort) => `sort=${sort}&page=${n}`),
    `search=em${"m".repeat(n)}`,
    `search=e&limit=${n}`,
    `isbn13=${product.isbn13}`,
    "updated_since=2026-01-01T00:00:00Z",
  ];
}

/** Each array by itself, and a combination. */
function includes(n: number): string[] {
  return [...INCLUDES, INCLUDES.slice(0, n + 1).join()];
}

/** How often PostgreSQL planned each prepared list. */
async function plansOfLists(app: App): Promise<number[]> {
  const rows = await app.sql<{ plans: string }[]>`
    select custom_plans as plans
    from pg_prepared_statements
    where statement like '%string_agg(e.entry, ''},{'')%'
  `;
  return rows.map(({ plans }) => Number(plans));
}

async function preparedStatements(app: App): Promise<number> {
  const [row] = await app.sql<
    { count: string }[]
  >`select count(*) from pg_prepared_statements`;
  return Number(row!.count);
}
