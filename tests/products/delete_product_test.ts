import { assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import { addToProgram } from "../support/sql/program.ts";

const it = testsOf("DELETE /products/{id}");

it("deletes a product with all its rows (specification, 4.5)", async ({ org, app }) => {
  const { id, path } = await org.create(await fullBody(app, org));
  const { path: kept, product } = await org.create(await fullBody(app, org));

  const { status, body: { data } } = await org.delete(path);

  assertEquals(status, 200);
  assertEquals(data, { id, deleted: true });
  assertEquals((await org.get(path)).status, 404);
  assertEquals((await org.get(kept)).body.data, product);
  assertEquals((await org.get("/api/products")).body.meta.total, 1);
  for (const [table, rows] of await rowsOf(app, id)) {
    assertEquals(rows, 0, table);
  }
});

it("returns deleted: false for a missing product", async ({ org }) => {
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

it("returns the id as requested", async ({ org }) => {
  const { id } = await org.create();
  const asked = id.toUpperCase();

  for (const deleted of [true, false]) {
    const { body: { data } } = await org.delete(`/api/products/${asked}`);

    assertEquals(data, { id: asked, deleted });
  }
});

it("returns 409 for a product in a publishing program", async ({ org, app }) => {
  const { id, path, product } = await org.create(await fullBody(app, org));
  await addToProgram(app, org, id);

  const { status, body: { error } } = await org.delete(path);

  assertEquals([status, error.code], [409, "CONFLICT"]);
  assertEquals((await org.get(path)).body.data, product);
  for (const query of ["", `?format_id=${org.format}`]) {
    const { body } = await org.get(`/api/products${query}`);
    assertEquals(body.meta.total, 1);
  }
});

/** The number of rows per table for a product. */
async function rowsOf(
  app: App,
  product: string,
): Promise<[table: string, rows: number][]> {
  return await app.sql.begin(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'product_id'
        and table_name not in ('product_deletions', 'product_documents')
    `;
    const counts: [string, number][] = [];
    for (const { name } of tables) {
      const [row] = await sql<{ rows: number }[]>`
              select count(*)::int as rows from ${sql(name)} where product_id = ${product}
      `;
      counts.push([name, row!.rows]);
    }
    return counts;
  });
}
