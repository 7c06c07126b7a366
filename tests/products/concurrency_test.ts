import { assert, assertEquals } from "@std/assert";
import { brokenConstraint } from "../../db/connections/errors.ts";
import { assertHas } from "../support/client/expect.ts";
import {
  type App,
  openApp,
  type Organization,
} from "../support/app/harness.ts";
import { eventually } from "../support/app/eventually.ts";
import { operationsIn } from "../support/app/own_app.ts";
import { script } from "../support/sql/script.ts";
import { addToProgram } from "../support/sql/program.ts";
import { TIMED } from "../support/app/deadline.ts";

const ROUNDS = 12;

Deno.test("Concurrent requests", TIMED, async (t) => {
  await using app = await openApp();
  const { sql } = app;
  const roles = await sql<
    { id: string }[]
  >`select id from contributor_roles order by code limit 6`;

  /** Contributors for a product, starting with the i-th. */
  const contributors = (org: Organization, i: number, count = 3) =>
    Array.from({ length: count }, (_, j) => ({
      contributor_id: org.contributor,
      contributor_role_id: roles[(i + j) % roles.length]!.id,
    }));

  await t.step(
    "keep each other's changes to the same product",
    async () => {
      const org = await app.organization();
      const { path } = await org.create();
      const values = {
        subtitle: ["a", "b", "c"],
        title: ["a", "b", "c"],
        product_type: ["kit", "indent", "charge"],
        page_count: [1, 2, 3],
        season_id: [org.season, org.season, org.season],
        publisher_id: [org.publisher, org.publisher, org.publisher],
        cover_image_url: ["http://a", "http://b", "http://c"],
      };
      const bodies = [0, 1, 2].flatMap((i) =>
        Object.entries(values).map(([field, values]) => ({
          [field]: values[i],
        }))
      );

      const replies = await Promise.all(
        bodies.map((body) => org.put(path, body)),
      );

      for (const { status } of replies) assertEquals(status, 200);
      const { body: { data } } = await org.get(path);
      for (const [field, given] of Object.entries(values)) {
        assert(given.includes(data[field] as never), field);
      }
    },
  );

  await t.step("leave the complete array of one request", async () => {
    const org = await app.organization();
    const { path } = await org.create();
    const sets = Array.from({ length: ROUNDS }, (_, i) => contributors(org, i));

    const replies = await Promise.all(
      sets.map((contributors) => org.put(path, { contributors })),
    );

    for (const [i, { status, body }] of replies.entries()) {
      assertEquals(status, 200);
      assertHas(body.data.contributors, sets[i]);
    }
    const { body: { data } } = await org.get(path);
    const left = data.contributors.map(roleOf).join();
    assert(sets.some((set) => set.map(roleOf).join() === left));
  });

  await t.step("count a product once, with its final values", async () => {
    const org = await app.organization();
    const { id, path } = await org.create();
    const statuses = await sql<
      { id: string }[]
    >`select id from lifecycle_statuses order by code`;
    const bodies = statuses.map(({ id: lifecycle_status_id }, i) => ({
      lifecycle_status_id,
      format_id: i % 2 ? org.format : null,
    }));

    const operations = app.database.for({
      deadline: performance.now() + 10_000,
    });
    const replies = await script(operations, async (sql) => {
      await sql`select from products where organization_id = ${org.id} and id = ${id} for update`;
      const replies = bodies.map((body) => org.put(path, body));
      // The requests have arrived, and wait for the product or for the session.
      await eventually(bodies.length + 1, () => operationsIn(app));
      return () => Promise.all(replies);
    });

    for (const { status } of await replies()) assertEquals(status, 200);
    const { body: { data } } = await org.get(path);
    const filters = [
      ["format_id", org.format],
      ...statuses.map(({ id }) => ["lifecycle_status_id", id]),
    ];
    for (const [field = "", id] of filters) {
      const { body } = await org.get(`/api/products?${field}=${id}`);
      assertEquals(body.meta.total, data[field] === id ? 1 : 0, field);
    }
  });

  await t.step("share records of an organization in any order", async () => {
    const org = await app.organization();
    const { path: one } = await org.create({ format_id: org.format });
    const { path: two } = await org.create({ format_id: org.format });
    const forms = await sql<
      { id: string }[]
    >`select id from product_forms order by code limit 2`;
    const collections = [
      { collection_id: org.collection },
      { collection_id: org.series },
    ];
    const body = (i: number) => ({
      product_form_id: forms[i % 2]!.id,
      contributors: i % 2
        ? contributors(org, i, 6)
        : contributors(org, i, 6).toReversed(),
      product_collections: i % 2 ? collections : collections.toReversed(),
    });

    const replies = await Promise.all(
      Array.from(
        { length: ROUNDS },
        (_, i) => [
          org.put(one, body(i)),
          org.put(two, body(i + 1)),
          org.create({ format_id: org.format, ...body(i) }),
        ],
      ).flat(),
    );

    assertEquals(replies.length, 3 * ROUNDS);
    for (const reply of replies) {
      if ("status" in reply) assertEquals(reply.status, 200);
    }
    assertEquals((await org.get("/api/products")).body.meta.total, 2 + ROUNDS);
  });

  await t.step("change a row or report it as unknown", async () => {
    const org = await app.organization();

    for (let i = 0; i < ROUNDS; i++) {
      const { path, product } = await org.create({
        product_prices: [{ currency_code: "GBP" }],
      });
      const [{ id }] = product.product_prices;
      const [changed, emptied] = await Promise.all([
        org.put(path, {
          product_prices: [{ id, list_price: 1 }, { currency_code: "EUR" }],
        }),
        org.put(path, { product_prices: [] }),
      ]);

      assertEquals(emptied.status, 200);
      assert([200, 400].includes(changed.status));
      assertEquals((await org.get(path)).body.data.product_prices, []);
    }
  });

  await t.step("delete a product or add it to a program", async () => {
    const org = await app.organization();
    let kept = 0;

    for (let i = 0; i < ROUNDS; i++) {
      const { id, path } = await org.create();
      const [{ status, body }, linked] = await Promise.all([
        org.delete(path),
        succeeds(addToProgram(app, org, id)),
      ]);

      assertEquals(status, linked ? 409 : 200);
      assertEquals(body.data?.deleted, linked ? undefined : true);
      assertEquals((await org.get(path)).status, linked ? 200 : 404);
      if (linked) kept++;
    }
    assertEquals((await org.get("/api/products")).body.meta.total, kept);
  });

  await t.step("delete a product once, with all its rows", async () => {
    const org = await app.organization();

    for (let i = 0; i < ROUNDS; i++) {
      const { id, path } = await org.create({ format_id: org.format });
      const [put, first, get, second] = await Promise.all([
        org.put(path, {
          format_id: null,
          contributors: contributors(org, i),
          product_prices: [{ currency_code: "GBP" }],
        }),
        org.delete(path),
        org.get(path),
        org.delete(path),
      ]);

      assert([200, 404].includes(put.status));
      assert([200, 404].includes(get.status));
      assertEquals(
        [first, second].map(({ body }) => body.data.deleted).sort(),
        [false, true],
      );
      const [row] = await sql<{ rows: number }[]>`
        select (
          (select count(*) from product_prices x where x.product_id = ${id}) +
          (select count(*) from product_contributors x where x.product_id = ${id})
        )::int as rows
      `;
      assertEquals(row!.rows, 0);
    }
    const { body } = await org.get(`/api/products?format_id=${org.format}`);
    assertEquals([body.data, body.meta.total], [[], 0]);
  });

  await t.step("refer to a record or report it as unknown", async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const org = await app.organization();
      const { path } = await org.create();
      const [licensed, licenseGone] = await Promise.all([
        org.put(path, { license_id: org.license }),
        succeeds(remove(app, "licenses", org.license)),
      ]);
      const [attached, collectionGone] = await Promise.all([
        org.put(path, {
          product_collections: [{ collection_id: org.collection }],
        }),
        succeeds(remove(app, "collections", org.collection)),
      ]);

      assertEquals(licensed.status, licenseGone ? 400 : 200);
      assertEquals(attached.status, collectionGone ? 400 : 200);
    }
  });
});

function roleOf(link: { contributor_role_id: string }): string {
  return link.contributor_role_id;
}

async function remove(app: App, table: string, id: string): Promise<void> {
  await app.sql`delete from ${app.sql(table)} where id = ${id}`;
}

/** Whether the write succeeded. Foreign keys may reject it. */
async function succeeds(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (brokenConstraint(error)) return false;
    throw error;
  }
}
