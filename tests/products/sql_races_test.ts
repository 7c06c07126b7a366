import { assert, assertEquals } from "@std/assert";
import { type App, type Organization, SETTINGS } from "../support/harness.ts";
import { openOwnApp } from "../support/own_app.ts";
import { assertBuilt, read } from "../support/stored.ts";

const SECONDS = 4;

/** Values of a product that only increase. Each has one writer. */
const VALUES = ["page_count", "list_price", "publisher", "label"] as const;

type Numbers = Record<typeof VALUES[number], number>;

Deno.test({
  name:
    "Requests and SQL at once end on the last value, and no reader goes back in time",
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp({ poolSize: 12 });
    const org = await app.organization();
    const { id, path } = await org.create({
      publisher_id: org.publisher,
      page_count: 1,
      product_prices: [{ currency_code: "GBP", list_price: 1 }],
    });
    const { id: other } = await org.create({ title: "1" });
    await app.sql((sql) =>
      sql`
        insert into product_sales_rights (organization_id, product_id, sales_rights_type)
        values (${org.id}, ${id}, '01')
      `
    );
    await rename(app, org, 1);
    await label(app, 1);

    const end = performance.now() + SECONDS * 1_000;
    const written: Numbers = {
      page_count: 1,
      list_price: 1,
      publisher: 1,
      label: 1,
    };
    let titled = 1;

    await Promise.all([
      repeat(async (n) => {
        const { status } = await org.put(path, { page_count: n });
        assertEquals(status, 200);
        written.page_count = n;
      }),
      repeat(async (n) => {
        await app.sql((sql) =>
          sql`update product_prices set list_price = ${n} where product_id = ${id}`
        );
        written.list_price = n;
      }),
      repeat(async (n) => {
        await rename(app, org, n);
        written.publisher = n;
      }),
      repeat(async (n) => {
        await label(app, n);
        written.label = n;
      }),
      // Other products are inserted and deleted, and counted.
      repeat(async (n) => {
        const { path } = await org.create({ format_id: org.format });
        await app.sql((sql) =>
          sql`insert into products (organization_id, title, format_id) values (${org.id}, ${`${n}`}, ${org.format})`
        );
        await org.delete(path);
      }),
      // The same id and time with another title.
      repeat(async (n) => {
        await app.sql((sql) =>
          sql`
            with gone as (delete from products where id = ${other} returning *)
            insert into products (organization_id, id, title, product_code, created_at, updated_at)
            select organization_id, id, ${`${n}`}, product_code, created_at, updated_at from gone
          `
        );
        titled = n;
      }),
      ...[1, 2].flatMap(() => [
        reading(() => written, async () => {
          const { data } = await read(app, org, path);
          return numbersOf(data);
        }),
        reading(() => written, async () => {
          const { data } = await read(
            app,
            org,
            `/api/products?sort=created_at&limit=2&include=sales_rights`,
          );
          return numbersOf(data.find((item: { id: string }) => item.id === id));
        }),
        reading(() => ({ titled }), async () => {
          const { data } = await read(app, org, `/api/products/${other}`);
          return { titled: Number(data.title) };
        }),
      ]),
    ]);

    const { data } = await read(app, org, path);
    assertEquals(numbersOf(data), written);
    assert(written.publisher > 10, JSON.stringify(written));
    await assertBuilt(app, org);

    async function repeat(write: (n: number) => Promise<void>): Promise<void> {
      for (let n = 2; performance.now() < end; n++) await write(n);
    }

    /** Expects each read to show all earlier writes, and no older values than earlier reads. */
    async function reading<T extends Record<string, number>>(
      acknowledged: () => T,
      shown: () => Promise<Partial<T>>,
    ): Promise<void> {
      let least = { ...acknowledged() };
      while (performance.now() < end) {
        const before = { ...acknowledged() };
        const now = await shown();
        for (const [name, value] of Object.entries(now)) {
          const bound = Math.max(before[name]!, least[name]!);
          assert(value! >= bound, `${name} is ${value}, after ${bound}`);
        }
        least = { ...least, ...now };
      }
    }
  },
});

async function rename(app: App, org: Organization, n: number): Promise<void> {
  await app.sql((sql) =>
    sql`update publishers set name = ${`${n}`} where id = ${org.publisher}`
  );
}

async function label(app: App, n: number): Promise<void> {
  await app.sql((sql) =>
    sql`update onix_codes set label = ${`${n}`} where list = 46 and code = '01'`
  );
}

// deno-lint-ignore no-explicit-any
function numbersOf(product: any): Partial<Numbers> {
  return {
    page_count: product.page_count,
    publisher: Number(product.publisher_name),
    label: Number(product.product_sales_rights[0].sales_rights_type_label),
    ...product.product_prices &&
      { list_price: product.product_prices[0].list_price },
  };
}
