import { assert, assertEquals } from "@std/assert";
import { miscounted } from "../../db/doctor/recount.ts";
import { ONIX_COLUMNS } from "../../schema/lines.ts";
import { FIELDS } from "../../schema/product.ts";
import { SAMPLES } from "../onix/support.ts";
import { TIMED } from "../support/app/deadline.ts";
import { eventually } from "../support/app/eventually.ts";
import { type App, openApp, type Scene, SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp, operationsIn } from "../support/app/own_app.ts";
import { Copy } from "../support/client/copy.ts";
import { onixClient } from "../support/client/onix.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openDemo } from "../support/examples/record.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const still = ({ updated_at: _, ...others }: Any) => others;

/** Whoever changes, deletes and restores all products of an organization. */
type Editor = Pick<Organization, "key" | "get" | "put" | "batch">;

function editorOf(app: App, key: string): Editor {
  const ask = (method: string, path: string, body?: unknown) =>
    app.send(path, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
  return {
    key,
    get: (path) => ask("GET", path),
    put: (path, body) => ask("PUT", path, body),
    batch: (operations, options) => ask("POST", "/api/products/batch", { operations, ...options }),
  };
}

/** What others see of the products: each, its record, both feeds, searches and totals. */
async function seen(app: App, org: Editor, ids: readonly string[], q: string) {
  const onix = onixClient(app, org);
  const bare = (xml: string) => xml.replace(/<SentDateTime>.*?</, "<");
  const products: Any[] = [];
  for (const id of ids) {
    const { body } = await org.get(`/api/products/${id}`);
    products.push([still(body.data), bare(await onix.xml(`/${id}`))]);
  }
  const copy = new Copy(org, app);
  await copy.catchUp("limit=1000");
  const found = async (query: string) => {
    const { body } = await org.get(`/api/products?limit=100&${query}`);
    return [body.meta.total, body.data.map(({ id }: Any) => id).toSorted()];
  };
  const operations = app.database.for({ deadline: Infinity });
  assertEquals((await operations.scan(miscounted)).length, 0);
  return {
    products,
    feed: Array.from(copy.products.values(), still)
      .toSorted((a, b) => a.id < b.id ? -1 : 1),
    onixFeed: (await onix.feed(ids.length)).toSorted(),
    found: [
      await found(`q=${encodeURIComponent(q)}`),
      await found(`search=${encodeURIComponent(q)}`),
      await found(""),
    ],
  };
}

/** Changes all that can be changed of a product. */
async function changeAll(org: Editor, id: string): Promise<void> {
  const path = `/api/products/${id}`;
  const { data } = (await org.get(path)).body;
  const body: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(FIELDS)) {
    // The form belongs to the format, and is not restored.
    if (!(name in data) || name === "product_form_id") continue;
    body[name] = ["rows", "values", "list"].includes(kind) ? [] : null;
  }
  body.title = "Changed";
  for (;;) {
    const { status, body: { error } } = await org.put(path, body);
    if (status === 200) break;
    // What is required, or belongs to a path or a record of its own, stays.
    const names = error.details.map(({ pointer }: Any) => pointer.split("/")[1]);
    assert(names.every((name: string) => delete body[name]), names);
  }
  for (const part of ["territories", "sales-rights"]) {
    await org.put(`${path}/${part}`, []);
  }
}

/** Expects that all products come back after they were changed, and after they were deleted. */
async function assertComeBack(
  app: App,
  org: Editor,
  ids: readonly string[],
  q: string,
): Promise<void> {
  const batch = async (operations: object[]) => {
    for (let i = 0; i < operations.length; i += 50) {
      const part = operations.slice(i, i + 50);
      const { body } = await org.batch(part, { return: "minimal" });
      for (const result of body.data) {
        assertEquals(result.status, 200, JSON.stringify(result));
      }
    }
  };
  const before = await seen(app, org, ids, q);
  const restorations: object[] = [];
  for (const id of ids) {
    const { body } = await org.get(`/api/products/${id}/history?limit=1`);
    const [{ version }] = body.data;
    restorations.push({ method: "restore", id, version });
    await changeAll(org, id);
  }
  await batch(restorations);
  assertEquals(await seen(app, org, ids, q), before);

  await batch(ids.map((id) => ({ method: "delete", id })));
  assertEquals((await org.get("/api/products")).body.meta.total, 0);
  await batch(ids.map((id) => ({ method: "restore", id })));
  assertEquals(await seen(app, org, ids, q), before);

  for (const id of ids) await changeAll(org, id);
  await batch(ids.map((id) => ({ method: "delete", id })));
  await batch(restorations);
  assertEquals(await seen(app, org, ids, q), before);
}

const NO_PROGRAMS = "delete from publishing_program_products";

Deno.test(
  "The demo catalogue comes back after everything was changed and deleted",
  TIMED,
  async () => {
    await using app = await openDemo();
    const key = new Headers(app.callers.key).get("x-api-key")!;
    const org = editorOf(app, key);
    await app.sql.unsafe(NO_PROGRAMS);
    const ids: string[] = [];
    for (let page = 1, more = true; more; page++) {
      const { data } = (await org.get(`/api/products?limit=100&page=${page}`))
        .body;
      ids.push(...data.map(({ id }: Any) => id));
      more = data.length === 100;
    }
    await assertComeBack(app, org, ids, "odyssey");
  },
);

Deno.test({
  ...TIMED,
  name: "The products of an ONIX message come back, and its next copy is unchanged",
  async fn(t) {
    await using app = await openOwnApp();
    let samples = 0;
    for (const { name, url } of SAMPLES) {
      const bytes = await Deno.readFile(url);
      const org = await app.organization();
      const onix = onixClient(app, org);
      const { status, body } = await onix.post(bytes);
      if (status !== 200) continue;
      const ids = new Set<string>();
      for (const { id, outcome } of body.data.outcomes) {
        if (outcome === "created") ids.add(id);
      }
      if (ids.size === 0) continue;
      samples++;
      await t.step(name, async () => {
        const again = await onix.report(bytes);
        const { data } = (await org.get("/api/products")).body;
        await assertComeBack(app, org, [...ids], data[0].title);
        assertEquals(await onix.report(bytes), again);
      });
    }
    assert(samples > 10, `${samples} of ${SAMPLES.length}`);
  },
});

const restores = testsOf("A restoration");

restores("of some fields leaves the others", async ({ org, app }) => {
  const prices = [{ currency_code: "EUR", retail_price: 1 }];
  const { id, path, product } = await org.create({
    title: "A",
    subtitle: "A",
    product_prices: prices,
  });
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  await org.put(path, { title: "B", subtitle: "B", product_prices: [] });
  const fields = ["subtitle", "product_prices"];
  const { body } = await org.batch([{ method: "restore", id, version, fields: ["subtitle"] }]);
  assertEquals([body.data[0].data.title, body.data[0].data.subtitle], ["B", "A"]);
  const { body: { data } } = await org.post(`${path}/restore`, { version, fields });
  assertEquals(
    [data.product.title, data.product.product_prices],
    ["B", product.product_prices],
  );
  assertEquals(data.changes.map(({ pointer }: Any) => pointer), ["/product_prices/0"]);

  const wrong = [[], ["nonsense"], ["publisher_name"], ["created_at"], "title", [1], ["id"]];
  for (const fields of wrong) {
    const { status } = await org.post(`${path}/restore`, { version, fields });
    assertEquals(status, 400, JSON.stringify(fields));
  }
  await org.delete(path);
  const { status, body: { error } } = await org.post(`${path}/restore`, { fields: ["title"] });
  assertEquals([status, error.details[0].pointer], [400, "/fields"]);
  // Without a body, it is the last state.
  const bare = { method: "POST", headers: { "x-api-key": org.key } };
  assertEquals((await app.send(`${path}/restore`, bare)).status, 200);
});

restores("in a batch leaves out what is gone, and is refused alone", async ({ org }) => {
  const { body: { data: publisher } } = await org.post("/api/publishers", { name: "Gone" });
  const products = [];
  for (let n = 0; n < 3; n++) {
    products.push(await org.create({ publisher_id: publisher.id, subtitle: `${n}` }));
  }
  for (const { path } of products) await org.delete(path);
  await org.delete(`/api/publishers/${publisher.id}`);
  const [one, other, third] = products.map(({ id }) => ({ method: "restore", id }));
  const { status, body } = await org.batch([
    { ...one, skip_missing: true },
    other!,
    { ...third, version: "none" },
    { ...third, version: 7, skip_missing: "yes" },
  ]);
  assertEquals(status, 200);
  assertEquals(
    body.data.map(({ status, skipped, error }: Any) => [
      status,
      skipped,
      error?.details.map(({ pointer }: Any) => pointer),
    ]),
    [
      [200, ["/publisher_id"], undefined],
      [400, undefined, ["/publisher_id"]],
      [400, undefined, ["/version"]],
      [400, undefined, ["/version", "/skip_missing"]],
    ],
  );
  assertEquals([body.data[0].data.subtitle, body.data[0].data.publisher_id], ["0", null]);
});

restores(
  "names the references that another product has by now, and brings back those of the last deletion",
  async ({ org, app, sql }) => {
    const onix = onixClient(app, org);
    const sentAs = async (reference: string, isbn: string) =>
      (await onix.report(message(record({ reference, isbn })))).outcomes[0].id;
    const id = await sentAs("first", isbnOf(1));
    assertEquals(await sentAs("second", isbnOf(1)), id);
    const path = `/api/products/${id}`;
    await org.delete(path);
    await org.post(`${path}/restore`, {});
    await sentAs("third", isbnOf(1));
    await sentAs("fourth", isbnOf(1));
    await org.delete(path);
    assertEquals(await sentAs("second", isbnOf(2)) === id, false);
    // This is an alias there.
    await sentAs("fifth", isbnOf(3));
    await sentAs("fourth", isbnOf(3));

    const { status, body: { data } } = await org.post(`${path}/restore`, {});
    assertEquals([status, data.skipped.toSorted()], [200, ["fourth", "second"]]);
    const aliases = await sql`
    select record_reference from onix_aliases where product_id = ${id} order by record_reference
  `;
    assertEquals(aliases.map(({ record_reference }) => record_reference), ["third"]);
  },
);

restores("of a deleted product is newer than its deletion", async ({ org }) => {
  const { path, product } = await org.create();
  await org.delete(path);
  const { body: { data: [{ deleted_at }] } } = await org.get("/api/products/deleted");
  await org.post(`${path}/restore`, {});
  const { body: { data } } = await org.get(path);
  assert(data.updated_at > deleted_at && deleted_at > product.updated_at, data.updated_at);
  assertEquals(data.created_at, product.created_at);
});

restores(
  "to small versions of large products is refused before these are read",
  async ({ org }) => {
    const text = "x".repeat(95_000);
    const operations = [];
    for (let n = 0; n < 6; n++) {
      const { id, path } = await org.create();
      const [{ version }] = (await org.get(`${path}/history`)).body.data;
      const collateral = Array.from(
        { length: 4 },
        () => ({ collateral_type: "text_content", text }),
      );
      let kept: object[] = [];
      for (let i = 0; i < 4; i++) {
        const { status, body } = await org.put(path, { collateral: [...kept, ...collateral] });
        assertEquals(status, 200);
        kept = body.data.collateral.map(({ id }: Any) => ({ id }));
      }
      operations.push({ method: "restore", id, version });
    }
    const { status, body } = await org.batch(operations, { return: "minimal" });
    assertEquals([status, body.error?.details[0].code], [400, "too_large"]);
    assertEquals((await org.batch(operations.slice(2), { return: "minimal" })).status, 200);
  },
);

/**
 * A new seed for each run, which the name has. `deno task test FILE -- 123` repeats the run with
 * seed 123, and `-- 123 200` runs two hundred sequences, with the seeds that follow.
 */
const [SEED = Math.floor(Math.random() * 2 ** 31), RUNS = 1] = Deno.args
  .map(Number);

const it = testsOf("A product after 200 random writes");

for (let seed = SEED; seed < SEED + RUNS; seed++) {
  it(
    `is in each version as it was shown, with the seed ${seed}`,
    (scene) => writeAtRandom(scene, seed),
  );
}

/** Writes a product 200 times, and expects each version to be what was shown then. */
async function writeAtRandom(
  { app, org, sql }: Scene,
  seed: number,
): Promise<void> {
  const full: Any = await fullBody(app, org);
  const { id, path } = await org.create(full);
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const { territories, rights } = {
    territories: (await org.get(`${path}/territories`)).body.data,
    rights: [{
      sales_rights_type: "01",
      territory: { countries_included: ["CH"] },
    }],
  };
  // The form belongs to the format, and is not restored.
  const names = Object.keys(full).filter((name) => name !== "title" && name !== "product_form_id");
  const writes: ((n: number) => PromiseLike<unknown>)[] = [
    (n) => org.put(path, { title: `Title ${n}` }),
    (n) =>
      org.put(path, {
        subtitle: n % 3 ? `Subtitle ${n}` : null,
        page_count: n + 1,
      }),
    (n) =>
      org.put(path, {
        product_prices: [{ currency_code: "EUR", retail_price: n }],
      }),
    () => org.put(path, { product_prices: [] }),
    () => {
      const name = names[random(names.length)]!;
      return org.put(path, { [name]: full[name] });
    },
    () => {
      const name = names[random(names.length)]!;
      return org.put(path, { [name]: Array.isArray(full[name]) ? [] : null });
    },
    () => org.put(`${path}/sales-rights`, random(2) ? rights : []),
    () => org.put(`${path}/territories`, random(2) ? territories : []),
    (n) => org.batch([{ method: "update", id, body: { title: `Batch ${n}` } }]),
    (n) => sql`update products set title = ${`SQL ${n}`} where id = ${id}`,
    (n) => sql`update product_prices set retail_price = ${n} where product_id = ${id}`,
    async () => {
      await org.delete(path);
      await org.post(`${path}/restore`, {});
    },
  ];
  const shown: Any[] = [(await org.get(path)).body.data];
  for (let n = 0; n < 200; n++) {
    await writes[random(writes.length)]!(n);
    // A version that SQL has made is stored behind the response to a read, and here before it.
    await org.get(`${path}/history?limit=1`);
    const { body } = await org.get(path);
    if (body.data.updated_at !== shown.at(-1).updated_at) shown.push(body.data);
  }

  for (const product of shown) {
    const { body } = await org.get(`${path}?at=${product.updated_at}`);
    assertEquals(body.data, product, `Seed: ${seed}`);
  }
  // A restoration of each is the state of then.
  for (const product of shown.filter((_, i) => i % 10 === 0)) {
    const { status, body } = await org.post(`${path}/restore`, {
      at: product.updated_at,
    });
    assertEquals(status, 200, `Seed: ${seed}: ${JSON.stringify(body.error)}`);
    assertEquals(still(body.data.product), still(product), `Seed: ${seed}`);
  }
}

// The embedded database has only one connection.
testsOf("Dry runs of a restoration")(
  "wait for each other outside the database",
  async ({ org, app, sql }) => {
    const { id, path } = await org.create();
    const [{ version }] = (await org.get(`${path}/history`)).body.data;
    await org.put(path, { title: "Changed" });
    const dryRun = () => org.post(`${path}/restore?dry_run=true`, { version });

    const replies = await sql.begin(async (sql) => {
      const [holder] = await sql<{ pid: number }[]>`
        select pg_backend_pid() as pid from products
        where organization_id = ${org.id} and id = ${id}
        for update
      `;
      const replies = Array.from({ length: 16 }, dryRun);
      await eventually(true, async () => {
        const waiting = await app.sql`
          select from pg_stat_activity where ${holder!.pid} = any(pg_blocking_pids(pid))
        `;
        return waiting.length > 0;
      });
      // The session that holds the lock, and the first dry run. Tasks in the background may end
      // later, but before the dry run gives up.
      await eventually(true, () => operationsIn(app) <= 2, 1_000);
      return () => Promise.all(replies);
    });

    for (const { status, body } of await replies()) {
      assertEquals([status, body.data.changes.length], [200, 1]);
    }
    assertEquals((await org.get(path)).body.data.title, "Changed");
  },
  { ignore: !SETTINGS.url },
);

Deno.test("A restoration writes every column of ONIX, except cached analyses", async () => {
  await using app = await openApp();
  for (const [table, columns] of Object.entries(ONIX_COLUMNS)) {
    const rows = await app.sql`
      select a.attname as name
      from pg_attribute a
      where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
    `;

    assertEquals(
      rows.map(({ name }) => name).sort(),
      ["organization_id", "product_id", ...table === "onix_aliases" ? [] : ["reading"], ...columns]
        .sort(),
    );
  }
});
