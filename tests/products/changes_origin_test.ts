import { assertEquals, assertRejects } from "@std/assert";
import { checkMigrated, install } from "../../db/migrate.ts";
import { recount } from "../../db/doctor/recount.ts";
import { Copy } from "../support/client/copy.ts";
import type { App } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { store } from "../support/client/stored.ts";

/*
 * These tests change the whole database, so each has a private one.
 */

/** An organization with a product, and a copy that is up to date. */
async function followed(app: App) {
  const org = await app.organization();
  const product = await org.create();
  const copy = new Copy(org, app);
  await copy.catchUp();
  const goesOn = () => org.get(`/api/products/changes?after=${copy.cursor}`);
  return { org, product, copy, goesOn };
}

Deno.test("GET /products/changes of a copied database", async ({ step: it }) => {
  await using app = await openOwnApp();
  const operations = app.database.for({ deadline: performance.now() + 60_000 });
  const { org, copy, goesOn } = await followed(app);
  // Simulates a dump of another server with many more transactions.
  await app.sql.begin(async (sql) => {
    await sql`select begin_origin(1000000000)`;
    await sql`update products set title = 'Before the dump'`;
    await sql`select begin_origin(0)`;
    await sql`update change_origins set place = 'elsewhere'`;
  });

  await it("returns 503 before a migration", async () => {
    const { status, body } = await goesOn();

    assertEquals(status, 503);
    assertEquals(
      body.error.message,
      "The feed is not available until the operator has migrated the copied database",
    );
    await assertRejects(() => checkMigrated(operations), Error, "migrate");
  });

  await it("returns 410 after the migration", async () => {
    await install(operations);
    await checkMigrated(operations);

    const { status, body } = await goesOn();

    assertEquals([status, body.error.code], [410, "CURSOR_EXPIRED"]);
  });

  await it("lists new changes after the copied ones", async () => {
    const copy = new Copy(org, app);
    await copy.catchUp();
    const { path } = await org.create();
    await org.put(path, { title: "Persuasion" });
    await org.delete(`/api/products/${[...copy.products.keys()][0]}`);

    const changes = await copy.catchUp();

    assertEquals(changes.length, 2);
    await copy.assertComplete();
  });

  await it("expires cursors only once", async () => {
    const { cursor } = copy;
    copy.cursor = undefined;
    await copy.catchUp();
    await install(operations);

    assertEquals(copy.cursor !== cursor, true);
    assertEquals((await goesOn()).status, 200);
  });
});

Deno.test("GET /products/changes of a dump restored into migrated tables", async ({ step: it }) => {
  await using app = await openOwnApp();
  const operations = app.database.for({ deadline: performance.now() + 60_000 });
  const { org, goesOn } = await followed(app);
  // Simulates `pg_restore --data-only --disable-triggers`.
  const restore = () =>
    app.sql.begin(async (sql) => {
      await sql`insert into change_origins (place, base) values ('elsewhere', 0)`;
      await sql`alter table products disable trigger user`;
      await sql`insert into products (organization_id, title, change_version) values (${org.id}, 'Restored', 900000000000)`;
      await sql`alter table products enable trigger user`;
    });

  for (
    const [name, repair] of Object.entries({ migration: install, recount })
  ) {
    await it(`is complete after a ${name}`, async () => {
      await restore();
      assertEquals((await goesOn()).status, 503);
      await assertRejects(() => checkMigrated(operations), Error, "migrate");

      await repair(operations);

      assertEquals((await goesOn()).status, 410);
      const copy = new Copy(org, app);
      await copy.catchUp();
      await copy.assertComplete();
      await org.create();
      assertEquals((await copy.catchUp()).length, 1);
      await copy.assertComplete();
    });
  }
});

/** The tables that `recount` repairs. */
const DERIVED = [
  "product_changes",
  "product_search",
  "product_terms",
];

Deno.test("GET /products/changes after SQL without triggers", async ({ step: it }) => {
  await using app = await openOwnApp();
  const operations = app.database.for({ deadline: performance.now() + 60_000 });
  const { org, goesOn } = await followed(app);
  const { id: deleted, path } = await org.create();
  await store(app, org, deleted);
  await app.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`update products set title = 'Unseen', change_version = 900000000000`;
    await sql`insert into products (organization_id, title) values (${org.id}, 'Unseen too')`;
    await sql`delete from products where id = ${deleted}`;
  });

  await it("is complete after a recount", async () => {
    await recount(operations);

    assertEquals((await goesOn()).status, 410);
    const copy = new Copy(org, app);
    await copy.catchUp();
    await copy.assertComplete();
    assertEquals((await org.get(path)).status, 404);
    for (const table of DERIVED) {
      const left = await app.sql`select from ${app.sql(table)} where product_id = ${deleted}`;
      assertEquals(left.length, 0, table);
    }
  });
});

Deno.test("Deletions are purged after 37 days", async () => {
  await using app = await openOwnApp();
  const { sql } = app;
  const { org } = await followed(app);
  for (let i = 0; i < 3; i++) await org.delete((await org.create()).path);
  await sql`update product_deletions set deleted_at = deleted_at - interval '38 days'`;

  await org.delete((await org.create()).path);
  assertEquals(await countDeletions(), 1);

  await sql`update product_deletions set deleted_at = deleted_at - interval '36 days'`;
  await org.delete((await org.create()).path);
  assertEquals(await countDeletions(), 2);

  async function countDeletions(): Promise<number> {
    const [row] = await sql<
      { count: number }[]
    >`select count(*)::int from product_deletions`;
    return row!.count;
  }
});
