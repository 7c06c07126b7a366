import { assert, assertEquals } from "@std/assert";
import { createFullProduct } from "../support/data/full_product.ts";
import type { App, Organization } from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { assertBuilt, assertShows, store } from "../support/client/stored.ts";
import { UNSHOWN } from "../support/sql/shown_columns.ts";

const REPLICA = "set local session_replication_role = replica";

/** The tables for which every way is tried in any case: one with rows of its own, one of a tree. The others are deleted and inserted. */
const SAMPLE = ["product_prices", "supply_prices"];

/** SQL statements on the rows `these` of a table. `saved` contains the rows saved before. */
const WAYS: Record<string, (table: string, these: string) => string> = {
  "are deleted": (table, these) => `delete from ${table} where ${these}`,
  "are inserted": (table) => insertSaved(table),
  "are in conflict with inserted ones": (table) =>
    `${insertSaved(table)}
    on conflict on constraint ${table}_pkey do update set position = -excluded.position - 1`,
  "are deleted and inserted in one statement": (table, these) =>
    `with gone as (delete from ${table} where ${these} returning *)
    insert into ${table}
    select changed.*
    from gone
    cross join jsonb_populate_record(null::${table}, to_jsonb(gone) || jsonb_build_object('position', -gone.position - 1)) changed`,
  "are merged": (table, these) =>
    `merge into ${table} t
    using (select ctid as place from ${table} where ${these}) s
    on t.ctid = s.place
    when matched then update set position = -t.position - 1`,
  "are changed between other statements": (table, these) =>
    `update ${table} set position = position where ${these};
    savepoint here;
    delete from ${table} where ${these};
    rollback to here;
    update ${table} set position = -position - 1 where ${these};
    update products set subtitle = subtitle where ${
      these.replace("product_id", "id")
    }`,
  "are deleted by a replica": (table, these) =>
    `${REPLICA}; delete from ${table} where ${these}`,
  "are inserted by a replica": (table) => `${REPLICA}; ${insertSaved(table)}`,
  "are changed by a replica": (table, these) =>
    `${REPLICA}; update ${table} set position = -position - 1 where ${these}`,
};

Deno.test("The next response shows an SQL write of nested rows", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const tables = await tablesBelowProducts(app);

  for (const table of tables) {
    const org = await app.organization();
    const { id, path } = await createFullProduct(app, org);
    await org.put(path, { series_id: null });
    const these = `product_id = '${id}'`;
    await sql.unsafe(saving(table, these));

    const isThorough = IS_WHOLE || SAMPLE.includes(table);
    const ways = Object.entries(WAYS).slice(0, isThorough ? undefined : 2);
    for (const [way, change] of ways) {
      await it(
        `${table}: they ${way}`,
        () =>
          assertShows(
            { app, org, id },
            () => sql.unsafe(change(table, these)),
            `${table}: ${way}`,
          ),
      );
    }

    if (!isThorough) continue;
    await it(`${table}: they move to another product`, async () => {
      const other = await org.create();
      await store(app, org, id, other.id);
      const before = await timesOf(org, path, other.path);

      await sql.unsafe(
        `${REPLICA}; update ${table} set product_id = '${other.id}' where ${these}`,
      );

      const after = await timesOf(org, path, other.path);
      assert(after.every((time, i) => time > before[i]!), `${after}`);
      await assertBuilt(app, org);
    });
  }

  for (const table of tables) {
    // Truncation would cascade to products, which refer to their series.
    if (table === "product_collections") continue;
    const org = await app.organization();
    const { id } = await createFullProduct(app, org);

    await it(
      `${table}: they are truncated`,
      () =>
        assertShows(
          { app, org, id },
          () => sql.unsafe(`truncate ${table} cascade`),
          `${table}: truncated`,
        ),
    );
  }

  for (const table of ["product_search", "product_contributors"]) {
    await it(`${table}: searches find products after a truncation`, async () => {
      const org = await app.organization();
      await org.put(`/api/contributors/${org.contributor}`, { name: "Austen" });
      const { id } = await createFullProduct(app, org);
      const found = async (q: string) =>
        (await org.get(`/api/products?q=${q}`)).body.meta.total;
      const [{ title }] = await sql<[{ title: string }]>`
        select title from products where id = ${id}
      `;
      assertEquals([await found(title), await found("austen")], [1, 1]);

      await sql.unsafe(`truncate ${table}`);

      const shown = table === "product_search" ? 1 : 0;
      assertEquals([await found(title), await found("austen")], [1, shown]);
    });
  }
});

Deno.test("A trigger", async ({ step: it }) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const { id } = await createFullProduct(app, org);
  const [{ schema, role } = { schema: "", role: "" }] = await sql<
    { schema: string; role: string }[]
  >`
    select current_schema() as schema, 'loader_' || to_char(now(), 'SSSSUS') as role
  `;

  for (
    const [what, change] of Object.entries({
      "needs no search_path": `
        set local search_path = '';
        update ${schema}.product_prices set list_price = 1;
        update ${schema}.products set title = 'Persuasion';
        update ${schema}.publishers set name = 'Another';
        update ${schema}.onix_codes set label = label || '!';
        delete from ${schema}.packing_configurations`,
      "is not misled by temporary tables": `
        create temp table products (like ${schema}.products) on commit drop;
        create temp table organizations (like ${schema}.organizations) on commit drop;
        update product_prices set list_price = 2`,
      "needs no privileges on other tables": `
        create role ${role};
        grant usage on schema ${schema} to ${role};
        grant select, insert, update, delete on product_prices to ${role};
        set local role ${role};
        update product_prices set list_price = 3`,
    })
  ) {
    await it(
      what,
      () => assertShows({ app, org, id }, () => app.sql.unsafe(change), what),
    );
  }

  await it("has no functions that other roles can call", async () => {
    const open = await sql`
      select p.oid::regprocedure::text as name
      from pg_proc p
      where p.pronamespace = current_schema()::regnamespace and p.prosecdef
        and has_function_privilege('public', p.oid, 'execute')
    `;

    assertEquals([...open], []);
  });

  await app.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

function insertSaved(table: string): string {
  return `insert into ${table}
    select r.* from saved s cross join jsonb_populate_recordset(null::${table}, s.rows) r`;
}

/** Stores the rows until the next call. */
function saving(table: string, these: string): string {
  return `drop table if exists saved;
    create table saved as select jsonb_agg(to_jsonb(t)) as rows from ${table} t where ${these}`;
}

async function timesOf(
  org: Organization,
  ...paths: string[]
): Promise<string[]> {
  const replies = await Promise.all(paths.map((path) => org.get(path)));
  return replies.map(({ body }) => body.data.updated_at);
}

async function tablesBelowProducts(app: App): Promise<string[]> {
  const rows = await app.sql<{ name: string }[]>`
    select c.table_name as name
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and c.column_name = 'product_id'
    order by c.table_name
  `;
  return rows.map(({ name }) => name).filter((name) => !UNSHOWN.includes(name));
}
