import { assert, assertEquals } from "@std/assert";
import { fullBody } from "./bodies.ts";
import { openApp } from "./harness.ts";

/** By the third, every statement has been sent. */
const ROUNDS = 4;

Deno.test("A connection keeps few statements, however many requests it serves", async () => {
  // One connection, so that it is the one that is asked for them.
  await using app = await openApp({}, { poolSize: 1 });
  const org = await app.organization();
  const body = await fullBody(app, org);
  const fields = Object.entries(body);

  /** Writes and reads in many ways; what differs from round to round are values. */
  async function round(n: number): Promise<number> {
    const { path } = await org.create({ ...body, title: `Emma ${n}` });
    for (let i = n % 3; i < fields.length; i += 3) {
      await org.put(path, Object.fromEntries(fields.slice(i, i + 1 + n % 3)));
    }
    for (const count of [0, 1, 2 + n]) {
      await org.put(path, {
        product_prices: Array(count).fill({ currency_code: "GBP" }),
      });
    }
    await org.get(path);
    for (
      const query of [
        "",
        `search=Emma+${n}`,
        `page=${n + 1}&limit=${n + 9}`,
        "sort=title",
      ]
    ) {
      await org.get(`/api/products?${query}`);
    }
    await org.delete(path);
    const [row] = await app.sql((sql) =>
      sql<{ statements: number }[]>`
        select count(*)::int as statements from pg_prepared_statements
      `
    );
    return row!.statements;
  }

  const counts = [];
  for (let n = 0; n < ROUNDS; n++) counts.push(await round(n));

  assert(counts[0]! > 0 && counts[0]! < 100, `${counts}`);
  assertEquals(counts.slice(3), [counts[2]]);
});
