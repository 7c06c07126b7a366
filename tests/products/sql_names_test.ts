import { assertEquals } from "@std/assert";
import { createFullProduct } from "../support/data/full_product.ts";
import { idsOf, load } from "../support/sql/loading.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { assertBuilt, assertShows, store } from "../support/client/stored.ts";

const REPLICA = "set local session_replication_role = replica";

/** Changes of names other than by UPDATE, including shared names. The most destructive come last. */
const OF_NAMES: Record<string, string> = {
  "is in conflict with an inserted one":
    `insert into publishers (organization_id, id, name)
    select organization_id, id, name || '!' from publishers
    on conflict on constraint publishers_pkey do update set name = excluded.name`,
  "is deleted and inserted in one statement":
    `with gone as (delete from publishers returning *)
    insert into publishers (organization_id, id, name)
    select organization_id, id, name || '?' from gone`,
  "of everyone is deleted and inserted in one statement":
    `with gone as (delete from publishing_statuses returning *)
    insert into publishing_statuses select id, code, name || '?' from gone`,
  "is deleted by a replica": `${REPLICA}; delete from imprints`,
  "changes its key in a replica":
    `${REPLICA}; update divisions set id = gen_random_uuid()`,
  "of a code is deleted": "delete from onix_codes where list = 58",
  "of a code is inserted again":
    "insert into onix_codes values (58, '02', 'Another label')",
  "of all codes is truncated": "truncate onix_codes",
  "of everyone is deleted by a replica":
    `${REPLICA}; delete from contributor_roles`,
};

Deno.test("The next response shows an SQL change of a name", async (t) => {
  await using app = await openOwnApp();
  const org = await app.organization();
  const { id } = await createFullProduct(app, org);

  for (const [way, change] of Object.entries(OF_NAMES)) {
    await t.step(
      `that ${way}`,
      () =>
        assertShows(
          { app, org, id, isOwn: false },
          () => app.sql.unsafe(change),
          way,
        ),
    );
  }
});

/** Records that products can refer to before they exist, if foreign keys are disabled. */
const LATE = [
  "licenses",
  "seasons",
  "publishers",
  "collections",
  "contributors",
  "custom_fields",
  "lifecycle_statuses",
  "contributor_roles",
];

Deno.test("The next response shows a record that SQL inserts after the products that refer to it", async (t) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const { id } = await createFullProduct(app, org);

  for (const table of LATE) {
    await t.step(table, async () => {
      await sql.unsafe(`create table late as select * from ${table}`);
      await sql.unsafe(`${REPLICA}; delete from ${table}`);

      await assertShows(
        { app, org, id, isOwn: false },
        () => sql.unsafe(`insert into ${table} select * from late`),
        table,
      );

      await sql.unsafe("drop table late");
    });
  }
});

Deno.test("A response shows a rename although SQL replaces the organization's row", async () => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const { id } = await org.create({ publisher_id: org.publisher });

  await assertShows({ app, org, id, isOwn: false }, async () => {
    await sql.unsafe("update publishers set name = 'Renamed'");
    await sql.unsafe(
      `with gone as (delete from organizations where id = '${org.id}' returning *)
        insert into organizations (id, name) select id, name from gone`,
    );
  }, "a repeated version");
});

Deno.test("A rename", async (t) => {
  await using app = await openOwnApp();
  const { sql } = app;
  const org = await app.organization();
  const others = await app.organization();
  const { rows } = await load(app, org, 300, () => ({ format_id: org.format }));
  await load(app, others, 3);
  const versions = () =>
    sql<{ version: string }[]>`
      select c.relname || t.ctid || t.xmin as version
      from (
        select tableoid, ctid, xmin from products
        union all select tableoid, ctid, xmin from product_documents
        union all select tableoid, ctid, xmin from organizations
        union all select tableoid, ctid, xmin from formats
        union all select tableoid, ctid, xmin from product_counts
      ) t
      join pg_class c on c.oid = t.tableoid
    `;

  await store(app, org, ...idsOf(rows));

  await t.step("to the same name writes nothing else", async () => {
    const before = new Set((await versions()).map(({ version }) => version));

    await sql.unsafe("update publishing_statuses set name = name");

    const written = (await versions()).filter(({ version }) =>
      !before.has(version)
    );
    assertEquals(written.length, 0);
  });

  await t.step(
    "writes only its row and the organization's, for any number of products",
    async () => {
      const before = new Set((await versions()).map(({ version }) => version));

      await sql.unsafe(
        `update formats set name = 'Another' where id = '${org.format}'`,
      );

      const written = (await versions()).filter(({ version }) =>
        !before.has(version)
      );
      const tables = written.map(({ version }) => version.split("(")[0]);
      assertEquals(tables.sort(), ["formats", "organizations"]);
      await assertBuilt(app, org);
    },
  );
});
