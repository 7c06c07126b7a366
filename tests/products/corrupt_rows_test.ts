import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../support/sql/script.ts";
import { testsOf } from "../support/app/harness.ts";

/** Values that an operator may write by SQL, but the service never writes. */
const CORRUPTIONS: Record<
  string,
  (sql: Sql, id: string) => PromiseLike<unknown>
> = {
  "a day without end": (sql, id) =>
    sql`update products set publication_date = 'infinity' where id = ${id}`,
  "a day before the first": (sql, id) =>
    sql`update products set publication_date = '0044-03-15 BC' where id = ${id}`,
  "a time beyond the years": (sql, id) =>
    sql`update products set created_at = '12000-01-01', updated_at = '-infinity' where id = ${id}`,
  "an amount that is no number": (sql, id) =>
    sql`update product_prices set list_price = 'NaN' where product_id = ${id}`,
  "a megabyte of subtitle": (sql, id) =>
    sql`update products set subtitle = repeat('x', 1000000) where id = ${id}`,
};

const it = testsOf("A manually corrupted row");

for (const [what, corrupt] of Object.entries(CORRUPTIONS)) {
  it(`does not affect other products: ${what}`, async ({ org, app, sql }) => {
    const whole = await org.create({ title: "whole" });
    const { id, path } = await org.create({
      title: "corrupt",
      product_prices: [{ currency_code: "GBP" }],
    });
    // If a constraint rejects the value, there is nothing to test.
    await sql.begin((sql) => corrupt(sql, id)).catch(() => {});

    const headers = { "x-api-key": org.key };
    const list = await app.handler(
      new Request("http://catalogue.test/api/products", { headers }),
    );
    const one = await app.handler(
      new Request(`http://catalogue.test${path}`, { headers }),
    );

    assertEquals([list.status, one.status], [200, 200]);
    const { data } = await list.json();
    assert(data.some((product: { id: string }) => product.id === whole.id));
    assertEquals((await one.json()).data.id, id);
  });
}
