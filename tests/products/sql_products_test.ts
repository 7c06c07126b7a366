import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { createFullProduct } from "../support/full_product.ts";
import type { App } from "../support/harness.ts";
import { idsOf, load } from "../support/loading.ts";
import { openOwnApp } from "../support/own_app.ts";
import { assertBuilt, assertShows, read, store } from "../support/stored.ts";

const REPLICA = "set local session_replication_role = replica";

/** Writes of the row `p.id = '…'`, which keep its `updated_at` where nothing else moves it. */
const OF_PRODUCTS: Record<string, (id: string) => string> = {
  "is updated twice in a transaction": (id) =>
    `update products set title = 'First' where id = '${id}';
    update products set title = 'Second' where id = '${id}'`,
  "is updated to the value it had, with a row below it": (id) =>
    `update products set title = title where id = '${id}';
    delete from product_prices where product_id = '${id}'`,
  "is updated with an older time": (id) =>
    `update products set title = 'Older', updated_at = '2020-01-01' where id = '${id}'`,
  "is updated to a time that is no later for a client": (id) =>
    `update products set title = 'Micro', updated_at = updated_at + interval '1 microsecond' where id = '${id}'`,
  "is updated with a row below it in one statement": (id) =>
    `with gone as (delete from packing_configurations where product_id = '${id}')
    update products set title = 'Both' where id = '${id}'`,
  "is in conflict with an inserted one": (id) =>
    `insert into products (organization_id, id, title)
    select organization_id, id, title from products where id = '${id}'
    on conflict on constraint products_pkey do update set title = 'Conflict'`,
  "is updated by a replica": (id) =>
    `${REPLICA}; update products set title = 'Replica' where id = '${id}'`,
  "goes to another key and back": (id) =>
    `${REPLICA};
    update products set id = '00000000-0000-0000-0000-000000000001' where id = '${id}';
    update products set id = '${id}', title = 'Back' where id = '00000000-0000-0000-0000-000000000001'`,
};

/** Names that change without an update, and those of all organizations. */
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
  "of everyone is deleted by a replica":
    `${REPLICA}; delete from contributor_roles`,
  "is deleted by a replica": `${REPLICA}; delete from imprints`,
  "changes its key in a replica":
    `${REPLICA}; update divisions set id = gen_random_uuid()`,
  "of a code is deleted": "delete from onix_codes where list = 58",
  "of a code is inserted":
    "insert into onix_codes values (58, '02', 'Another label')",
  "of all codes is truncated": "truncate onix_codes",
};

Deno.test("A product that SQL writes is in the next answer", async (t) => {
  await using app = await openOwnApp();

  for (const [way, change] of Object.entries(OF_PRODUCTS)) {
    await t.step(`where it ${way}`, async () => {
      const org = await app.organization();
      const { id } = await createFullProduct(app, org);
      const changing = () => run(app, change(id));

      await assertShows(
        app,
        org,
        id,
        { isOwn: true, isShown: true },
        changing,
        way,
      );
    });
  }

  for (
    const [who, text] of Object.entries({
      "in a transaction": "",
      "by a replica": `${REPLICA}; `,
    })
  ) {
    await t.step(`where it is deleted and inserted ${who}`, async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      await store(app, org, id);

      await run(
        app,
        `${text}create temp table saved on commit drop as select * from products where id = '${id}';
        delete from products where id = '${id}';
        insert into products (organization_id, id, title, product_code, created_at, updated_at)
        select organization_id, id, 'Other', product_code, created_at, updated_at from saved`,
      );

      assertEquals((await org.get(path)).body.data.title, "Other");
      await assertBuilt(app, org);
    });
  }

  await t.step(
    "where it is deleted and inserted in one statement",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      await store(app, org, id);

      await run(
        app,
        `with gone as (delete from products where id = '${id}' returning *)
      insert into products (organization_id, id, title, created_at, updated_at)
      select organization_id, id, 'Other', created_at, updated_at from gone`,
      );

      assertEquals((await org.get(path)).body.data.title, "Other");
    },
  );

  await t.step("where it gets another key", async () => {
    const org = await app.organization();
    const { id, product } = await org.create();
    const other = uuidv7();
    await store(app, org, id);

    await run(app, `update products set id = '${other}' where id = '${id}'`);

    assertEquals((await org.get(`/api/products/${id}`)).status, 404);
    const { body } = await org.get(`/api/products/${other}`);
    assert(body.data.updated_at > product.updated_at);
    await assertBuilt(app, org);
  });

  await t.step("where its time is infinite", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    await run(
      app,
      `update products set updated_at = 'infinity' where id = '${id}'`,
    );

    for (const title of ["First", "Second"]) {
      await store(app, org, id);
      await run(
        app,
        `update products set title = '${title}' where id = '${id}'`,
      );

      assertEquals((await read(app, org, path)).data.title, title);
    }
  });

  await t.step(
    "where it was loaded with its rows, which write it once",
    async () => {
      const org = await app.organization();
      const id = uuidv7();

      await run(
        app,
        `insert into products (organization_id, id, title, updated_at) values ('${org.id}', '${id}', 'Loaded', '2020-01-01');
      insert into product_prices (organization_id, product_id, id, position, currency_code)
      values ('${org.id}', '${id}', '${uuidv7()}', 0, 'GBP')`,
      );

      const { body } = await org.get(`/api/products/${id}`);
      assertEquals(body.data.updated_at, "2020-01-01T00:00:00.000Z");
      assertEquals(body.data.product_prices.length, 1);
    },
  );
});

Deno.test("A name that SQL changes is in the next answer", async (t) => {
  for (const [way, change] of Object.entries(OF_NAMES)) {
    await using app = await openOwnApp();
    const org = await app.organization();
    const { id } = await createFullProduct(app, org);
    if (way.endsWith("inserted") && way.includes("code")) {
      await run(app, "delete from onix_codes where list = 58");
    }
    await t.step(`where it ${way}`, () =>
      assertShows(
        app,
        org,
        id,
        { isOwn: false, isShown: true },
        () => run(app, change),
        way,
      ));
  }
});

Deno.test("A rename", async (t) => {
  await using app = await openOwnApp();
  const org = await app.organization();
  const others = await app.organization();
  const { rows } = await load(app, org, 300, () => ({ format_id: org.format }));
  await load(app, others, 3);
  const versions = () =>
    app.sql((sql) =>
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
      `
    );

  await t.step(
    "writes itself and one row more, however many products",
    async () => {
      await store(app, org, ...idsOf(rows));
      const before = new Set((await versions()).map(({ version }) => version));

      await run(
        app,
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

  await t.step("to the same name writes nothing else", async () => {
    const before = new Set((await versions()).map(({ version }) => version));

    await run(app, "update publishing_statuses set name = name");

    const written = (await versions()).filter(({ version }) =>
      !before.has(version)
    );
    assertEquals(written.length, 0);
  });
});

async function run(app: App, text: string): Promise<void> {
  await app.sql((sql) => sql.unsafe(text));
}
