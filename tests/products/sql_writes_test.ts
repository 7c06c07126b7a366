import { assert, assertEquals, assertRejects } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { IS_WHOLE, sampleOf } from "../support/app/sample.ts";
import { Copy } from "../support/client/copy.ts";
import {
  assertBuilt,
  assertCounted,
  assertShows,
  read,
  type Showing,
  store,
} from "../support/client/stored.ts";
import { createFullProduct } from "../support/data/full_product.ts";
import { idsOf, load } from "../support/sql/loading.ts";
import { changesOfColumns, UNSHOWN } from "../support/sql/shown_columns.ts";

/*
 * Other programs write the tables by SQL. The next response shows each of their writes, and
 * totals stay exact. `tests/model/random_writes_test.ts` draws writes at random.
 */

/** An own database, with an organization and a product that has rows in every table. */
async function openScene() {
  const app = await openOwnApp();
  const { sql } = app;
  const create = async () => {
    const org = await app.organization();
    return { app, org, ...await createFullProduct(app, org) };
  };
  return {
    app,
    sql,
    create,
    /** Expects responses to show the change, and totals to be exact after it. */
    async assertShown(
      showing: Showing,
      change: string,
      what = change,
    ): Promise<void> {
      await assertShows(showing, () => sql.unsafe(change), what);
      await assertCounted(app, what);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

Deno.test("The examples of sql/README.md", async ({ step: it }) => {
  await using scene = await openScene();
  const org = await scene.app.organization();
  const page = await Deno.readTextFile(new URL("../../sql/README.md", import.meta.url));
  const [reading, writing] = Array.from(
    page.matchAll(/^```sql\n(.+?)^```$/gms),
    ([, text]) => text!.replaceAll("00000000-0000-4000-8000-000000000001", org.id),
  );

  await it("read the products, without deleted ones", async () => {
    const { id } = await org.create({ title: "Persuasion" });
    const { path } = await org.create({ title: "Sanditon" });
    await org.delete(path);

    const rows = await scene.sql<{ product_id: string; product: { title: string } }[]>`
      ${scene.sql.unsafe(reading!.replace(/;\s*$/, ""))}
    `;

    assertEquals(rows.map(({ product_id, product }) => [product_id, product.title]), [
      [id, "Persuasion"],
    ]);
  });

  await it("insert a book with a price", async () => {
    await scene.sql.unsafe(writing!);

    const { body } = await org.get("/api/products?search=emma&include=product_prices");
    assertEquals(body.data[0].product_prices[0].retail_price, 8.99);
  });
});

Deno.test("The next response shows an SQL change of a column", async ({ step: it }) => {
  await using scene = await openScene();
  const full = await scene.create();

  for (
    const change of sampleOf(
      await changesOfColumns(scene.app),
      ({ kind }) => kind,
    )
  ) {
    const { table, column, set, where, hasOrganization } = change;
    const what = `${table}.${column}: see VALUES and HIDDEN of tests/support/sql/shown_columns.ts`;
    await it(`${table}.${column}`, async () => {
      await assertShows({ ...full, ...change }, async () => {
        const { count } = await scene.sql.unsafe(`
          update ${table} t set ${set}
          where ${where} and ${hasOrganization ? `t.organization_id = '${full.org.id}'` : "true"}`);
        assert(count > 0, what);
      }, what);
    });
  }
});

/** Writes of the row `$id` of products that do not set `updated_at` themselves. */
const OF_PRODUCTS: Record<string, string> = {
  "is updated twice in a transaction": `update products set title = 'First' where id = '$id';
    update products set title = 'Second' where id = '$id'`,
  "is updated to the value it had, with a row below it":
    `update products set title = title where id = '$id';
    delete from product_prices where product_id = '$id'`,
  "is updated with an older time":
    `update products set title = 'Older', updated_at = '2020-01-01' where id = '$id'`,
  "is updated to a time that is no later for a client":
    `update products set title = 'Micro', updated_at = updated_at + interval '1 microsecond' where id = '$id'`,
  "is updated with a row below it in one statement":
    `with gone as (delete from packing_configurations where product_id = '$id')
    update products set title = 'Both' where id = '$id'`,
  "is in conflict with an inserted one": `insert into products (organization_id, id, title)
    select organization_id, id, title from products where id = '$id'
    on conflict on constraint products_pkey do update set title = 'Conflict'`,
};

/** The same of a product with rows of its own alone, as `saved` has it. */
const REPLACED = `create temp table saved on commit drop as select * from products where id = '$id';
  delete from products where id = '$id';
  insert into products (organization_id, id, title, product_code, created_at, updated_at)
  select organization_id, id, 'Other', product_code, created_at, updated_at from saved`;

const OF_BARE_PRODUCTS: Record<string, string> = {
  "is deleted and inserted in a transaction": REPLACED,
  "is deleted and inserted in one statement":
    `with gone as (delete from products where id = '$id' returning *)
    insert into products (organization_id, id, title, created_at, updated_at)
    select organization_id, id, 'Other', created_at, updated_at from gone`,
};

Deno.test("The next response shows an SQL write of a product", async ({ step: it }) => {
  await using scene = await openScene();
  const { app, sql } = scene;
  /** A product that SQL inserts with this `updated_at`. */
  const inserted = async (time: string) => {
    const org = await app.organization();
    const id = uuidv7();
    await sql.unsafe(
      `insert into products (organization_id, id, title, updated_at) values ('${org.id}', '${id}', 'Loaded', '${time}')`,
    );
    return { app, org, id, path: `/api/products/${id}` };
  };

  for (const [way, change] of Object.entries(OF_PRODUCTS)) {
    await it(`that ${way}`, async () => {
      const full = await scene.create();
      await scene.assertShown(full, change.replaceAll("$id", full.id), way);
    });
  }
  for (const [way, change] of Object.entries(OF_BARE_PRODUCTS)) {
    await it(`that ${way}`, async () => {
      const org = await app.organization();
      const { id } = await org.create();
      // Its time is that of the deleted row.
      const showing = { app, org, id, isOwn: false };
      await scene.assertShown(showing, change.replaceAll("$id", id), way);
    });
  }

  for (const time of ["infinity", "-infinity"]) {
    await it(`that is inserted at ${time}, and is written by SQL and requests`, async () => {
      const { org, id, path } = await inserted(time);
      const copy = new Copy({
        async get(path) {
          const { status, text } = await read(app, org, path);
          return { status, body: JSON.parse(text) };
        },
      }, app);
      const titles: string[] = [];
      const follow = async () => {
        for (const { product } of await copy.catchUp()) {
          titles.push(product!.title as string);
        }
      };
      await follow();
      for (const title of ["First", "Second"]) {
        await store(app, org, id);
        await sql.unsafe(
          `update products set title = '${title}' where id = '${id}'`,
        );
        const { data } = await read(app, org, path);
        assertEquals(data.title, title);
        assert(data.updated_at);
        await follow();
      }
      const { status, body } = await org.put(path, { title: "Written" });
      await follow();

      assertEquals(status, 200);
      assert(body.data.updated_at);
      assertEquals(titles, ["Loaded", "First", "Second", "Written"]);
      await assertBuilt(app, org);
    });
  }

  await it("that is inserted with its rows, and is written once", async () => {
    const { org, id, path } = await inserted("2020-01-01");
    await sql.unsafe(
      `delete from products where id = '${id}';
      insert into products (organization_id, id, title, updated_at) values ('${org.id}', '${id}', 'Loaded', '2020-01-01');
      insert into product_prices (organization_id, product_id, id, position, currency_code)
      values ('${org.id}', '${id}', '${uuidv7()}', 0, 'GBP')`,
    );

    const { body } = await org.get(path);
    assertEquals(body.data.updated_at, "2020-01-01T00:00:00.000Z");
    assertEquals(body.data.product_prices.length, 1);
  });
});

/** The tables for which every way is tried in any case: one with rows of its own, one of a tree. The others are deleted and inserted. */
const SAMPLE = ["product_prices", "supply_prices"];

/** Writes of the rows `$these` of `$table`. The table `saved` has the rows from before. */
const INSERTED =
  `insert into $table select r.* from saved s cross join jsonb_populate_recordset(null::$table, s.rows) r`;

const OF_ROWS: Record<string, string> = {
  "are deleted": "delete from $table where $these",
  "are inserted": INSERTED,
  "are in conflict with inserted ones":
    `${INSERTED} on conflict on constraint $table_pkey do update set position = -excluded.position - 1`,
  "are deleted and inserted in one statement":
    `with gone as (delete from $table where $these returning *)
    insert into $table
    select changed.*
    from gone
    cross join jsonb_populate_record(null::$table, to_jsonb(gone) || jsonb_build_object('position', -gone.position - 1)) changed`,
  "are merged": `merge into $table t
    using (select ctid as place from $table where $these) s
    on t.ctid = s.place
    when matched then update set position = -t.position - 1`,
  "are changed between other statements": `update $table set position = position where $these;
    savepoint here;
    delete from $table where $these;
    rollback to here;
    update $table set position = -position - 1 where $these;
    update products set subtitle = subtitle where id = '$id'`,
};

Deno.test("The next response shows an SQL write of nested rows", async ({ step: it }) => {
  await using scene = await openScene();
  const { app, sql } = scene;
  const rows = await sql<{ name: string }[]>`
    select c.table_name as name
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and c.column_name = 'product_id'
    order by c.table_name
  `;
  const tables = rows.map(({ name }) => name)
    .filter((name) => !UNSHOWN.includes(name));

  for (const table of tables) {
    const full = await scene.create();
    const { org, id, path } = full;
    await org.put(path, { series_id: null });
    const filled = (text: string) =>
      text.replaceAll("$these", "product_id = '$id'")
        .replaceAll("$table", table).replaceAll("$id", id);
    await sql.unsafe(filled(`drop table if exists saved;
      create table saved as select jsonb_agg(to_jsonb(t)) as rows from $table t where $these`));

    const isThorough = IS_WHOLE || SAMPLE.includes(table);
    const ways = Object.entries(OF_ROWS).slice(0, isThorough ? undefined : 2);
    for (const [way, change] of ways) {
      await it(`${table}: they ${way}`, () =>
        scene.assertShown(full, filled(change), `${table}: ${way}`));
    }

    if (table === "product_prices") {
      await it(`${table}: they move to another product`, async () => {
        const other = await org.create();
        await store(app, org, id, other.id);
        const times = async () =>
          await Promise.all(
            [path, other.path].map(async (path) =>
              (await org.get(path)).body.data.updated_at as string
            ),
          );
        const before = await times();

        await sql.unsafe(
          filled(
            `update $table set product_id = '${other.id}' where $these`,
          ),
        );

        const after = await times();
        assert(after.every((time, i) => time > before[i]!), `${after}`);
        await assertBuilt(app, org);
      });
    }
  }
});

/** Changes of names other than by UPDATE, including shared names. The most destructive come last. */
const OF_NAMES: Record<string, string> = {
  "is in conflict with an inserted one": `insert into publishers (organization_id, id, name)
    select organization_id, id, name || '!' from publishers
    on conflict on constraint publishers_pkey do update set name = excluded.name`,
  "is deleted and inserted in one statement": `with gone as (delete from publishers returning *)
    insert into publishers (organization_id, id, name)
    select organization_id, id, name || '?' from gone`,
  "of everyone is deleted and inserted in one statement":
    `with gone as (delete from publishing_statuses returning *)
    insert into publishing_statuses select id, code, name || '?' from gone`,
  "is changed before the organization's row is replaced": `update publishers set name = 'Renamed';
    with gone as (delete from organizations returning *)
    insert into organizations (id, name) select id, name from gone`,
  "of a code is deleted": "delete from onix_codes where list = 58",
  "of a code is inserted again": "insert into onix_codes values (58, '02', 'Another label')",
};

Deno.test("The next response shows an SQL change of a name", async ({ step: it }) => {
  await using scene = await openScene();
  const full = { ...await scene.create(), isOwn: false };

  for (const [way, change] of Object.entries(OF_NAMES)) {
    await it(`that ${way}`, () => scene.assertShown(full, change, way));
  }
});

Deno.test("A rename by SQL", async ({ step: it }) => {
  await using scene = await openScene();
  const { app, sql } = scene;
  const org = await app.organization();
  const { rows } = await load(app, org, 300, () => ({ format_id: org.format }));
  await load(app, await app.organization(), 3);
  await store(app, org, ...idsOf(rows));
  /** The tables of which the statement writes rows. */
  const writtenBy = async (text: string) => {
    const versions = async () =>
      (await sql<{ version: string }[]>`
        select c.relname || t.ctid || t.xmin as version
        from (
          select tableoid, ctid, xmin from products
          union all select tableoid, ctid, xmin from product_documents
          union all select tableoid, ctid, xmin from organizations
          union all select tableoid, ctid, xmin from formats
          union all select tableoid, ctid, xmin from product_counts
        ) t
        join pg_class c on c.oid = t.tableoid
      `).map(({ version }) => version);
    const before = new Set(await versions());
    await sql.unsafe(text);
    return (await versions()).filter((version) => !before.has(version))
      .map((version) => version.split("(")[0]).sort();
  };

  await it("to the same name writes nothing else", async () => {
    const same = "update publishing_statuses set name = name";
    assertEquals(await writtenBy(same), []);
  });

  await it("writes only its row and the organization's, for any number of products", async () => {
    const rename = `update formats set name = 'Another' where id = '${org.format}'`;
    assertEquals(await writtenBy(rename), ["formats", "organizations"]);
    await assertBuilt(app, org);
  });
});

Deno.test("A trigger", async ({ step: it }) => {
  await using scene = await openScene();
  const { sql } = scene;
  const full = await scene.create();
  const [{ schema, role } = { schema: "", role: "" }] = await sql<
    { schema: string; role: string }[]
  >`
    select current_schema() as schema, 'loader_' || to_char(now(), 'SSSSUS') as role
  `;
  const changes = {
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
  };
  for (const [what, change] of Object.entries(changes)) {
    await it(what, () => scene.assertShown(full, change, what));
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

  await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});

Deno.test("SQL that copies of the catalogue could not follow is refused", async ({ step: it }) => {
  await using scene = await openScene();
  await scene.create();
  const reasons: Record<string, string> = {
    "truncate products cascade":
      "TRUNCATE of products is refused, since no trigger sees its rows: DELETE them",
    "truncate organizations cascade": "TRUNCATE of products is refused",
    "truncate publishers cascade": "TRUNCATE of products is refused",
    "truncate supply_prices cascade": "TRUNCATE of supply_prices is refused",
    "truncate product_changes": "TRUNCATE of product_changes is refused",
    "truncate onix_codes": "TRUNCATE of onix_codes is refused",
    "update products set id = gen_random_uuid()":
      "UPDATE of products is refused, since copies know a product by organization_id and id: INSERT another one, and DELETE this one",
    "update products set organization_id = gen_random_uuid()": "UPDATE of products is refused",
    "set local catalogue.writer = 'service'; update products set id = gen_random_uuid()":
      "UPDATE of products is refused",
  };
  for (const [statement, reason] of Object.entries(reasons)) {
    await it(statement, async () => {
      await assertRejects(() => scene.sql.unsafe(statement), Error, reason);
    });
  }
});
