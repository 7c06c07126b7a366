import { assert, assertEquals } from "@std/assert";
import { miscounted } from "../../db/products/counts.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { eventually } from "../support/app/eventually.ts";
import {
  type App,
  idOfCode,
  type Organization,
  SETTINGS,
} from "../support/app/harness.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import { assertBuilt, read, store } from "../support/client/stored.ts";
import { commandsOn, imported } from "../support/client/transfer.ts";

const SECONDS = 4;

/** Values of a product that only increase. Each has one writer. */
const VALUES = ["page_count", "list_price", "publisher", "label"] as const;

type Numbers = Record<typeof VALUES[number], number>;

Deno.test({
  name:
    "Requests and SQL at once end on the last value, and no reader goes back in time",
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp({ poolSize: 12 });
    const org = await app.organization();
    const { id, path } = await org.create({
      publisher_id: org.publisher,
      page_count: 1,
      product_prices: [{ currency_code: "GBP", list_price: 1 }],
    });
    const { id: other } = await org.create({ title: "1" });
    await app.sql((sql) =>
      sql`
        insert into product_sales_rights (organization_id, product_id, sales_rights_type)
        values (${org.id}, ${id}, '01')
      `
    );
    await rename(app, org, 1);
    await label(app, 1);

    const end = performance.now() + SECONDS * 1_000;
    const written: Numbers = {
      page_count: 1,
      list_price: 1,
      publisher: 1,
      label: 1,
    };
    let titled = 1;

    await Promise.all([
      repeat(async (n) => {
        const { status } = await org.put(path, { page_count: n });
        assertEquals(status, 200);
        written.page_count = n;
      }),
      repeat(async (n) => {
        await app.sql((sql) =>
          sql`update product_prices set list_price = ${n} where product_id = ${id}`
        );
        written.list_price = n;
      }),
      repeat(async (n) => {
        await rename(app, org, n);
        written.publisher = n;
      }),
      repeat(async (n) => {
        await label(app, n);
        written.label = n;
      }),
      // Other products are inserted and deleted, and counted.
      repeat(async (n) => {
        const { path } = await org.create({ format_id: org.format });
        await app.sql((sql) =>
          sql`insert into products (organization_id, title, format_id) values (${org.id}, ${`${n}`}, ${org.format})`
        );
        await org.delete(path);
      }),
      // The same id and time with another title.
      repeat(async (n) => {
        await app.sql((sql) =>
          sql`
            with gone as (delete from products where id = ${other} returning *)
            insert into products (organization_id, id, title, product_code, created_at, updated_at)
            select organization_id, id, ${`${n}`}, product_code, created_at, updated_at from gone
          `
        );
        titled = n;
      }),
      ...[1, 2].flatMap(() => [
        reading(() => written, async () => {
          const { data } = await read(app, org, path);
          return numbersOf(data);
        }),
        reading(() => written, async () => {
          const { data } = await read(
            app,
            org,
            `/api/products?sort=created_at&limit=2&include=sales_rights`,
          );
          return numbersOf(data.find((item: { id: string }) => item.id === id));
        }),
        reading(() => ({ titled }), async () => {
          const { data } = await read(app, org, `/api/products/${other}`);
          return { titled: Number(data.title) };
        }),
      ]),
    ]);

    const { data } = await read(app, org, path);
    assertEquals(numbersOf(data), written);
    assert(written.publisher > 10, JSON.stringify(written));
    await assertBuilt(app, org);

    async function repeat(write: (n: number) => Promise<void>): Promise<void> {
      for (let n = 2; performance.now() < end; n++) await write(n);
    }

    /** Expects each read to show all earlier writes, and no older values than earlier reads. */
    async function reading<T extends Record<string, number>>(
      acknowledged: () => T,
      shown: () => Promise<Partial<T>>,
    ): Promise<void> {
      let least = { ...acknowledged() };
      while (performance.now() < end) {
        const before = { ...acknowledged() };
        const now = await shown();
        for (const [name, value] of Object.entries(now)) {
          const bound = Math.max(before[name]!, least[name]!);
          assert(value! >= bound, `${name} is ${value}, after ${bound}`);
        }
        least = { ...least, ...now };
      }
    }
  },
});

Deno.test({
  name: "A request that waits for SQL",
  ignore: !SETTINGS.url,
  async fn(t) {
    await using app = await openOwnApp({ poolSize: 12 });

    /** Runs the SQL, and commits it when the request waits for it or has ended. */
    async function during<T>(text: string, request: () => Promise<T>) {
      const replies: T[] = [];
      const running = await app.sql(async (sql) => {
        await sql.unsafe(text);
        const running = request().then((reply) => replies.push(reply));
        await eventually(
          true,
          async () => replies.length > 0 || await isWaiting(),
        );
        return [running];
      });
      await Promise.all(running);
      return replies[0]!;
    }

    const isWaiting = () => waitsFor(app, "Lock");
    const isDelayed = () => waitsFor(app, "PgSleep");

    await t.step(
      "holds its Idempotency-Key: others with the key are refused (409)",
      async () => {
        const org = await app.organization();
        const create = () =>
          org.post("/api/products", { title: "Emma" }, {
            "idempotency-key": "order-1",
          });

        const running = await app.sql(async (sql) => {
          await sql`select from organizations where id = ${org.id} for update`;
          const first = create();
          await eventually(true, isWaiting);
          const { status, headers, body } = await create();
          assertEquals(status, 409);
          assertEquals(headers.get("retry-after"), "1");
          assertEquals(body.error.code, "IDEMPOTENCY_IN_PROGRESS");
          assertEquals(
            body.error.message,
            "A request with this Idempotency-Key is still running: retry to get its response",
          );
          return [first];
        });

        const first = await running[0]!;
        const repeated = await create();
        assertEquals([first.status, repeated.status], [201, 201]);
        assertEquals(repeated.text, first.text);
        assertEquals(repeated.headers.get("idempotent-replayed"), "true");
      },
    );

    const body = { title: "Emma", isbn13: "9780141439587", page_count: 7 };

    /** Deletes a row, and inserts it again with the same id. */
    const replacing = (table: string, id: string, columns: string) => `
      with gone as (delete from ${table} where id = '${id}' returning *)
      insert into ${table} (organization_id, id, ${columns})
      select organization_id, id, ${columns} from gone
    `;

    for (
      const [what, body] of Object.entries({
        "a column": { subtitle: "mine" },
        "a column and an array": {
          subtitle: "mine",
          collateral: [{ collateral_type: "text_content", text: "mine" }],
        },
        "an array": { packing_configurations: [{ unit_of_measure: "inner" }] },
      })
    ) {
      await t.step(
        `and updates ${what} of a replaced product fails`,
        async () => {
          const org = await app.organization();
          const { id, path } = await org.create();
          const sql = replacing("products", id, "title, product_code");

          const reply = await during(sql, () => org.put(path, body));

          const { body: { data } } = await org.get(path);
          assertEquals(reply.status, 503);
          assertEquals(reply.body.error.code, "SERVICE_UNAVAILABLE");
          assertEquals(data.subtitle, null);
          assertEquals(data.collateral, []);
          assertEquals(data.packing_configurations, []);
          await assertBuilt(app, org);
        },
      );
    }

    await t.step("and deletes a replaced product says so", async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      const sql = replacing("products", id, "title, product_code");

      const { body } = await during(sql, () => org.delete(path));

      assertEquals(body.data, { id, deleted: true });
      assertEquals((await org.get(path)).status, 404);
      assertEquals((await org.get("/api/products")).body.meta.total, 0);
    });

    await t.step("and batches writes of a replaced product", async (t) => {
      for (
        const [what, operationOn, shown] of [
          ["update", (id: string) => ({ method: "update", id, body }), [200]],
          ["delete", (id: string) => ({ method: "delete", id }), []],
          ["upsert", () => ({ method: "upsert", match: "isbn13", body }), [
            200,
          ]],
        ] as const
      ) {
        await t.step(what, async () => {
          const org = await app.organization();
          const { id } = await org.create(body);
          const sql = replacing("products", id, "title, product_code, isbn13");

          const operations = [operationOn(id)];
          const { body: { data: [result] } } = await during(
            sql,
            () => org.post("/api/products/batch", { operations }),
          );

          const { data, meta } = (await org.get("/api/products")).body;
          assertEquals(result.status, 200);
          assertEquals(meta.total, shown.length);
          if (what === "delete") assert(result.data.deleted);
          else assertEquals([data[0].id, data[0].page_count], [id, 7]);
        });
      }
    });

    await t.step(
      "and creates a product of a replaced organization",
      async () => {
        const org = await app.organization();

        const { status } = await during(
          `with gone as (delete from organizations where id = '${org.id}' returning *)
        insert into organizations (id, name) select id, name from gone`,
          () => org.post("/api/products", { title: "Emma" }),
        );

        assertEquals(status, 201);
        assertEquals((await org.get("/api/products")).body.meta.total, 1);
      },
    );

    await t.step("and deletes a replaced record says so", async () => {
      const org = await app.organization();
      const path = `/api/publishers/${org.publisher}`;
      const sql = replacing("publishers", org.publisher, "name");

      const { body } = await during(sql, () => org.delete(path));

      assertEquals(body.data.deleted, true);
      assertEquals((await org.get(path)).status, 404);
    });

    await t.step("and removes a replaced row of a program", async () => {
      const org = await app.organization();
      const { id } = await org.create();
      const path = `/api/publishing-programs/${org.program}/products`;
      await org.put(`${path}/${id}`, undefined);

      await during(
        `with gone as (delete from publishing_program_products returning *)
        insert into publishing_program_products select * from gone`,
        () => org.delete(`${path}/${id}`),
      );

      assertEquals((await org.get(path)).body.data, []);
    });

    await t.step("and stores a form on a replaced format", async () => {
      const org = await app.organization();
      const { path } = await org.create({ format_id: org.format });
      const product_form_id = await idOfCode(app, "product_forms", "BB");

      const { body: { data } } = await during(
        replacing("formats", org.format, "name"),
        () => org.put(path, { product_form_id }),
      );

      assertEquals(data.product_form_id, product_form_id);
    });

    await t.step("and imports a product counts it once", async () => {
      const org = await app.organization();
      const operations = commandsOn(app)(org.id);
      const id = uuidv7();
      const line = { kind: "product", id, title: "Emma", product_code: "P-1" };

      const refused = await during(
        `insert into products (organization_id, id, title) values ('${org.id}', '${id}', 'SQL')`,
        () => imported(operations, JSON.stringify(line)),
      );

      const { body } = await org.get(`/api/products/${id}`);
      assertEquals([refused, body.data.title], [[], "Emma"]);
      assertEquals([...await operations.scan(miscounted)], []);
    });

    /** Delays the service's insertions into the table until the promise is settled. */
    async function delaying<T>(table: string, work: () => Promise<T>) {
      await app.sql((sql) =>
        sql.unsafe(`
          create function delay() returns trigger language plpgsql
            as 'begin perform pg_sleep(0.5); return new; end';
          create trigger delayed before insert on ${table} for each row
            when (current_setting('catalogue.writer', true) = 'service')
            execute function delay()
        `)
      );
      try {
        return await work();
      } finally {
        await app.sql((sql) => sql.unsafe("drop function delay() cascade"));
      }
    }

    await t.step("and moves a replaced product counts it once", async () => {
      const org = await app.organization();
      const [one, two, three] = await statuses(app);
      const { id, path } = await org.create({ lifecycle_status_id: one });
      const columns = "title, product_code, lifecycle_status_id";

      await delaying("product_counts", async () => {
        const reply = during(
          replacing("products", id, columns),
          () => org.put(path, { lifecycle_status_id: two }),
        );
        let hasEnded = false;
        reply.then(() => hasEnded = true);
        await eventually(true, async () => hasEnded || await isDelayed());
        await app.sql((sql) =>
          sql`update products set lifecycle_status_id = ${three} where id = ${id}`
        );
        assert([200, 503].includes((await reply).status));
      });

      const { count } = await app.sql((sql) =>
        sql`
          select c.value
          from product_counts c
          where c.organization_id = ${org.id} and c.filter = 'lifecycle_status_id'
          group by c.value
          having sum(c.products) <> (
            select count(*)
            from products p
            where p.organization_id = ${org.id} and p.lifecycle_status_id = c.value
          )
        `
      );
      assertEquals(count, 0);
    });

    for (
      const [table, what, body] of [
        ["product_prices", "", {
          product_prices: [{ currency_code: "GBP", list_price: 1 }],
        }],
        ["product_sales_rights", "/sales-rights", [{
          sales_rights_type: "01",
          territory: { countries_included: ["GB"] },
        }]],
      ] as const
    ) {
      await t.step(
        `and writes ${table} of a product that is replaced and deleted fails`,
        async () => {
          const org = await app.organization();
          const { id, path } = await org.create();
          const sql = replacing("products", id, "title, product_code");

          const { status, text } = await delaying(table, async () => {
            const reply = during(sql, () => org.put(path + what, body));
            await eventually(true, isDelayed);
            await app.sql((sql) => sql`delete from products where id = ${id}`);
            return reply;
          });

          assertEquals(status, 404, text);
        },
      );
    }

    await t.step("and updates a replaced record fails", async () => {
      const org = await app.organization();
      const path = `/api/publishers/${org.publisher}`;
      const sql = replacing("publishers", org.publisher, "name");

      const { status } = await during(sql, () => org.put(path, { name: "B" }));

      assertEquals(status, 404);
      assertEquals((await org.get(path)).body.data.name, "Harbour Press");
    });

    await t.step(
      "and creates an organization shows the new names",
      async () => {
        const { org, id } = await during(
          "update publishing_statuses set name = name || '!'",
          async () => {
            const org = await app.organization();
            const publishing_status_id = await idOfCode(
              app,
              "publishing_statuses",
              "04",
            );
            const { id } = await org.create({ publishing_status_id });
            await store(app, org, id);
            return { org, id };
          },
        );

        const { data } = await read(app, org, `/api/products/${id}`);
        assertEquals(data.publishing_status_name.at(-1), "!");
        await assertBuilt(app, org);
      },
    );
  },
});

Deno.test({
  name: "The next response shows SQL that waits for SQL that replaces a row",
  ignore: !SETTINGS.url,
  async fn(t) {
    await using app = await openOwnApp({ poolSize: 12 });
    for (
      const [what, replacing, change] of [
        [
          "of an organization",
          `with gone as (delete from organizations returning *)
          insert into organizations (id, name) select id, name from gone`,
          "update publishers set name = 'Renamed'",
        ],
        [
          "of a product, as a replica",
          `set local session_replication_role = replica;
          create temp table saved on commit drop as select * from products;
          delete from products;
          insert into products (organization_id, id, title, publisher_id, product_code, updated_at)
          select organization_id, id, title, publisher_id, product_code, updated_at from saved`,
          "update product_prices set list_price = 2",
        ],
      ] as const
    ) {
      await t.step(what, async () => {
        await app.sql((sql) => sql`truncate products cascade`);
        const org = await app.organization();
        const { id, path } = await org.create({
          publisher_id: org.publisher,
          product_prices: [{ currency_code: "GBP", list_price: 1 }],
        });

        const [changing] = await app.sql(async (sql) => {
          await sql.unsafe(replacing);
          const changing = app.sql(async (sql) => {
            await sql.unsafe(change);
            // The row is replaced, and the change is not committed.
            await store(app, org, id);
          });
          await eventually(true, () => waitsFor(app, "Lock"));
          return [changing];
        });
        await changing;

        const { data } = await read(app, org, path);
        assertEquals(
          [data.publisher_name, data.product_prices[0].list_price],
          what === "of an organization" ? ["Renamed", 1] : ["Harbour Press", 2],
        );
        await assertBuilt(app, org);
      });
    }
  },
});

Deno.test({
  name:
    "A new organization shows a name that a transaction in REPEATABLE READ changes",
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp({ poolSize: 12 });
    const publishing_status_id = await idOfCode(
      app,
      "publishing_statuses",
      "04",
    );
    let org: Organization | undefined;
    let path = "";

    // The transaction fails (40001), and is repeated.
    await app.sql(async (sql) => {
      await sql`set transaction isolation level repeatable read`;
      await sql`select from organizations`;
      if (!org) {
        org = await app.organization();
        const created = await org.create({ publishing_status_id });
        path = created.path;
        await store(app, org, created.id);
      }
      await sql`update publishing_statuses set name = 'Renamed'`;
    });

    const { data } = await read(app, org!, path);
    assertEquals(data.publishing_status_name, "Renamed");
  },
});

Deno.test({
  name: "Upserts create one product, whatever the default isolation level is",
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp({ poolSize: 12 });
    const org = await app.organization();
    await app.sql(async (sql) => {
      const [{ name }] = await sql<
        [{ name: string }]
      >`select current_database() as name`;
      await sql.unsafe(
        `alter database ${name} set default_transaction_isolation = 'repeatable read'`,
      );
    });
    await app.sql((sql) =>
      sql`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
      `
    );
    const body = { title: "Emma", isbn13: "9780141439587" };
    const operations = [{ method: "upsert", match: "isbn13", body }];

    await Promise.all(
      Array.from(
        { length: 8 },
        () => org.post("/api/products/batch", { operations }),
      ),
    );

    assertEquals((await org.get("/api/products")).body.meta.total, 1);
  },
});

Deno.test({
  name: "Products that are imported, changed and deleted at once stay counted",
  ignore: !SETTINGS.url,
  async fn() {
    await using app = await openOwnApp({ poolSize: 12 });
    const org = await app.organization();
    const statuses = await Promise.all(
      ["01", "02"].map((code) => idOfCode(app, "publishing_statuses", code)),
    );
    const ids = Array.from({ length: 12 }, () => uuidv7());
    const operations = commandsOn(app)(org.id);
    const end = performance.now() + SECONDS * 1_000;

    await Promise.all([
      repeat(async (n) => {
        const lines = ids.map((id) =>
          JSON.stringify({
            kind: "product",
            id,
            title: `${n}`,
            product_code: id,
            publishing_status_id: statuses[n % 2],
          })
        );
        await imported(operations, lines.join("\n"));
      }),
      ...[1, 2, 3].map(() =>
        repeat(async (n) => {
          const { status } = await org.delete(pathOf(n));
          assertEquals(status, 200);
        })
      ),
      repeat(async (n) => {
        await org.put(pathOf(n), { publishing_status_id: statuses[n % 2] });
      }),
    ]);

    assertEquals([...await operations.scan(miscounted)], []);

    function pathOf(n: number): string {
      return `/api/products/${ids[n % ids.length]}`;
    }

    async function repeat(write: (n: number) => Promise<void>): Promise<void> {
      for (let n = 0; performance.now() < end; n++) await write(n);
    }
  },
});

/** Whether a session of the database waits for the event, or for one of this type. */
async function waitsFor(app: App, event: string): Promise<boolean> {
  const { count } = await app.sql((sql) =>
    sql`
      select from pg_stat_activity
      where datname = current_database() and ${event} in (wait_event_type, wait_event)
    `
  );
  return count > 0;
}

async function statuses(app: App): Promise<string[]> {
  const rows = await app.sql((sql) =>
    sql<
      { id: string }[]
    >`select id from lifecycle_statuses order by code limit 3`
  );
  return rows.map(({ id }) => id);
}

async function rename(app: App, org: Organization, n: number): Promise<void> {
  await app.sql((sql) =>
    sql`update publishers set name = ${`${n}`} where id = ${org.publisher}`
  );
}

async function label(app: App, n: number): Promise<void> {
  await app.sql((sql) =>
    sql`update onix_codes set label = ${`${n}`} where list = 46 and code = '01'`
  );
}

// deno-lint-ignore no-explicit-any
function numbersOf(product: any): Partial<Numbers> {
  return {
    page_count: product.page_count,
    publisher: Number(product.publisher_name),
    label: Number(product.product_sales_rights[0].sales_rights_type_label),
    ...product.product_prices &&
      { list_price: product.product_prices[0].list_price },
  };
}
