import { assert, assertEquals } from "@std/assert";
import { uuidv7 } from "../../db/uuid.ts";
import type { Session } from "../support/sql/script.ts";
import { clockAhead } from "../support/app/clock.ts";
import { eventually } from "../support/app/eventually.ts";
import { Copy } from "../support/client/copy.ts";
import { type App, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

const PATH = "/api/products/changes";

const DAY = 86_400_000;

/** A product as listed in the feed and in a copy. */
async function followed(app: App, org: Organization) {
  const { id, path } = await org.create();
  const copy = new Copy(org, app);
  await copy.catchUp();
  return { id, path, copy };
}

type Script = (
  sql: Session,
  org: Organization,
  id: string,
) => PromiseLike<unknown>;
const CHANGES: Record<string, Script> = {
  "an update": (sql, org, id) =>
    sql`update products set title = 'By SQL' where organization_id = ${org.id} and id = ${id}`,
  "an update that sets the version": (sql, org, id) =>
    sql`update products set title = 'By SQL', change_version = 1 where organization_id = ${org.id} and id = ${id}`,
  "an update that sets only the version": (sql, org, id) =>
    sql`update products set change_version = 999999999999 where organization_id = ${org.id} and id = ${id}`,
  "an insertion that sets the version": (sql, org) =>
    sql`insert into products (organization_id, title, change_version) values (${org.id}, 'By SQL', 1)`,
  "an upsert": (sql, org, id) =>
    sql`
      insert into products (organization_id, id, title) values (${org.id}, ${id}, 'By SQL')
      on conflict (organization_id, id) do update set title = excluded.title
    `,
  "a nested row": (sql, org, id) =>
    sql`
      insert into product_prices (organization_id, product_id, id, position, currency_code)
      values (${org.id}, ${id}, gen_random_uuid(), 0, 'USD')
    `,
  "sales rights": (sql, org, id) =>
    sql`
      insert into product_sales_rights (organization_id, product_id, id, position, sales_rights_type)
      values (${org.id}, ${id}, gen_random_uuid(), 0, '01')
    `,
  "a deletion": (sql, org, id) =>
    sql`delete from products where organization_id = ${org.id} and id = ${id}`,
  "a deletion, and the same product again": (sql, org, id) =>
    sql.begin(async (sql) => {
      await sql`delete from products where organization_id = ${org.id} and id = ${id}`;
      await sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'Again')`;
    }),
  "a product that came and went": (sql, org, id) =>
    sql.begin(async (sql) => {
      await sql`insert into products (organization_id, id, title) values (${org.id}, ${org.id}, 'Brief')`;
      await sql`delete from products where organization_id = ${org.id} and id in (${id}, ${org.id})`;
    }),
  "two savepoints": (sql, org, id) =>
    sql.begin(async (sql) => {
      await sql`savepoint a`;
      await sql`update products set title = 'Lost' where organization_id = ${org.id} and id = ${id}`;
      await sql`rollback to a`;
      await sql`savepoint b`;
      await sql`update products set title = 'Kept' where organization_id = ${org.id} and id = ${id}`;
      await sql`release b`;
    }),
  "a deletion before an upsert over the API": async (sql, org, id) => {
    await sql`delete from products where organization_id = ${org.id} and id = ${id}`;
    await sql`insert into products (organization_id, id, title) values (${org.id}, ${id}, 'Again')`;
    await org.put(`/api/products/${id}`, { title: "And again" });
  },
};

/** The ways in which a product is deleted. */
const DELETIONS: Record<
  string,
  (org: Organization, sql: Session, id: string) => PromiseLike<unknown>
> = {
  "over the API": (org, _, id) => org.delete(`/api/products/${id}`),
  "by SQL": (org, sql, id) =>
    sql`delete from products where organization_id = ${org.id} and id = ${id}`,
};

const it = testsOf("GET /products/changes");

it("returns what has changed since the cursor, and nothing else", async ({ org, app }) => {
  const { body } = await org.get(PATH);
  assertEquals([body.data, body.meta.more], [[], false]);
  for (let i = 0; i < 2; i++) await org.delete((await org.create()).path);
  assertEquals(await new Copy(org, app).catchUp(), []);
  const { id, path, copy } = await followed(app, org);
  const another = await app.organization();
  const other = await followed(app, another);
  const late = new Copy(org, app);
  const changed = async (of: Copy) =>
    (await of.catchUp()).map(({ id, deleted, product }) => deleted ? [id] : [id, product!.title]);
  assertEquals(await changed(late), [[id, "Emma"]]);
  assertEquals(await changed(copy), []);

  await org.put(path, { product_prices: [{ currency_code: "USD" }] });
  assertEquals(await changed(copy), [[id, "Emma"]]);
  await org.put(path, {});
  await org.put(path, { title: "Persuasion", license_id: uuidv7() });
  assertEquals(await changed(copy), []);
  const kept = await org.create();
  await org.put(kept.path, { title: "Persuasion" });
  await org.delete(path);
  assertEquals(await changed(copy), [[kept.id, "Persuasion"], [id]]);
  await copy.assertComplete();

  assertEquals(await changed(other.copy), []);
  assertEquals(await changed(new Copy(another, app)), [[other.id, "Emma"]]);
});

it("returns each product once across pages", async ({ org, app, sql }) => {
  for (let i = 0; i < 7; i++) await org.create({ title: `Emma ${i}` });
  // In one transaction, and so of one version.
  await sql`
    insert into products (organization_id, title)
    select ${org.id}, 'Emma ' || n from generate_series(1, 25) n
  `;
  for (const limit of [3, 10]) {
    const copy = new Copy(org, app);
    assertEquals((await copy.catchUp(`limit=${limit}`)).length, 32);
    await copy.assertComplete();
  }
});

for (const [door, remove] of Object.entries(DELETIONS)) {
  it(`names what others know a product by that is deleted ${door}`, async ({ org, app, sql }) => {
    const { id, path, copy } = await followed(app, org);
    const { body } = await org.put(path, { isbn13: "9780141439587" });
    await sql`
      insert into onix_records (
        organization_id, product_id, record_reference, product_updated_at, record, digest
      )
      values (${org.id}, ${id}, 'ref-1', now(), '<Product/>', '')
    `;

    await remove(org, sql, id);

    const [change] = await copy.catchUp();
    assertEquals(change, {
      id,
      deleted: true,
      updated_at: change!.updated_at,
      isbn13: "9780141439587",
      product_code: body.data.product_code,
      record_reference: "ref-1",
    });
  });
}

it("returns products as in lists", async ({ org, app }) => {
  const { id, copy } = await followed(app, org);

  const { body } = await org.get(`${PATH}?include=sales_rights`);

  await copy.assertComplete();
  const [change] = body.data;
  assertEquals([change.id, change.deleted], [id, false]);
  assertEquals(change.updated_at, change.product.updated_at);
  assertEquals(change.product.product_sales_rights, []);
});

it("stores the JSON that it had to build", async ({ org, app, sql }) => {
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
});

it("returns a deletion between the first page and the next", async ({ org, app }) => {
  const { path } = await org.create();
  for (let i = 0; i < 3; i++) await org.create();
  const copy = new Copy(org, app);
  await copy.read("limit=2");
  await org.delete(path);

  await copy.catchUp("limit=2");

  await copy.assertComplete();
});

it("lists SQL deletions across pages", async ({ app, sql }) => {
  if (app.isDistributed) return;
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

for (const [what, change] of Object.entries(CHANGES)) {
  it(`lists what SQL has done: ${what}`, async ({ org, app, sql }) => {
    if (app.isDistributed) return;
    const { id, copy } = await followed(app, org);

    await change(sql, org, id);

    assert((await copy.catchUp("limit=1")).length > 0);
    await copy.assertComplete();
    const late = new Copy(org, app);
    await late.catchUp("limit=1");
    await late.assertComplete();
  });
}

it("returns 400 for an invalid cursor", async ({ org, app }) => {
  const { copy } = await followed(app, org);
  const [origin, ...fields] = decoded(copy.cursor!);
  const invalid = ["", "x", "%00", encoded(["x", ...fields])]
    // Without its organization and timeline, and without the latter.
    .concat([4, 5].map((end) => encoded([origin!, ...fields.slice(0, end)])))
    .concat(`${copy.cursor}AAAA`, `${copy.cursor}!!`)
    // Quadratic time would take minutes.
    .concat(`${"=".repeat(1_000_000)}x`)
    .concat(`${copy.cursor!.slice(0, 9)}.${copy.cursor!.slice(9)}`);
  for (const after of invalid) {
    const { status, body } = await org.get(`${PATH}?after=${after}`);

    assertEquals(status, 400, after.slice(0, 50));
    assertEquals(body.error.details[0].parameter, "after");
    assertEquals(body.error.details[0].code, "invalid_cursor");
  }
});

it("returns 410 for an expired cursor", async ({ org, app }) => {
  const { copy } = await followed(app, org);
  const fields = decoded(copy.cursor!);
  const issued = (days: number) => String(Math.round(Number(fields[4]) - days * DAY));
  const expired = {
    "of another database": fields.with(0, uuidv7()),
    "of another organization": fields.with(5, uuidv7()),
    "older than 30 days": fields.with(4, issued(30.01)),
    "ahead of all transactions": fields.with(1, "9".repeat(15)),
  };
  for (const [what, fields] of Object.entries(expired)) {
    const { status, body } = await org.get(
      `${PATH}?after=${encoded(fields)}`,
    );

    assertEquals([status, body.error?.code], [410, "CURSOR_EXPIRED"], what);
  }
  const young = encoded(fields.with(4, issued(29.99)));
  assertEquals((await org.get(`${PATH}?after=${young}`)).status, 200);
});

it("returns 410 for a cursor at a version that no transaction has had", async ({ org, app, sql }) => {
  const { copy } = await followed(app, org);
  const fields = decoded(copy.cursor!);

  // Other transactions may begin between the two, and make the version a past one.
  await eventually(410, async () => {
    const [horizon] = await sql<{ version: string }[]>`
      select (base + pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text as version
      from change_origins
    `;
    const ahead = encoded(fields.with(1, horizon!.version));
    return (await org.get(`${PATH}?after=${ahead}`)).status;
  });
});

it("ages a cursor until the client reaches the end", async ({ org, app }) => {
  for (let i = 0; i < 3; i++) await org.create();
  await new Copy(org, app).catchUp();
  const slow = new Copy(org, app);
  const quick = new Copy(org, app);
  await slow.read("limit=1");
  await quick.catchUp();

  using _ = clockAhead(29 * DAY);
  await slow.read("limit=1");
  await quick.read();
  using _later = clockAhead(2 * DAY);
  const [late, current] = [
    await org.get(`${PATH}?limit=1&after=${slow.cursor}`),
    await org.get(`${PATH}?after=${quick.cursor}`),
  ];

  assertEquals([late.status, late.body.error?.code], [410, "CURSOR_EXPIRED"]);
  assertEquals(current.status, 200);
});

it("returns 400 for other parameters", async ({ org }) => {
  const { status, body } = await org.get(`${PATH}?limit=0&page=2`);
  const twice = await org.get(`${PATH}?limit=1&limit=2`);

  assertEquals([status, twice.status], [400, 400]);
  assertEquals(body.error.details.length, 2);
  assertEquals(twice.body.error.details[0].code, "duplicate");
});

function decoded(cursor: string): string[] {
  return atob(cursor.replaceAll("-", "+").replaceAll("_", "/")).split(" ");
}

function encoded(fields: string[]): string {
  return btoa(fields.join(" ")).replaceAll("=", "").replaceAll("+", "-")
    .replaceAll("/", "_");
}
