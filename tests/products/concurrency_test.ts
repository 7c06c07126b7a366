import { assert, assertEquals } from "@std/assert";
import { brokenConstraint } from "../../db/connections/errors.ts";
import { idOfCode } from "../../schema/code_ids.ts";
import { assertHas } from "../support/client/expect.ts";
import { type App, openApp, SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { eventually } from "../support/app/eventually.ts";
import { operationsIn } from "../support/app/own_app.ts";
import { script } from "../support/sql/script.ts";
import { addToProgram } from "../support/sql/program.ts";

const ROUNDS = 12;

const ROLES = ["A01", "A02", "A03", "A12", "B01", "E07"]
  .map((role) => idOfCode("17", role));

/** Contributors for a product, starting with the i-th role. */
function contributors(org: Organization, i: number, count = 3) {
  return Array.from({ length: count }, (_, j) => ({
    contributor_id: org.contributor,
    contributor_role_id: ROLES[(i + j) % ROLES.length]!,
  }));
}

const it = testsOf("Concurrent requests");

it("keep each other's changes to the same product", async ({ org }) => {
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
    Object.entries(values).map(([field, values]) => ({ [field]: values[i] }))
  );

  const replies = await Promise.all(
    bodies.map((body) => org.put(path, body)),
  );

  for (const { status } of replies) assertEquals(status, 200);
  const { body: { data } } = await org.get(path);
  for (const [field, given] of Object.entries(values)) {
    assert(given.includes(data[field] as never), field);
  }
});

it("leave the complete array of one request", async ({ org }) => {
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

it("count a product once, with its final values", async ({ org, app, sql }) => {
  const { id, path } = await org.create();
  const statuses = await sql<
    { id: string }[]
  >`select id from lifecycle_statuses order by code`;
  const bodies = statuses.map(({ id: lifecycle_status_id }, i) => ({
    lifecycle_status_id,
    format_id: i % 2 ? org.format : null,
  }));

  const operations = app.database.for({ deadline: performance.now() + 60_000 });
  const replies = await script(operations, async (sql) => {
    await sql`select from products where organization_id = ${org.id} and id = ${id} for update`;
    const replies = bodies.map((body) => org.put(path, body));
    // The requests have arrived, and wait for the product or for the session. On a busy
    // machine, the look-up of their key may be the only operation that waits.
    const late = performance.now() + 1_000;
    await eventually(
      true,
      () => operationsIn(app) > bodies.length || performance.now() > late,
    );
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

it("share records of an organization in any order", async ({ org }) => {
  const { path: one } = await org.create({ format_id: org.format });
  const { path: two } = await org.create({ format_id: org.format });
  const forms = ["BB", "BC"].map((form) => idOfCode("150", form));
  const collections = [
    { collection_id: org.collection },
    { collection_id: org.series },
  ];
  const body = (i: number) => ({
    product_form_id: forms[i % 2]!,
    contributors: i % 2 ? contributors(org, i, 6) : contributors(org, i, 6).toReversed(),
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

it("change a row or report it as unknown", async ({ org }) => {
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

// The embedded database has only one connection.
it("have versions in the order in which they change a product", async ({ org, sql }) => {
  const ends = { update: "changed", delete: "deleted", restore: "restored" };
  for (const [method, event] of Object.entries(ends)) {
    const [first, second, { id, path }] = [
      await org.create(),
      await org.create(),
      await org.create(),
    ];
    const [{ version }] = (await org.get(`${path}/history`)).body.data;
    const body = { subtitle: "By a batch" };
    const last = { update: { body }, delete: {}, restore: { version } }[method];
    let batch: ReturnType<Organization["batch"]> | undefined;
    await using holder = await openApp();

    await holder.sql.begin(async (held) => {
      const [session] = await held<{ pid: number }[]>`
        select pg_backend_pid() as pid from products
        where organization_id = ${org.id} and id = ${second.id}
        for update
      `;
      batch = org.batch([
        { method: "update", id: first.id, body },
        { method: "update", id: second.id, body },
        { method, id, ...last },
      ]);
      // It has its version, that of the transaction that has locked the first product.
      await eventually(true, async () => {
        const waiting = await sql`
          select from pg_stat_activity where ${session!.pid} = any(pg_blocking_pids(pid))
        `;
        return waiting.length > 0;
      });
      await org.put(path, { subtitle: "By a request" });
      if (method === "restore") await org.delete(path);
    });

    const { body: { data: results } } = await batch!;
    assertEquals(results.map(({ status }: { status: number }) => status), [200, 200, 200]);
    const { body: { data: [newest, before] } } = await org.get(`${path}/history`);
    assertEquals(newest.event, event);
    assert(newest.at > before.at);
    const now = await org.get(path);
    const then = await org.get(`${path}?at=${newest.at}`);
    assertEquals([then.status, then.body.data], [now.status, now.body.data]);
    const { body: { data: deleted } } = await org.get("/api/products/deleted");
    assertEquals(deleted.some((one: { id: string }) => one.id === id), method === "delete");
  }
}, { ignore: !SETTINGS.url });

it("delete a product or add it to a program", async ({ org, app }) => {
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

it("delete a product once, with all its rows", async ({ org, sql }) => {
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

it("refer to a record or report it as unknown", async ({ app }) => {
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
