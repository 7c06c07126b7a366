import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import { Copy } from "../support/client/copy.ts";
import {
  type App,
  openApp,
  type Organization,
} from "../support/app/harness.ts";

const PATH = "/api/products/changes";

Deno.test("GET /products/changes", async (t) => {
  await using app = await openApp();

  await t.step("without a cursor", (t) => beginning(t, app));
  await t.step("from a cursor", (t) => following(t, app));
  await t.step({
    name: "lists SQL changes",
    ignore: app.isDistributed,
    fn: (t) => scripts(t, app),
  });
  await t.step("invalid parameters", (t) => refusals(t, app));
});

/** A product as listed in the feed and in a copy. */
async function followed(app: App) {
  const org = await app.organization();
  const { id, path } = await org.create();
  const copy = new Copy(org, app);
  await copy.catchUp();
  return { org, id, path, copy };
}

async function beginning(t: Deno.TestContext, app: App) {
  const { sql } = app;
  await t.step("returns an empty page of an empty catalogue", async () => {
    const org = await app.organization();

    const { body } = await org.get(PATH);

    assertEquals(body.data, []);
    assertEquals(body.meta.more, false);
  });

  await t.step("returns no deletion that is older than a change", async () => {
    const org = await app.organization();
    for (let i = 0; i < 2; i++) {
      const { path } = await org.create();
      await org.delete(path);
    }
    const { id } = await org.create();

    const changes = await new Copy(org, app).catchUp();

    assertEquals(changes.map((change) => change.id), [id]);
  });

  await t.step("returns products as in lists", async () => {
    const { org, id, copy } = await followed(app);

    const { body } = await org.get(`${PATH}?include=sales_rights`);

    await copy.assertComplete();
    const [change] = body.data;
    assertEquals([change.id, change.deleted], [id, false]);
    assertEquals(change.updated_at, change.product.updated_at);
    assertEquals(change.product.product_sales_rights, []);
  });

  await t.step("returns each product once across pages", async () => {
    const org = await app.organization();
    for (let i = 0; i < 7; i++) await org.create({ title: `Emma ${i}` });
    const copy = new Copy(org, app);

    const changes = await copy.catchUp("limit=3");

    assertEquals(changes.length, 7);
    await copy.assertComplete();
  });

  await t.step({
    name: "stores the JSON that it had to build",
    // It stores none.
    ignore: app.isDistributed,
    async fn() {
      const org = await app.organization();
      for (const title of ["Emma", "Persuasion"]) await org.create({ title });
      await sql`delete from product_documents where organization_id = ${org.id}`;
      const copy = new Copy(org, app);

      assertEquals((await copy.catchUp()).length, 2);

      await eventually(2, () =>
        sql.begin(async (sql) => {
          const stored = await sql`
            select from product_documents where organization_id = ${org.id}
          `;
          return stored.length;
        }));
    },
  });

  await t.step("returns each product of one transaction once", async () => {
    const org = await app.organization();
    await sql`
      insert into products (organization_id, title)
      select ${org.id}, 'Emma ' || n from generate_series(1, 25) n
    `;
    const copy = new Copy(org, app);

    const changes = await copy.catchUp("limit=10");

    assertEquals(changes.length, 25);
    await copy.assertComplete();
  });

  await t.step("omits products deleted before", async () => {
    const org = await app.organization();
    for (const { path } of [await org.create(), await org.create()]) {
      await org.delete(path);
    }

    assertEquals(await new Copy(org, app).catchUp(), []);
  });

  await t.step("returns 410 for a cursor of another organization", async () => {
    const { org } = await followed(app);
    const { copy } = await followed(app);

    const { status, body } = await org.get(`${PATH}?after=${copy.cursor}`);

    assertEquals([status, body.error?.code], [410, "CURSOR_EXPIRED"]);
  });

  await t.step("omits products of other organizations", async () => {
    const { org, path } = await followed(app);
    const other = await followed(app);
    await org.put(path, { title: "Persuasion" });
    await org.delete(path);

    assertEquals(await other.copy.catchUp(), []);
    const late = await new Copy(other.org, app).catchUp();
    assertEquals(late.map((change) => change.id), [other.id]);
  });
}

async function following(t: Deno.TestContext, app: App) {
  await t.step("returns nothing if nothing has changed", async () => {
    const { copy } = await followed(app);

    assertEquals(await copy.catchUp(), []);
    assertEquals(await copy.catchUp(), []);
  });

  await t.step("returns created, updated and deleted products", async () => {
    const { org, id, path, copy } = await followed(app);
    const kept = await org.create();
    await org.put(kept.path, { title: "Persuasion" });
    await org.delete(path);

    const changes = await copy.catchUp();

    assertEquals(
      changes.map(({ id, deleted, product }) => [id, deleted, product?.title]),
      [[kept.id, false, "Persuasion"], [id, true, undefined]],
    );
    await copy.assertComplete();
  });

  await t.step("returns a product with changed nested rows", async () => {
    const { org, id, path, copy } = await followed(app);
    await org.put(path, { product_prices: [{ currency_code: "USD" }] });

    assertEquals((await copy.catchUp()).map((change) => change.id), [id]);
  });

  await t.step("omits empty and refused updates", async () => {
    const { org, path, copy } = await followed(app);
    await org.put(path, {});
    await org.put(path, { title: "Persuasion", license_id: uuidv7() });

    assertEquals(await copy.catchUp(), []);
  });

  await t.step(
    "returns a deletion between the first page and the next",
    async () => {
      const org = await app.organization();
      const { path } = await org.create();
      for (let i = 0; i < 3; i++) await org.create();
      const copy = new Copy(org, app);
      await copy.read("limit=2");
      await org.delete(path);

      await copy.catchUp("limit=2");

      await copy.assertComplete();
    },
  );
}

async function scripts(t: Deno.TestContext, app: App) {
  const { sql } = app;
  await t.step("deletions across pages", async () => {
    const org = await app.organization();
    await sql`
      insert into products (organization_id, title)
      select ${org.id}, 'Emma' from generate_series(1, 1500)
    `;
    const copy = new Copy(org, app);
    await copy.catchUp("limit=1000");
    await sql`delete from products where organization_id = ${org.id}`;

    const changes = await copy.catchUp("limit=1000");

    assertEquals(changes.length, 1500);
    assertEquals(copy.products.size, 0);
  });

  type Script = (org: Organization, id: string) => PromiseLike<unknown>;
  const changes: Record<string, Script> = {
    "an update": (org, id) =>
      sql`update products set title = 'By SQL' where organization_id = ${org.id} and id = ${id}`,
    "an update that sets the version": (org, id) =>
      sql`update products set title = 'By SQL', change_version = 1 where organization_id = ${org.id} and id = ${id}`,
    "an update that sets only the version": (org, id) =>
      sql`update products set change_version = 999999999999 where organization_id = ${org.id} and id = ${id}`,
    "an insertion that sets the version": (org) =>
      sql`insert into products (organization_id, title, change_version) values (${org.id}, 'By SQL', 1)`,
    "an upsert": (org, id) =>
      sql`
        insert into products (organization_id, id, title) values (${org.id}, ${id}, 'By SQL')
        on conflict (organization_id, id) do update set title = excluded.title
      `,
    "a nested row": (org, id) =>
      sql`
        insert into product_prices (organization_id, product_id, id, position, currency_code)
        values (${org.id}, ${id}, gen_random_uuid(), 0, 'USD')
      `,
    "sales rights": (org, id) =>
      sql`
        insert into product_sales_rights (organization_id, product_id, id, position, sales_rights_type)
        values (${org.id}, ${id}, gen_random_uuid(), 0, '01')
      `,
    "a deletion": (org, id) =>
      sql`delete from products where organization_id = ${org.id} and id = ${id}`,
    "another id": (org, id) =>
      sql.begin(async (sql) => {
        await sql`delete from product_documents where organization_id = ${org.id} and product_id = ${id}`;
        await sql`update products set id = gen_random_uuid() where organization_id = ${org.id} and id = ${id}`;
      }),
    "a deletion, and the same product again": (org, id) =>
      sql.begin(async (sql) => {
        await sql`delete from products where organization_id = ${org.id} and id = ${id}`;
        await sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'Again')`;
      }),
    "a product that came and went": (org, id) =>
      sql.begin(async (sql) => {
        await sql`insert into products (organization_id, id, title) values (${org.id}, ${org.id}, 'Brief')`;
        await sql`delete from products where organization_id = ${org.id} and id in (${id}, ${org.id})`;
      }),
    "two savepoints": (org, id) =>
      sql.begin(async (sql) => {
        await sql`savepoint a`;
        await sql`update products set title = 'Lost' where organization_id = ${org.id} and id = ${id}`;
        await sql`rollback to a`;
        await sql`savepoint b`;
        await sql`update products set title = 'Kept' where organization_id = ${org.id} and id = ${id}`;
        await sql`release b`;
      }),
    "a deletion before an upsert over the API": async (org, id) => {
      await sql`delete from products where organization_id = ${org.id} and id = ${id}`;
      await sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'Again')`;
      await org.put(`/api/products/${id}`, { title: "And again" });
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    await t.step(what, async () => {
      const { org, id, copy } = await followed(app);

      await change(org, id);

      assert((await copy.catchUp("limit=1")).length > 0);
      await copy.assertComplete();
      const late = new Copy(org, app);
      await late.catchUp("limit=1");
      await late.assertComplete();
    });
  }
}

async function refusals(t: Deno.TestContext, app: App) {
  const { org, copy } = await followed(app);
  const fields = decoded(copy.cursor!);

  for (
    const after of [
      "",
      "x",
      "%00",
      encoded(["x", ...fields.slice(1)]),
      `${copy.cursor}AAAA`,
      `${copy.cursor}!!`,
      // Quadratic time would take minutes.
      `${"=".repeat(1_000_000)}x`,
      `${copy.cursor!.slice(0, 9)}.${copy.cursor!.slice(9)}`,
    ]
  ) {
    await t.step(
      `returns 400 for the invalid cursor "${after.slice(0, 20)}"`,
      async () => {
        const { status, body } = await org.get(`${PATH}?after=${after}`);

        assertEquals(status, 400);
        assertEquals(body.error.details[0].parameter, "after");
        assertEquals(body.error.details[0].code, "invalid_cursor");
      },
    );
  }

  const [origin, version, id, start, issuedAt, organization] = fields;
  const month = 31 * 86_400_000;
  const expired = {
    "of another database": [uuidv7(), ...fields.slice(1)],
    "of another organization": [...fields.slice(0, 5), uuidv7()],
    "of a release whose cursors did not name it": fields.slice(0, 5),
    "older than 30 days": [
      origin,
      version,
      id,
      start,
      String(Number(issuedAt) - month),
      organization,
    ],
    "ahead of all transactions": [origin, "9".repeat(15), ...fields.slice(2)],
  };
  for (const [what, fields] of Object.entries(expired)) {
    await t.step(`returns 410 for a cursor ${what}`, async () => {
      const { status, body } = await org.get(
        `${PATH}?after=${encoded(fields)}`,
      );

      assertEquals([status, body.error.code], [410, "CURSOR_EXPIRED"]);
    });
  }

  await t.step("accepts a cursor that is almost 30 days old", async () => {
    const fields = [
      origin,
      version,
      id,
      start,
      String(Number(issuedAt) - month + 2 * 86_400_000),
      organization,
    ];

    const { status } = await org.get(`${PATH}?after=${encoded(fields)}`);

    assertEquals(status, 200);
  });

  await t.step("ages a cursor until the client reaches the end", async () => {
    const org = await app.organization();
    for (let i = 0; i < 3; i++) await org.create();
    await new Copy(org, app).catchUp();
    const slow = new Copy(org, app);
    const quick = new Copy(org, app);
    await slow.read("limit=1");
    await quick.catchUp();

    using _ = clockAhead(29 * 86_400_000);
    await slow.read("limit=1");
    await quick.read();
    using _later = clockAhead(2 * 86_400_000);
    const [late, current] = [
      await org.get(`${PATH}?limit=1&after=${slow.cursor}`),
      await org.get(`${PATH}?after=${quick.cursor}`),
    ];

    assertEquals([late.status, late.body.error?.code], [410, "CURSOR_EXPIRED"]);
    assertEquals(current.status, 200);
  });

  await t.step("returns 400 for other parameters", async () => {
    const { status, body } = await org.get(`${PATH}?limit=0&page=2`);

    assertEquals(status, 400);
    assertEquals(body.error.details.length, 2);
  });
}

function decoded(cursor: string): string[] {
  return atob(cursor.replaceAll("-", "+").replaceAll("_", "/")).split(" ");
}

function encoded(fields: (string | undefined)[]): string {
  return btoa(fields.join(" ")).replaceAll("=", "").replaceAll("+", "-")
    .replaceAll("/", "_");
}
