import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openDatabase } from "../../db/database.ts";
import { eraseContributor } from "../../db/history/erase.ts";
import { deleteDue, notWalked } from "../../db/history/retention.ts";
import { migrate } from "../../db/migrate.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { send, SETTINGS } from "../support/app/harness.ts";
import { createOrganization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { script } from "../support/sql/script.ts";
import { exported, imported } from "../support/client/transfer.ts";
import { recorded } from "../support/app/recording.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Stubs of the Citus functions in `sql/citus.sql`. They only record distributed tables. */
const STUBS = `
  create table pg_dist_partition (logicalrelid regclass);
  create function citus_get_active_worker_nodes() returns setof int language sql as $$ select 1 $$;
  create function create_reference_table(name text) returns void language sql as $$ select $$;
  create function create_distributed_table(name text, key text, colocate_with text default 'default') returns void
    language sql as $$ insert into pg_dist_partition values (name::regclass) $$;
  create function truncate_local_data_after_distributing_table(name regclass) returns void
    language sql as $$ select $$;
`;

Deno.test(
  "A database distributed by sql/citus.sql",
  TIMED,
  async ({ step: it }) => {
    await using app = await openOwnApp();
    const { sql } = app;
    const before = await app.organization();
    const { path: earlier } = await before.create();
    const distribution = await Deno.readTextFile(
      new URL("../../sql/citus.sql", import.meta.url),
    );
    await sql.unsafe(STUBS);
    await sql.unsafe(distribution);
    // A service would be started again now.
    const database = recorded(app.database, () => {}, {
      isDistributed: true,
    });
    const handler = app.variant({ database });
    const org = await createOrganization({
      sql: sql,
      send: (path, init) => send(handler, path, init),
    });

    await it("has no triggers, after another migration either", async () => {
      await sql`delete from schema_migrations where name = 'functions.sql'`;
      const operations = app.database.for({
        deadline: performance.now() + 60_000,
      });
      assertEquals((await migrate(operations)).applied, ["functions.sql"]);

      const triggers = await sql`select tgname from pg_trigger where not tgisinternal`;

      assertEquals([...triggers], []);
    });

    await it("reads from the tables", async () => {
      for (
        const { path, owner } of [
          { path: earlier, owner: before },
          { path: (await org.create()).path, owner: org },
        ]
      ) {
        await sql`update products set title = 'Sanditon' where organization_id = ${owner.id}`;

        const { body: { data } } = await owner.get(path);
        const list = await owner.get("/api/products");

        assertEquals(data.title, "Sanditon");
        assertEquals(list.body.data[0].title, "Sanditon");
      }
    });

    await it("accepts writes of every kind", async () => {
      const headers = { "idempotency-key": "order-1" };
      const body = await fullBody(app, org);

      const created = await org.post("/api/products", body, headers);
      const again = await org.post("/api/products", body, headers);
      const path = `/api/products/${created.body.data.id}`;
      const updated = await org.put(path, { title: "Persuasion" });

      assertEquals([created.status, again.status, updated.status], [
        201,
        201,
        200,
      ]);
      assertEquals(again.body.data, created.body.data);
      assertEquals((await org.get(path)).body.data, updated.body.data);
      const deleted = await org.delete(path);
      assert(deleted.body.data.deleted);
    });

    await it("limits the size of a product", async () => {
      const { path } = await org.create();

      const { status, body } = await org.put(
        `${path}/territories`,
        Array(39).fill({ supply_details: Array(500).fill({}) }),
      );

      assertEquals([status, body.error.details[0].code], [400, "too_large"]);
    });

    await it("stores no JSON", async () => {
      const { path } = await org.create();
      await org.get(path);
      await org.get("/api/products");

      const documents = await sql`select from product_documents where organization_id = ${org.id}`;
      assertEquals(documents.length, 0);
    });

    await it("keeps no history, and says so", async () => {
      const { id, path } = await org.create();
      const restoration = { method: "restore", id, at: "2026-01-01" };
      const replies = [
        await org.get(`${path}/history`),
        await org.get(`${path}?at=2099-01-01`),
        await org.get(`${path}?version=1`),
        await org.get("/api/history"),
        await org.get("/api/products/deleted"),
        await org.post(`${path}/restore`, { version: "1" }),
        await org.batch([restoration]),
      ];
      for (const { status, body: { error } } of replies) {
        assertEquals([status, error.code], [409, "CONFLICT"]);
        assertStringIncludes(error.message, "keeps no history");
      }
      const operations = database.for({
        deadline: performance.now() + 60_000,
        caller: { organizationId: org.id, name: "test" },
      });
      await assertRejects(
        () => eraseContributor(operations, org.contributor),
        Error,
        "keeps no history",
      );
      await deleteDue(database, 0, notWalked());
      assertEquals((await org.put(path, { title: "Emma" })).status, 200);
      assertEquals((await org.get(path)).status, 200);
      assertEquals((await org.delete(path)).status, 200);
    });

    await it("is exported, but takes no imports", async () => {
      const operations = database.for({
        deadline: performance.now() + 10_000,
        caller: { organizationId: org.id, name: "test" },
      });
      const text = await exported(operations);

      await assertRejects(
        () => imported(operations, text),
        Error,
        "A distributed database takes no imports",
      );
    });
  },
);

Deno.test({
  ...TIMED,
  name: "The script distributes a database, not the extension",
  // The embedded database cannot be opened twice.
  ignore: !SETTINGS.url,
  async fn() {
    await using fresh = await openFreshDatabase();
    const { operations, settings } = fresh;

    await script(operations, (sql) => sql.unsafe(STUBS));
    const before = await isDistributed();
    await script(
      operations,
      (sql) => sql.unsafe("create domain product_json as text"),
    );
    const after = await isDistributed();

    assertEquals([before, after], [false, true]);

    async function isDistributed(): Promise<boolean> {
      await using database = await openDatabase(settings);
      const queries = database.for({ deadline: performance.now() + 10_000 });
      return await queries.transaction(async (tx) => {
        await tx.commit();
        return tx.isDistributed;
      });
    }
  },
});
