import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { Copy } from "../support/client/copy.ts";
import { createFullProduct } from "../support/data/full_product.ts";
import { openOwnApp } from "../support/app/own_app.ts";
import {
  assertBuilt,
  assertShows,
  read,
  store,
} from "../support/client/stored.ts";

const REPLICA = "set local session_replication_role = replica";

/** Writes of the row `p.id = '…'` that do not set `updated_at` themselves. */
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

Deno.test("The next response shows an SQL write of a product", async (t) => {
  await using app = await openOwnApp();
  const { sql } = app;

  for (const [way, change] of Object.entries(OF_PRODUCTS)) {
    await t.step(`that ${way}`, async () => {
      const org = await app.organization();
      const { id } = await createFullProduct(app, org);
      const changing = () => sql.unsafe(change(id));

      await assertShows({ app, org, id }, changing, way);
    });
  }

  for (
    const [who, text] of Object.entries({
      "in a transaction": "",
      "by a replica": `${REPLICA}; `,
    })
  ) {
    await t.step(`that is deleted and inserted ${who}`, async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      await store(app, org, id);

      await sql.unsafe(
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
    "that is deleted and inserted in one statement",
    async () => {
      const org = await app.organization();
      const { id, path } = await org.create();
      await store(app, org, id);

      await sql.unsafe(
        `with gone as (delete from products where id = '${id}' returning *)
      insert into products (organization_id, id, title, created_at, updated_at)
      select organization_id, id, 'Other', created_at, updated_at from gone`,
      );

      assertEquals((await org.get(path)).body.data.title, "Other");
    },
  );

  await t.step("that gets another id", async () => {
    const org = await app.organization();
    const { id, product } = await org.create();
    const other = uuidv7();
    await store(app, org, id);

    await sql.unsafe(
      `update products set id = '${other}' where id = '${id}'`,
    );

    assertEquals((await org.get(`/api/products/${id}`)).status, 404);
    const { body } = await org.get(`/api/products/${other}`);
    assert(body.data.updated_at > product.updated_at);
    await assertBuilt(app, org);
  });

  await t.step("whose updated_at is infinite", async () => {
    const org = await app.organization();
    const { id, path, product } = await org.create();
    await sql.unsafe(
      `update products set updated_at = 'infinity' where id = '${id}'`,
    );

    for (const title of ["First", "Second"]) {
      await store(app, org, id);
      await sql.unsafe(
        `update products set title = '${title}' where id = '${id}'`,
      );

      const { data } = await read(app, org, path);
      assertEquals(data.title, title);
      assert(data.updated_at > product.updated_at);
    }
  });

  await t.step("that is inserted at -infinity and updated", async () => {
    const org = await app.organization();
    const id = uuidv7();
    await sql.unsafe(
      `insert into products (organization_id, id, title, updated_at) values ('${org.id}', '${id}', 'Loaded', '-infinity')`,
    );
    await store(app, org, id);

    await sql.unsafe(
      `update products set title = 'Written' where id = '${id}'`,
    );

    const { data } = await read(app, org, `/api/products/${id}`);
    assertEquals(data.title, "Written");
    assert(data.updated_at);
  });

  for (const time of ["infinity", "-infinity"]) {
    await t.step(`that is inserted at ${time}`, async () => {
      const org = await app.organization();
      const id = uuidv7();
      await sql.unsafe(
        `insert into products (organization_id, id, title, updated_at) values ('${org.id}', '${id}', 'Loaded', '${time}')`,
      );
      const copy = new Copy({
        async get(path) {
          const { status, text } = await read(app, org, path);
          return { status, body: JSON.parse(text) };
        },
      }, app);
      const first = await copy.catchUp();

      const { status, body } = await org.put(`/api/products/${id}`, {
        title: "Written",
      });

      const next = await copy.catchUp();
      assertEquals(status, 200);
      assert(body.data.updated_at);
      assertEquals(
        [...first, ...next].map(({ product }) => product!.title),
        ["Loaded", "Written"],
      );
      await assertBuilt(app, org);
    });
  }

  await t.step(
    "that is inserted with its rows, and is written once",
    async () => {
      const org = await app.organization();
      const id = uuidv7();

      await sql.unsafe(
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
