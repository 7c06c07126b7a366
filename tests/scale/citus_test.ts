import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { PLANNER } from "../../db/connections/connection.ts";
import { openDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { propagateRenames } from "../../features/changes/db/renames.ts";
import { settled } from "../support/app/settled.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import { send, SETTINGS } from "../support/app/harness.ts";
import { createOrganization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { copyOfSql, MIGRATIONS } from "../support/sql/folder.ts";
import { script, type Session } from "../support/sql/script.ts";
import { exported, imported } from "../support/client/transfer.ts";
import { recorded } from "../support/app/recording.ts";
import { TIMED } from "../support/app/deadline.ts";

/** Stubs of the Citus functions in `sql/citus.sql`. They only record distributed tables. */
const STUBS = `
  create table pg_dist_partition (logicalrelid regclass);
  create table pg_dist_node (groupid int, shouldhaveshards boolean);
  create function citus_get_active_worker_nodes() returns setof int language sql as $$ select 1 $$;
  create function create_reference_table(name text) returns void
    language sql as $$ insert into pg_dist_partition values (name::regclass) $$;
  create function create_distributed_table(name text, key text, colocate_with text default 'default') returns void
    language sql as $$ insert into pg_dist_partition values (name::regclass) $$;
  create function truncate_local_data_after_distributing_table(name regclass) returns void
    language sql as $$ select $$;
`;

const readDistribution = () => Deno.readTextFile(new URL("../../sql/citus.sql", import.meta.url));

Deno.test(
  "A database distributed by sql/citus.sql",
  TIMED,
  async ({ step: it }) => {
    await using app = await openOwnApp();
    const { sql } = app;
    const before = await app.organization();
    const { path: earlier } = await before.create({ title: "Persuasion" });
    await sql.unsafe(STUBS);

    await it("is none whose coordinator would take organizations", async () => {
      await sql`insert into pg_dist_node values (0, true)`;
      const script = await readDistribution();

      await assertRejects(() => sql.unsafe(script), Error, "citus_set_node_property");

      await sql`update pg_dist_node set shouldhaveshards = false`;
    });

    const keys = await keysOf(sql);
    await sql.unsafe(await readDistribution());
    // A service would be started again now.
    const database = recorded(app.database, () => {}, { isDistributed: true });
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

    await it("checks keys in the order of before, in which errors name them", async () => {
      const kept = await keysOf(sql);

      assertEquals(kept, keys.filter((key) => kept.includes(key)));
      assert(kept.length > keys.length - 5);
    });

    await it("lets other sessions read alone unless they ask for more, and plan as the service does", async () => {
      const [row] = await sql<{ settings: string[] }[]>`
        select to_json(setconfig) as settings
        from pg_db_role_setting
        where setdatabase = (select oid from pg_database where datname = current_database())
      `;

      const ofService = Object.entries(PLANNER).map(([name, value]) => `${name}=${value}`);
      assertEquals(row!.settings.toSorted(), [
        "default_transaction_read_only=on",
        ...ofService.toSorted(),
      ]);
    });

    await it("keeps products and their history", async () => {
      const { body: { data } } = await before.get(earlier);
      const history = await before.get(`${earlier}/history`);

      assertEquals(data.title, "Persuasion");
      assertEquals(history.body.data.map(({ event }: { event: string }) => event), ["created"]);
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

    await it("stores documents, of which reads show the last", async () => {
      const { id, path } = await org.create({ title: "Emma" });
      await sql`
        update product_documents set summary = replace(summary, 'Emma', 'Stored')
        where organization_id = ${org.id} and product_id = ${id}
      `;

      assertEquals((await org.get(path)).body.data.title, "Stored");
    });

    await it("restores what was deleted", async () => {
      const { path } = await org.create({ title: "Sanditon" });
      await org.delete(path);
      const gone = await org.get(path);

      const restored = await org.post(`${path}/restore`, {});

      assertStringIncludes(gone.body.error.message, "brings it back");
      assertEquals(restored.status, 200);
      assertEquals((await org.get(path)).body.data.title, "Sanditon");
    });

    await it("lets products follow the new name of a record, in responses, searches and the feed", async () => {
      const { id, path } = await org.create({
        contributors: [{ contributor_id: org.contributor, contributor_role_code: "A01" }],
        publisher_id: org.publisher,
      });
      await settled(sql);
      const { body: { meta: { cursor } } } = await org.get("/api/products/changes?limit=1000");

      await org.put(`/api/contributors/${org.contributor}`, { name: "Fanny Burney" });
      await org.put(`/api/publishers/${org.publisher}`, { name: "Quay" });
      await propagateRenames(database);

      const { body: { data } } = await org.get(path);
      assertEquals([data.contributors[0].contributor_name, data.publisher_name], [
        "Fanny Burney",
        "Quay",
      ]);
      await settled(sql);
      const changed = await org.get(`/api/products/changes?after=${cursor}`);
      assertEquals(changed.body.data.map(({ id }: { id: string }) => id), [id]);
      const found = await org.get("/api/products?q=burney");
      assertEquals(found.body.data.map(({ id }: { id: string }) => id), [id]);
    });

    await it("invalidates no JSON for a value that this does not show, but the feed has it", async () => {
      const { id } = await org.create({
        contributors: [{ contributor_id: org.contributor, contributor_role_code: "A01" }],
      });
      const names = async () => {
        const [row] = await sql`select names_version from organizations where id = ${org.id}`;
        return row!.names_version;
      };
      const earlier = await names();
      await settled(sql);
      const { body: { meta: { cursor } } } = await org.get("/api/products/changes?limit=1000");

      await org.put(`/api/contributors/${org.contributor}`, { biographical_note: "A novelist" });
      await propagateRenames(database);

      await settled(sql);
      const changed = await org.get(`/api/products/changes?after=${cursor}`);
      assertEquals(await names(), earlier);
      assert(changed.body.data.some((entry: { id: string }) => entry.id === id));
    });

    await it("is exported and imported", async () => {
      const operations = database.for({
        deadline: performance.now() + 60_000,
        caller: { organizationId: org.id, name: "test" },
      });
      const text = await exported(operations);

      const refused = await imported(operations, text.replaceAll("Quay", "Strand"));

      assertEquals(refused, []);
      const { body } = await org.get(`/api/publishers/${org.publisher}`);
      assertEquals(body.data.name, "Strand");
    });
  },
);

/** The foreign keys, in the order in which the database checks those of a table. */
async function keysOf(sql: Session): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select conname as name from pg_constraint where contype = 'f' order by oid
  `;
  return rows.map(({ name }) => name);
}

Deno.test("Migrations distribute the tables that they create", TIMED, async () => {
  await using app = await openOwnApp();
  await using first = await copyOfSql();
  for (const name of MIGRATIONS.slice(1)) {
    await Deno.remove(new URL(`migrations/${name}`, first.url));
  }
  const operations = () => app.database.for({ deadline: performance.now() + 60_000 });
  await app.sql.unsafe("drop schema public cascade; create schema public");
  // Without triggers, which name columns of later migrations.
  await app.sql`create domain distributed as boolean`;
  await migrate(operations(), first.url);
  await app.sql.unsafe(STUBS);
  await app.sql`
    insert into pg_dist_partition
    select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  `;

  await migrate(operations());

  const local = await app.sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and c.relname not in ('pg_dist_partition', 'schema_migrations')
      and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
  `;
  assertEquals(local.map(({ name }) => name), []);
});

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
      (sql) => sql.unsafe("create domain distributed as boolean"),
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
