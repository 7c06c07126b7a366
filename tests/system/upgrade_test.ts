import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import type { Database, Queries } from "../../db/database.ts";
import { install, seed } from "../../db/migrate.ts";
import { miscounted } from "../../db/commands/recount.ts";
import { fillSearch } from "../../db/products/chunks.ts";
import { listProducts } from "../../db/products/list.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { ApiError } from "../../schema/errors.ts";
import { ProductParameters } from "../../schema/list_query.ts";
import { readQuery } from "../../schema/parameters.ts";
import { openFreshDatabase } from "../support/app/fresh_database.ts";
import {
  type App,
  createOrganization,
  openApp,
  SETTINGS,
} from "../support/app/harness.ts";
import { IS_WHOLE } from "../support/app/sample.ts";
import { assertBuilt, read } from "../support/client/stored.ts";
import { idsOf } from "../support/sql/loading.ts";
import { installRelease } from "../support/sql/releases.ts";
import { script, sessionOf } from "../support/sql/script.ts";
import { TIMED } from "../support/app/deadline.ts";

/** How many organizations wait for what searches compare. */
async function waiting(database: Queries): Promise<number> {
  return (await script(database, (sql) => sql`select from search_backlog`))
    .length;
}

/** The last migrations of releases: before triggers, before the feed's later changes, before functions.sql. */
const RELEASES = IS_WHOLE ? ["0008", "0013", "0018", "0023"] : ["0008"];

Deno.test("An upgrade", TIMED, async ({ step: it }) => {
  await using fresh = await openFreshDatabase();
  await install(fresh.operations);
  const expected = await functionsAndTriggers(fresh.operations);
  assert(expected.length > 150, `${expected.length}`);

  for (const release of RELEASES) {
    await it(`from ${release} leaves what a new database has`, async () => {
      await using old = await openFreshDatabase();
      const database = old.operations;
      await installRelease(database, release);
      const [id, product, publisher] = [uuidv7(), uuidv7(), uuidv7()];
      await script(database, async (sql) => {
        await sql`insert into organizations (id, name) values (${id}, 'Harbour')`;
        await sql`
          insert into publishers (organization_id, id, name)
          values (${id}, ${publisher}, 'Harbour Press')
        `;
        await sql`
          insert into products (organization_id, id, title, publisher_id)
          values (${id}, ${product}, 'Emma', ${publisher}), (${id}, ${uuidv7()}, 'Sanditon', null)
        `;
        await sql`
          insert into product_prices (organization_id, product_id, id, position, currency_code)
          values (${id}, ${product}, ${uuidv7()}, 0, 'GBP')
        `;
      });

      await install(database);

      assertEquals(await functionsAndTriggers(database), expected);
      assertEquals([...await database.scan(miscounted)], []);
      for (
        const change of [
          "update products set subtitle = 'A novel' where title = 'Emma'",
          "update product_prices set list_price = 1",
          "update publishers set name = 'Quay Press'",
          "delete from product_prices",
        ]
      ) {
        const before = await versions();
        await script(database, (sql) => sql.unsafe(change));
        assertNotEquals(await versions(), before, change);
      }
      await script(
        database,
        (sql) => sql`delete from products where title = 'Sanditon'`,
      );
      const [{ products, deletions }] = await script(
        database,
        (sql) =>
          sql<[{ products: number; deletions: number }]>`
            select
              (
                select sum(c.products)::int from product_counts c
                where c.filter = 'organization_id'
              ) as products,
              (select count(*)::int from product_deletions) as deletions
          `,
      );
      assertEquals([products, deletions], [1, 1]);

      /** What readers compare with stored JSON. */
      async function versions(): Promise<unknown> {
        const [row] = await script(database, (sql) =>
          sql`
            select p.updated_at::text, p.change_version::text, o.names_version::text
            from products p
            join organizations o on o.id = p.organization_id
            where p.id = ${product}
          `);
        return row;
      }
    });
  }
});

Deno.test({
  ...TIMED,
  name:
    "The upgrade to accents in search finds older products, and changes no updated_at",
}, async () => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;
  await installRelease(database, "0010");
  const id = uuidv7();
  await script(database, async (sql) => {
    await sql`insert into organizations (id, name) values (${id}, 'Test')`;
    await sql`
      insert into products (organization_id, id, title)
      values (${id}, ${uuidv7()}, 'Pedro Páramo'), (${id}, ${uuidv7()}, 'Emma')
    `;
  });
  const times = () =>
    script(
      database,
      (sql) => sql`select title, updated_at::text from products order by title`,
    );
  const before = await times();

  await install(database);

  // From the first answer, although products follow in chunks.
  const find = finder(fresh.database, id);
  const found = async () => [
    await find("search=paramo"),
    await find("q=pedro+páramo"),
    await find("search=em"),
  ];
  assertEquals(await waiting(database), 1);
  assertEquals(await found(), [1, 1, 1]);
  await script(database, (sql) => sql`select fill_search(1)`);
  assertEquals(await found(), [1, 1, 1]);
  const reports: number[] = [];
  await fillSearch(fresh.database, (products) => reports.push(products));
  assertEquals(reports, [1]);
  assertEquals(await waiting(database), 0);
  assertEquals(await found(), [1, 1, 1]);
  const after = await times();
  assertEquals(
    after.map(({ updated_at }) => updated_at),
    before.map(({ updated_at }) => updated_at),
  );
});

Deno.test("After an upgrade", TIMED, async ({ step: it }) => {
  await using fresh = await openFreshDatabase();
  const { operations: database } = fresh;
  await installRelease(database, "0010");
  const [large, small] = [uuidv7(), uuidv7()];
  await script(database, async (sql) => {
    await sql`
      insert into organizations (id, name) values (${large}, 'Large'), (${small}, 'Small')
    `;
    await sql`
      insert into products (organization_id, id, title)
      values
        (${large}, ${uuidv7()}, 'Emma'), (${large}, ${uuidv7()}, 'Persuasion'),
        (${large}, ${uuidv7()}, 'Sanditon'), (${small}, ${uuidv7()}, 'Emma')
    `;
  });
  await install(database);
  const inLarge = finder(fresh.database, large);
  const inSmall = finder(fresh.database, small);
  const fill = () => script(database, (sql) => sql`select fill_search(2)`);

  await it("small organizations are indexed first", async () => {
    const backlogs = () =>
      script(database, (sql) =>
        sql`
          select b.organization_id, b.products from search_backlog b order by b.products
        `);
    assertEquals([...await backlogs()], [
      { organization_id: small, products: 1 },
      { organization_id: large, products: 3 },
    ]);
    await fill();
    assertEquals([...await backlogs()], [
      { organization_id: large, products: 3 },
    ]);
    await fill();
    assertEquals([...await backlogs()], [
      { organization_id: large, products: 1 },
    ]);
  });

  const setWaiting = (products: number) =>
    script(
      database,
      (sql) => sql`update search_backlog set products = ${products}`,
    );

  /** Asserts that the query is refused while so many products wait. */
  async function assertRefused(
    query: string,
    products: number,
    expected: { number: string; seconds: string },
  ) {
    await setWaiting(products);
    const error = await assertRejects(() => inLarge(query), ApiError);
    assertEquals(error.code, "SERVICE_UNAVAILABLE");
    assertEquals(
      error.message,
      `The products are still being indexed for searches, after an upgrade: ${expected.number} wait`,
    );
    assertEquals(error.headers, { "retry-after": expected.seconds });
  }

  await it("searches that would take too long are refused, with the number of products that wait", async () => {
    const few = { number: "100,001", seconds: "1" };
    await assertRefused("q=emma", 100_001, few);
    await assertRefused("q=emma&search=emma", 100_001, few);
    const many = { number: "1,600,000", seconds: "20" };
    await assertRefused("search=emma", 1_600_000, many);
    await assertRefused("search=em", 1_600_000, many);
  });

  await it("other lists are not, nor those of others", async () => {
    assertEquals(await inLarge("sort=title"), 3);
    assertEquals(await inSmall("q=emma"), 1);
    assertEquals(await inSmall("search=emma"), 1);
  });

  await it("searches are complete", async () => {
    await setWaiting(1_500_000);
    assertEquals(await inLarge("search=sanditon"), 1);
    assertEquals(await inLarge("search=a"), 3);
    await setWaiting(100_000);
    assertEquals(await inLarge("q=sanditon"), 1);
    assertEquals(await inLarge("q=a"), 3);
  });

  await it("they are complete and refused no more at the end", async () => {
    await setWaiting(1_600_000);
    await fillSearch(fresh.database, () => {});
    assertEquals(await inLarge("q=sanditon"), 1);
    assertEquals(await inLarge("search=a"), 3);
  });
});

/** Returns how to count the products of the organization that a query finds. */
function finder(database: Database, organizationId: string) {
  const org = database.for({
    deadline: performance.now() + 60_000,
    caller: { organizationId, name: "Test" },
  });
  return async (query: string) => {
    const url = new URL(`http://catalogue.test/?${query}`);
    return (await listProducts(org, readQuery(ProductParameters, url))).total;
  };
}

Deno.test({
  ...TIMED,
  name: "The upgrade to stored JSON keeps every product and the right totals",
  ignore: !SETTINGS.url,
  async fn() {
    await using fresh = await openFreshDatabase();
    await installRelease(fresh.operations, "0008");
    // The code lists of this release need a column of a later one.
    await script(
      fresh.operations,
      (sql) =>
        sql`alter table onix_codes add column deprecated boolean not null default false`,
    );
    await seed(fresh.operations);
    const apps: App[] = [];
    const org = await createOrganization({
      send: (path, init) => apps[0]!.send(path, init),
      sql: sessionOf(fresh.operations),
    });
    // Three products written and counted by the service, then four inserted by SQL, then a write by a caller.
    await script(fresh.operations, async (sql) => {
      await sql`
        insert into products (organization_id, title, format_id, counted)
        select ${org.id}, 'Emma', ${org.format}, i <= 3
        from generate_series(1, 7) i
      `;
      await sql`
        insert into product_counts (organization_id, filter, value, slot, products)
        values
          (${org.id}, 'organization_id', ${org.id}, 3, 3),
          (${org.id}, 'format_id', ${org.format}, 3, 1),
          (${org.id}, 'format_id', ${org.format}, 0, 2)
      `;
      await sql`insert into last_writes values (${org.id}, 'caller', '0/0')`;
      await sql`
        insert into product_prices (organization_id, product_id, id, position, currency_code)
        select organization_id, id, gen_random_uuid(), 0, 'GBP' from products
      `;
    });

    await using app = await openApp({}, { url: fresh.settings.url });
    apps.push(app);

    const { body } = await org.get("/api/products");
    const filtered = await org.get(`/api/products?format_id=${org.format}`);
    assertEquals([body.meta.total, filtered.body.meta.total], [7, 7]);
    for (const id of idsOf(body.data)) {
      const { data } = await read(app, org, `/api/products/${id}`);
      assertEquals(data.product_prices.length, 1);
      const { status } = await org.put(`/api/products/${id}`, { title: "Now" });
      assertEquals(status, 200);
    }
    await assertBuilt(app, org);
    assertEquals([...await app.sql`${miscounted}`], []);
  },
});

/** Every function and trigger of the schema, with settings and privileges. */
async function functionsAndTriggers(database: Queries): Promise<string[]> {
  const rows = await script(database, (sql) =>
    sql<{ definition: string }[]>`
      select concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid)) as definition
      from pg_trigger t
      where not t.tgisinternal
      union all
      select concat_ws(' ', f.proacl, pg_get_functiondef(f.oid))
      from pg_proc f
      where f.pronamespace = current_schema()::regnamespace
        and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
      order by 1
    `);
  return rows.map(({ definition }) => definition);
}
