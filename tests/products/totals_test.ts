import { assert, assertEquals } from "@std/assert";
import { recount } from "../../db/doctor/recount.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { assertCounted, read, store } from "../support/client/stored.ts";
import { COUNTED, type Values, valuesOf } from "../support/data/filters.ts";
import { idsOf, load } from "../support/sql/loading.ts";

const it = testsOf("The totals of lists");

it("are exact after many concurrent writers", async ({ app }) => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const random = randomBy(seed);
  const org = await app.organization();
  const values = await valuesOf(app, org);
  const shared = await org.create();

  await Promise.all(Array.from({ length: 16 }, async () => {
    const { path } = await org.create(someValues(values, random));
    for (let i = 0; i < 4; i++) {
      await org.put(path, someValues(values, random));
      await org.put(shared.path, someValues(values, random));
    }
    if (random() < 0.5) await org.delete(path);
  }));

  await assertCounted(app, `seed ${seed}`, org);
});

it("are not written if they do not change", async ({ org, app, sql }) => {
  const values = await valuesOf(app, org);
  const fields = {
    format_id: values.format_id[0],
    publishing_status_id: values.publishing_status_id[0],
  };
  const { path } = await org.create(fields);
  const versions = () =>
    sql`select xmin::text from product_counts where organization_id = ${org.id}`;
  const before = await versions();

  const { status } = await org.put(path, fields);

  assertEquals(status, 200);
  assertEquals([...await versions()], [...before]);
});

it("match the entries while products are deleted", async ({ org, sql }) => {
  // Lists build the JSON of these products from the tables.
  const loaded = await sql<{ id: string }[]>`
    insert into products (organization_id, title)
    select ${org.id}, 'Loaded' from generate_series(1, 30)
    returning id
  `;
  let isOver = false;
  const deleting = (async () => {
    for (const { id } of loaded) await org.delete(`/api/products/${id}`);
    isOver = true;
  })();

  while (!isOver) {
    const { body } = await org.get("/api/products?limit=100");
    assertEquals(body.data.length, body.meta.total);
    // The next list finds no valid documents.
    await sql`delete from product_documents where organization_id = ${org.id}`;
  }
  await deleting;
});

/** SQL statements on the products of an organization with twelve products. */
const CHANGES: Record<string, (org: Organization) => string> = {
  "insert": (org) =>
    `insert into products (organization_id, title, format_id)
    select '${org.id}', 'Emma', '${org.format}' from generate_series(1, 5)`,
  "insert in a transaction that is rolled back in part": (org) =>
    `savepoint here;
    insert into products (organization_id, title) values ('${org.id}', 'Gone');
    rollback to here;
    insert into products (organization_id, title) values ('${org.id}', 'There')`,
  "insert in conflict": (org) =>
    `insert into products (organization_id, id, title, format_id)
    select organization_id, id, title, '${org.format}' from products where organization_id = '${org.id}'
    on conflict on constraint products_pkey do update set format_id = excluded.format_id`,
  "update to null": (org) =>
    `update products set format_id = null, publishing_status_id = null where organization_id = '${org.id}'`,
  "update with other statements": (org) =>
    `with there as (insert into products (organization_id, title) values ('${org.id}', 'Emma')),
    gone as (delete from products where id in (select id from products where organization_id = '${org.id}' limit 1))
    update products set lifecycle_status_id = (select id from lifecycle_statuses limit 1)
    where id in (select id from products where organization_id = '${org.id}' offset 5)`,
  "delete": (org) =>
    `delete from products where id in (select id from products where organization_id = '${org.id}' limit 4)`,
};

Deno.test("The totals of lists after SQL writes", async ({ step: it }) => {
  await using app = await openOwnApp();

  for (const [what, change] of Object.entries(CHANGES)) {
    await it(`are exact after: ${what}`, async () => {
      const org = await app.organization();
      const values = await valuesOf(app, org);
      await load(app, org, 12, (i) =>
        Object.fromEntries(
          Object.entries(values).map(([column, [one, two]]) => [
            column,
            [one!, two!, null][i % 3]!,
          ]),
        ));

      await run(app, change(org));

      await assertCounted(app, what);
    });
  }
});

Deno.test("A wrong total", async ({ step: it }) => {
  await using app = await openOwnApp();
  const org = await app.organization();
  const { rows } = await load(app, org, 5);
  const triggers = (what: "disable" | "enable always") =>
    app.sql.begin(async (sql) => {
      for (const name of ["inserted", "deleted", "counted", "moved"]) {
        await sql.unsafe(`alter table products ${what} trigger ${name}`);
      }
    });

  for (const by of [-100, -3, 100]) {
    await it(`hides no product from the pages: ${by}`, async () => {
      await run(
        app,
        `update product_counts set products = products + ${by} where organization_id = '${org.id}'`,
      );

      const found = new Set<string>();
      for (const page of [1, 2, 3, 4, 5]) {
        const path = `/api/products?limit=1&page=${page}`;
        const { body, headers } = await org.get(path);
        for (const id of idsOf(body.data)) found.add(id);
        assert(body.meta.total >= page, `${body.meta.total} of page ${page}`);
        if (page < 5) assert(headers.get("link")!.includes('rel="next"'));
      }
      assertEquals(found, new Set(idsOf(rows)));
      await recount(operationsOf(app, org));
      await assertCounted(app);
    });
  }

  await it("is corrected by a recount, like stored JSON", async () => {
    const [{ id } = { id: "" }] = rows;
    const path = `/api/products/${id}`;
    await store(app, org, id);
    await triggers("disable");
    await load(app, org, 2);
    await run(app, `update products set title = 'Changed' where id = '${id}'`);
    await triggers("enable always");

    await recount(operationsOf(app, org));

    assertEquals((await org.get("/api/products")).body.meta.total, 7);
    assertEquals((await read(app, org, path)).data.title, "Changed");
    await assertCounted(app);
  });

  await it("stays exact if products are written meanwhile", async () => {
    const seed = crypto.getRandomValues(new Uint32Array(1))[0]!;
    const random = randomBy(seed);
    const org = await app.organization();
    const values = await valuesOf(app, org);
    const { rows } = await load(
      app,
      org,
      12,
      () => ({ format_id: org.format }),
    );
    const write = () =>
      rows.map(({ id }, i) =>
        i % 3
          ? org.put(`/api/products/${id}`, someValues(values, random))
          : org.delete(`/api/products/${id}`)
      );

    await Promise.all([
      ...write(),
      recount(operationsOf(app, org)),
      org.create(someValues(values, random)),
    ]);
    await assertCounted(app, `seed ${seed}`);
    await Promise.all(write());

    await assertCounted(app, `seed ${seed}`);
  });
});

/** Some of the filter columns, each with one of its values or null. */
function someValues(values: Values, random: () => number) {
  return Object.fromEntries(COUNTED.flatMap((column) => {
    if (random() < 0.3) return [];
    return [[column, [...values[column], null][Math.floor(random() * 3)]]];
  }));
}

/** A random number generator from 0 to 1 with a seed (mulberry32). */
function randomBy(seed: number): () => number {
  return () => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4_294_967_296;
  };
}

async function run(app: App, text: string): Promise<void> {
  await app.sql.unsafe(text);
}
