import { assert, assertEquals, assertMatch } from "@std/assert";
import { isLockTimeout } from "../../db/connections/errors.ts";
import { uuidv7 } from "../../db/uuid.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, SETTINGS } from "../support/app/harness.ts";
import { idOfCode, type Organization } from "../support/app/organization.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import type { Reply } from "../support/client/envelope.ts";
import { assertBuilt, assertCounted, read, store } from "../support/client/stored.ts";
import { commandsOn, imported, withHeader } from "../support/client/transfer.ts";
import { TIMED } from "../support/app/deadline.ts";
import type { Sql } from "../support/sql/script.ts";

const SECONDS = 4;

/** Values of a product that only increase. Each has one writer. */
const VALUES = ["page_count", "list_price", "publisher", "label"] as const;

type Numbers = Record<typeof VALUES[number], number>;

interface Race {
  app: App;
  sql: App["sql"];
  it: Deno.TestContext["step"];
}

/** Adds a test of sessions beside each other, on a database of its own. */
function race(name: string, run: (race: Race) => Promise<void>): void {
  Deno.test(name, { ...TIMED, ignore: !SETTINGS.url }, async ({ step }) => {
    await using app = await openOwnApp({ poolSize: 12 });
    await run({ app, sql: app.sql, it: step });
  });
}

/** Writes one number after the other for `SECONDS`, and at least ten. */
async function repeat(write: (n: number) => Promise<unknown>): Promise<void> {
  const end = performance.now() + SECONDS * 1_000;
  for (let n = 2; n < 12 || performance.now() < end; n++) await write(n);
}

race(
  "Requests and SQL at once end on the last value, and no reader goes back in time",
  async ({ app, sql }) => {
    const org = await app.organization();
    const { id, path } = await org.create({
      publisher_id: org.publisher,
      page_count: 1,
      product_prices: [{ currency_code: "GBP", list_price: 1 }],
    });
    const { id: other } = await org.create({ title: "1" });
    await sql`
      insert into product_sales_rights (organization_id, product_id, sales_rights_type)
      values (${org.id}, ${id}, '01')
    `;
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
        await sql`update product_prices set list_price = ${n} where product_id = ${id}`;
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
        await sql`insert into products (organization_id, title, format_id) values (${org.id}, ${`${n}`}, ${org.format})`;
        await org.delete(path);
      }),
      // The same id and time with another title.
      repeat(async (n) => {
        await sql`
          with gone as (delete from products where id = ${other} returning *)
          insert into products (organization_id, id, title, product_code, created_at, updated_at)
          select organization_id, id, ${`${n}`}, product_code, created_at, updated_at from gone
        `;
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
    await assertBuilt(app, org);

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
);

race("A request that waits for SQL", async ({ app, sql, it }) => {
  /** Runs the SQL, and commits it when the request waits for it or has ended. */
  async function during<T>(text: string, request: () => Promise<T>) {
    const replies: T[] = [];
    const running = await sql.begin(async (sql) => {
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

  for (const [what, replaced] of Object.entries(ON_REPLACED)) {
    for (const lock of [true, false]) {
      const how = lock ? "with a lock" : "without a lock";
      await it(`${what} that it replaces ${how}`, async () => {
        const org = await app.organization();
        const context = { app, org, ...await org.create(PRODUCT) };
        await replaced.prepare?.(context);

        const { status, text } = await during(
          replacing(replaced, context, lock),
          () => replaced.request(context),
        );

        const isWhole = status < 300 && !/"status":[45]/.test(text);
        assert(isWhole || !lock && isRefused(status, text, what), text);
        assertEquals(await replaced.isDone(context), isWhole);
        await assertCounted(app);
        await assertBuilt(app, org);
      });
    }
  }

  await it("upserts the product that it inserts beside a batch that fails in part", async () => {
    const org = await app.organization();
    const body = { ...PRODUCT, publisher_id: org.publisher };

    // The upsert finds no product, and waits for the publisher to create one.
    const { status, body: { data } } = await during(
      `select from publishers where id = '${org.publisher}' for update;
        insert into products (organization_id, title, isbn13)
        values ('${org.id}', 'SQL', '${PRODUCT.isbn13}')`,
      () =>
        org.batch([
          { method: "upsert", match: "isbn13", body },
          { method: "create", body: { title: "X", season_id: uuidv7() } },
        ]),
    );

    assertEquals([status, data[0].status, data[1].status], [200, 200, 400]);
    const products = (await org.get("/api/products")).body;
    assertEquals(products.meta.total, 1);
    assertEquals(products.data[0].title, "Emma");
  });

  await it("creates a product of an organization that it replaces", async () => {
    const org = await app.organization();

    const { status } = await during(
      `with gone as (delete from organizations where id = '${org.id}' returning *)
      insert into organizations (id, name) select id, name from gone`,
      () => org.post("/api/products", { title: "Emma" }),
    );

    assertEquals(status, 201);
    assertEquals((await org.get("/api/products")).body.meta.total, 1);
  });

  await it("imports a product that it inserts, and counts it once", async () => {
    const org = await app.organization();
    const operations = commandsOn(app)(org.id);
    const id = uuidv7();
    const line = { kind: "product", id, title: "Emma", product_code: "P-1" };

    const refused = await during(
      `insert into products (organization_id, id, title) values ('${org.id}', '${id}', 'SQL')`,
      () => imported(operations, withHeader(JSON.stringify(line))),
    );

    const { body } = await org.get(`/api/products/${id}`);
    assertEquals([refused, body.data.title], [[], "Emma"]);
    await assertCounted(app);
  });

  await it("creates an organization, and shows the new names", async () => {
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
  });
});

race(
  "The next response shows SQL that waits for SQL that replaces a row",
  async ({ app, sql, it }) => {
    for (
      const [what, replacing, change, shown] of [
        [
          "of an organization",
          `lock table organizations in exclusive mode;
          with gone as (delete from organizations returning *)
          insert into organizations (id, name) select id, name from gone`,
          "update publishers set name = 'Renamed'",
          ["Renamed", 1],
        ],
      ] as const
    ) {
      await it(what, async () => {
        await sql`delete from products`;
        const org = await app.organization();
        const { id, path } = await org.create({
          publisher_id: org.publisher,
          product_prices: [{ currency_code: "GBP", list_price: 1 }],
        });

        const [changing] = await sql.begin(async (sql) => {
          await sql.unsafe(replacing);
          const changing = app.sql.begin(async (sql) => {
            await sql.unsafe(change);
            // The row is replaced, and the change is not committed: a change of the
            // product locks it, and nothing is stored.
            await store(app, org, id).catch((error) => assert(isLockTimeout(error), String(error)));
          });
          await eventually(true, () => waitsFor(app, "Lock"));
          return [changing];
        });
        await changing;

        const { data } = await read(app, org, path);
        assertEquals(
          [data.publisher_name, data.product_prices[0].list_price],
          shown,
        );
        await assertBuilt(app, org);
      });
    }
  },
);

race(
  "A new organization shows a name that a transaction in REPEATABLE READ changes",
  async ({ app }) => {
    const publishing_status_id = await idOfCode(
      app,
      "publishing_statuses",
      "04",
    );
    let org: Organization | undefined;
    let path = "";

    // The transaction fails (40001), and is repeated.
    await app.sql.begin(async (sql) => {
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
);

race(
  "Upserts create one product, whatever the default isolation level is",
  async ({ app, sql }) => {
    const org = await app.organization();
    await sql.begin(async (sql) => {
      const [{ name }] = await sql<
        [{ name: string }]
      >`select current_database() as name`;
      await sql.unsafe(
        `alter database ${name} set default_transaction_isolation = 'repeatable read'`,
      );
    });
    await sql`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
    `;
    const body = { title: "Emma", isbn13: "9780141439587" };
    const operations = [{ method: "upsert", match: "isbn13", body }];

    await Promise.all(
      Array.from(
        { length: 8 },
        () => org.batch(operations),
      ),
    );

    assertEquals((await org.get("/api/products")).body.meta.total, 1);
  },
);

race(
  "Products that are imported, changed and deleted at once stay counted",
  async ({ app }) => {
    const org = await app.organization();
    const statuses = await Promise.all(
      ["01", "02"].map((code) => idOfCode(app, "publishing_statuses", code)),
    );
    const ids = Array.from({ length: 12 }, () => uuidv7());
    const operations = commandsOn(app)(org.id);

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
        await imported(operations, withHeader(lines.join("\n")));
      }),
      ...[1, 2, 3].map(() =>
        repeat(async (n) => {
          // An import may have inserted the product again while the request waited for it.
          const { status } = await org.delete(pathOf(n));
          assert([200, 503].includes(status), `${status}`);
        })
      ),
      repeat(async (n) => {
        await org.put(pathOf(n), { publishing_status_id: statuses[n % 2] });
      }),
    ]);

    await assertCounted(app);

    function pathOf(n: number): string {
      return `/api/products/${ids[n % ids.length]}`;
    }
  },
);

const PRODUCT = { title: "Emma", isbn13: "9780141439587" };

interface Context {
  app: App;
  org: Organization;
  id: string;
  path: string;
}

/** A request for a row that SQL deletes and inserts again with the same key. */
interface OnReplaced {
  table: string;
  columns: string;
  /** The condition of the replaced row. */
  id(context: Context): string;
  prepare?(context: Context): Promise<unknown>;
  request(context: Context): Promise<Reply>;
  /** Whether the database shows what the request asks for. */
  isDone(context: Context): Promise<boolean>;
}

const ofProduct = {
  table: "products",
  columns: "organization_id, id, title, product_code, isbn13",
  id: ({ id }: Context) => `id = '${id}'`,
};

const ofPublisher = {
  table: "publishers",
  columns: "organization_id, id, name",
  id: ({ org }: Context) => `id = '${org.publisher}'`,
};

const publisherPath = ({ org }: Context) => `/api/publishers/${org.publisher}`;

const programPath = ({ org }: Context) => `/api/publishing-programs/${org.program}/products`;

/** An update of the product by this body, of which each value is then shown. */
function updating(body: Record<string, unknown>): OnReplaced {
  return {
    ...ofProduct,
    request: ({ org, path }) => org.put(path, body),
    async isDone({ org, path }) {
      const { body: { data } } = await org.get(path);
      const shown = Object.entries(body).map(([name, value]) =>
        Array.isArray(value) ? data[name].length === value.length : data[name] === value
      );
      assertEquals(new Set(shown).size, 1, "All or nothing is written");
      return shown[0]!;
    },
  };
}

/** A batch with one operation on the product. */
function batching(
  operation: (id: string) => object,
  isDone: OnReplaced["isDone"],
): OnReplaced {
  return {
    ...ofProduct,
    request: ({ org, id }) => org.batch([operation(id)]),
    isDone,
  };
}

const hasPages: OnReplaced["isDone"] = async ({ org, path }) =>
  (await org.get(path)).body.data.page_count === 7;

const isGone: OnReplaced["isDone"] = async ({ org, path }) => (await org.get(path)).status === 404;

const ON_REPLACED: Record<string, OnReplaced> = {
  "updates a column of a product": updating({ subtitle: "mine" }),
  "updates a column and an array of a product": updating({
    subtitle: "mine",
    collateral: [{ collateral_type: "text_content", text: "mine" }],
  }),
  "updates an array of a product": updating({
    packing_configurations: [{ unit_of_measure: "inner" }],
  }),
  "deletes a product": {
    ...ofProduct,
    request: ({ org, path }) => org.delete(path),
    isDone: isGone,
  },
  "updates a product in a batch": batching(
    (id) => ({ method: "update", id, body: { page_count: 7 } }),
    hasPages,
  ),
  "upserts a product in a batch": batching(
    () => ({
      method: "upsert",
      match: "isbn13",
      body: { ...PRODUCT, page_count: 7 },
    }),
    hasPages,
  ),
  "deletes a product in a batch": batching(
    (id) => ({ method: "delete", id }),
    isGone,
  ),
  "stores a form on a format": {
    table: "formats",
    columns: "organization_id, id, name",
    id: ({ org }) => `id = '${org.format}'`,
    prepare: ({ org, path }) => org.put(path, { format_id: org.format }),
    async request({ app, org, path }) {
      const product_form_id = await idOfCode(app, "product_forms", "BB");
      return await org.put(path, { product_form_id });
    },
    isDone: async ({ org, path }) => (await org.get(path)).body.data.product_form_id !== null,
  },
  "updates a record": {
    ...ofPublisher,
    request: (context) => context.org.put(publisherPath(context), { name: "B" }),
    isDone: async (context) =>
      (await context.org.get(publisherPath(context))).body.data.name === "B",
  },
  "deletes a record": {
    ...ofPublisher,
    request: (context) => context.org.delete(publisherPath(context)),
    isDone: async (context) => (await context.org.get(publisherPath(context))).status === 404,
  },
  "removes a product from a program": {
    table: "publishing_program_products",
    columns: "organization_id, program_id, product_id",
    id: ({ id }) => `product_id = '${id}'`,
    prepare: (context) => context.org.put(`${programPath(context)}/${context.id}`, undefined),
    request: (context) => context.org.delete(`${programPath(context)}/${context.id}`),
    isDone: async (context) => (await context.org.get(programPath(context))).body.data.length === 0,
  },
};

race(
  "SQL of an older transaction cannot change a product that a later one has changed",
  async ({ app, it }) => {
    const writes: Record<string, (sql: Sql, org: Organization, id: string) => Promise<unknown>> = {
      "updates it": async (sql, _, id) =>
        await sql`update products set page_count = 7 where id = ${id}`,
      "inserts a row of it": async (sql, org, id) =>
        await sql`
          insert into product_sales_rights (organization_id, product_id, sales_rights_type)
          values (${org.id}, ${id}, '01')
        `,
      "deletes it": async (sql, _, id) => await sql`delete from products where id = ${id}`,
      "inserts it again": async (sql, org, id) => {
        // The transaction is repeated when it is refused.
        await org.post(`/api/products/${id}/restore`, {});
        await org.delete(`/api/products/${id}`);
        await sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'x')`;
      },
    };
    for (const [name, write] of Object.entries(writes)) {
      await it(`that ${name}`, async () => {
        const org = await app.organization();
        const { id, path } = await org.create({ page_count: 1 });
        let page_count = 1;

        const refused = await app.sql.begin(async (sql) => {
          await sql`select pg_current_xact_id()`;
          await org.put(path, { page_count: ++page_count });
          await write(sql, org, id);
        }).catch((error) => error);

        assertEquals(refused.code, "40001");
        assertMatch(refused.message, /A later transaction has changed the product/);
        const [newest] = (await org.get(`${path}/history`)).body.data;
        const restored = await org.post(`${path}/restore`, { version: newest.version });
        assertEquals(restored.status, newest.event === "deleted" ? 400 : 200);
        const { body } = await org.get(path);
        assertEquals(body.data?.page_count, newest.event === "deleted" ? undefined : page_count);
        const past = await org.get(`${path}?at=2100-01-01`);
        assertEquals(past.body.data, body.data);

        // A lock before the first write keeps later transactions away.
        await org.post(`${path}/restore`, {});
        await app.sql.begin(async (sql) => {
          await sql`lock table products in exclusive mode`;
          await sql`select pg_current_xact_id()`;
          await sql`update products set page_count = 99 where id = ${id}`;
        });
        assertEquals((await org.get(path)).body.data.page_count, 99);
      });
    }
  },
);

/** SQL that deletes the row and inserts it again with the same key. */
function replacing(
  { table, columns, id }: OnReplaced,
  context: Context,
  lock: boolean,
): string {
  return `
    ${lock ? `lock table ${table} in exclusive mode;` : ""}
    with gone as (delete from ${table} where ${id(context)} returning *)
    insert into ${table} (${columns}) select ${columns} from gone
  `;
}

/** Whether the request, or its operation in a batch, is refused as `sql/README.md` says. */
function isRefused(status: number, text: string, what: string): boolean {
  return [409, 503].includes(status) || /"status":(409|503)/.test(text) ||
    what === "updates a record" && status === 404;
}

/** Whether a session of the database waits for the event, or for one of this type. */
async function waitsFor(app: App, event: string): Promise<boolean> {
  const { count } = await app.sql`
    select from pg_stat_activity
    where datname = current_database() and ${event} in (wait_event_type, wait_event)
  `;
  return count > 0;
}

async function rename(app: App, org: Organization, n: number): Promise<void> {
  await app
    .sql`update publishers set name = ${`${n}`} where id = ${org.publisher}`;
}

async function label(app: App, n: number): Promise<void> {
  await app
    .sql`update onix_codes set label = ${`${n}`} where list = 46 and code = '01'`;
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
