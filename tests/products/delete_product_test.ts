import { assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { type App, openApp } from "../support/app/harness.ts";
import { addToProgram } from "../support/sql/program.ts";

Deno.test("DELETE /products/{id}", async (t) => {
  await using app = await openApp();

  await t.step(
    "deletes a product with all its rows (specification, 4.5)",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create(await fullBody(app, org));
      const { path: kept, product } = await org.create(
        await fullBody(app, org),
      );

      const { status, body: { data } } = await org.delete(path);

      assertEquals(status, 200);
      assertEquals(data, { id, deleted: true });
      assertEquals((await org.get(path)).status, 404);
      assertEquals((await org.get(kept)).body.data, product);
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
      for (const [table, rows] of await rowsOf(app, id)) {
        assertEquals(rows, 0, table);
      }
    },
  );

  await t.step("returns deleted: false for a missing product", async () => {
    const org = await app.organization();
    const { id: gone, path } = await org.create();
    await org.delete(path);

    for (const id of [gone, crypto.randomUUID()]) {
      const { status, body: { data } } = await org.delete(
        `/api/products/${id}`,
      );

      assertEquals(status, 200);
      assertEquals(data, { id, deleted: false });
    }
  });

  await t.step("returns the id as requested", async () => {
    const org = await app.organization();
    const { id } = await org.create();
    const asked = id.toUpperCase();

    for (const deleted of [true, false]) {
      const { body: { data } } = await org.delete(`/api/products/${asked}`);

      assertEquals(data, { id: asked, deleted });
    }
  });

  await t.step("returns 404 for a path without a UUID", async () => {
    const org = await app.organization();

    const { status, body } = await org.delete("/api/products/1");

    assertEquals([status, body.error.code], [404, "NOT_FOUND"]);
  });

  await t.step(
    "returns 409 for a product in a publishing program",
    async () => {
      const org = await app.organization();
      const { id, path, product } = await org.create(await fullBody(app, org));
      await addToProgram(app, org, id);

      const { status, body: { error } } = await org.delete(path);

      assertEquals([status, error.code], [409, "CONFLICT"]);
      assertEquals((await org.get(path)).body.data, product);
      assertEquals((await org.get("/api/products")).body.meta.total, 1);
    },
  );

  await t.step("deletes a product that has left its program", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await addToProgram(app, org, id);
    await app.sql((sql) =>
      sql`delete from publishing_program_products where organization_id = ${org.id}`
    );

    const { status, body: { data } } = await org.delete(path);

    assertEquals(status, 200);
    assertEquals(data, { id, deleted: true });
  });
});

/** The number of rows per table for a product. */
async function rowsOf(
  app: App,
  product: string,
): Promise<[table: string, rows: number][]> {
  return await app.sql(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'product_id'
        and table_name <> 'product_deletions'
    `;
    const counts: [string, number][] = [];
    for (const { name } of tables) {
      const [row] = await sql<{ rows: number }[]>`
        select count(*)::int as rows from ${
        sql(name)
      } where product_id = ${product}
      `;
      counts.push([name, row!.rows]);
    }
    return counts;
  });
}
