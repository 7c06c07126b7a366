import { assert, assertEquals } from "@std/assert";
import { eraseContributor } from "../../features/history/db/erase.ts";
import { undoRequest } from "../../features/history/db/undo.ts";
import { SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { onixClient } from "../support/client/onix.ts";
import { isbnOf, message, record } from "../support/data/onix.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const it = testsOf("The undo of a request");

const still = ({ updated_at: _, ...others }: Any) => others;

const PRICE = (currency_code: string, retail_price: number) => ({ currency_code, retail_price });

/** Writes a batch, and returns the id of its request. */
async function written(org: Organization, operations: object[]): Promise<string> {
  const { status, headers } = await org.batch(operations);
  assertEquals(status, 200);
  return headers.get("x-request-id")!;
}

async function undone(org: Organization, request_id: string, query = ""): Promise<Any> {
  const { status, body } = await org.post(`/api/history/undo${query}`, { request_id });
  assertEquals(status, 200, JSON.stringify(body.error));
  return body.data;
}

/** The counts of a report that are not 0. */
function countsOf(report: Any): object {
  return Object.fromEntries(
    Object.entries(report).filter(([, count]) => typeof count === "number" && count > 0),
  );
}

/** Three products, and the request that has changed them wrongly. */
async function mistake(org: Organization) {
  const right: Any[] = [];
  for (let n = 0; n < 3; n++) {
    const prices = [PRICE("EUR", n), PRICE("GBP", n)];
    right.push((await org.create({ title: `Right ${n}`, product_prices: prices })).product);
  }
  const request = await written(
    org,
    right.map(({ id }) => ({
      method: "update",
      id,
      body: { title: "Wrong", subtitle: "Wrong", product_prices: [] },
    })),
  );
  return { right, request };
}

it("takes back its changes, once, and can be undone", async ({ org }) => {
  const { right, request } = await mistake(org);
  const read = async (n: number) => (await org.get(`/api/products/${right[n].id}`)).body.data;
  const wrong = await read(0);

  const dry = await undone(org, request, "?dry_run=true");
  assertEquals(await read(0), wrong);
  const done = await org.post("/api/history/undo", { request_id: request });
  assertEquals({ ...dry, dry_run: false }, done.body.data);
  assertEquals(countsOf(dry), { products: 3, undone: 3 });
  assertEquals(
    dry.outcomes[0].changes.map(({ pointer }: Any) => pointer).toSorted(),
    ["/product_prices/0", "/product_prices/1", "/subtitle", "/title"],
  );
  for (const n of [0, 1, 2]) assertEquals(still(await read(n)), still(right[n]));
  const [entry] = (await org.get(`/api/products/${right[0].id}/history`)).body.data;
  assertEquals([entry.event, entry.operation], ["restored", "undoRequest"]);

  const before = await read(0);
  assertEquals(countsOf(await undone(org, request)), { products: 3, unchanged: 3 });
  assertEquals(await read(0), before);
  const undo = done.headers.get("x-request-id")!;
  assertEquals(countsOf(await undone(org, undo)), { products: 3, undone: 3 });
  assertEquals(still(await read(0)), still(wrong));
});

it("keeps what was changed since, and names who changed it", async ({ org, sql }) => {
  const { right: [a, b, c], request } = await mistake(org);
  await org.put(`/api/products/${a.id}`, { title: "Later" });
  await org.put(`/api/products/${a.id}`, { page_count: 7 });
  await sql`update products set title = 'By SQL', subtitle = 'By SQL' where id = ${b.id}`;
  await org.put(`/api/products/${b.id}`, { product_prices: [PRICE("USD", 1)] });
  await org.delete(`/api/products/${c.id}`);

  const report = await undone(org, request);

  assertEquals(countsOf(report), { products: 3, undone: 1, kept: 2 });
  const messages = new Map<string, Any[]>(
    report.outcomes.map(({ id, messages }: Any) => [id, messages]),
  );
  const pointers = (id: string) => messages.get(id)!.map(({ code, pointer }) => [code, pointer]);
  assertEquals(pointers(a.id), [["changed_since", "/title"]]);
  assertEquals(pointers(b.id).toSorted(), [
    ["changed_since", "/product_prices"],
    ["changed_since", "/subtitle"],
    ["changed_since", "/title"],
  ]);
  assertEquals(pointers(c.id), [["changed_since", ""]]);
  const [title] = messages.get(a.id)!;
  assert(title.message.includes(org.key.slice(4, 16)) && title.message.includes("updateProduct"));
  const bySql = messages.get(b.id)!.find(({ pointer }) => pointer === "/title");
  assert(bySql.message.includes("database"), bySql.message);
  const { data } = (await org.get(`/api/products/${a.id}`)).body;
  assertEquals(
    [data.title, data.subtitle, data.page_count, data.product_prices],
    ["Later", a.subtitle, 7, a.product_prices],
  );
});

it("names nobody where the versions that were read do not show who changed a field", async ({ org, app }) => {
  const { right: [many, erased], request } = await mistake(org);
  // The subtitle is changed first, and 24 versions follow.
  await org.put(`/api/products/${many.id}`, { subtitle: "Later" });
  for (let i = 0; i < 24; i++) await org.put(`/api/products/${many.id}`, { title: `Later ${i}` });
  // The version with the subtitle is erased. The batch has changed the title.
  const contributors = [{ contributor_id: org.contributor, contributor_role_code: "A01" }];
  await org.put(`/api/products/${erased.id}`, { subtitle: "Later", contributors });
  await org.put(`/api/products/${erased.id}`, { contributors: [] });
  await written(org, [{ method: "update", id: erased.id, body: { title: "Later" } }]);
  assertEquals(await eraseContributor(operationsOf(app, org), org.contributor), 1);

  const { outcomes } = await undone(org, request);

  for (const { id } of [many, erased]) {
    const { messages } = outcomes.find((one: Any) => one.id === id);
    const [title, subtitle] = ["/title", "/subtitle"].map((pointer) =>
      messages.find((one: Any) => one.pointer === pointer).message
    );
    assert(/^"title" was changed at .* by api_key/.test(title), title);
    assertEquals(subtitle, '"subtitle" was changed since: it stays as it is');
  }
});

it("reads 16 MiB of a group to name who changed it since", async ({ org }) => {
  const collateral = Array.from({ length: 9 }, () => ({
    collateral_type: "text_content",
    text_type: "03",
    text: "x".repeat(100_000),
  }));
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await org.create({ collateral })).id);
  const request = await written(
    org,
    ids.map((id) => ({ method: "update", id, body: { title: "Wrong" } })),
  );
  for (const id of ids) {
    for (let i = 0; i < 11; i++) await org.put(`/api/products/${id}`, { title: `Right ${i}` });
  }
  const { outcomes } = await undone(org, request);
  const named = outcomes.filter(({ messages: [{ message }] }: Any) => /by api_key/.test(message));
  assertEquals([outcomes.length, named.length], [3, 2]);
});

it("deletes what it created, unless that is used, and restores what it deleted", async ({ org }) => {
  const { product: victim } = await org.create({ product_prices: [PRICE("EUR", 3)] });
  const { body: { data: publisher } } = await org.post("/api/publishers", { name: "Gone" });
  const { product: stuck } = await org.create({ publisher_id: publisher.id });
  const titles = ["Unwanted", "Changed", "In a program", "Deleted"];
  const { body, headers } = await org.batch([
    ...titles.map((title) => ({ method: "create", body: { title } })),
    { method: "delete", id: victim.id },
    { method: "delete", id: stuck.id },
  ]);
  const [unwanted, changed, used, deleted] = body.data.map(({ data }: Any) => data.id);
  await org.put(`/api/products/${changed}`, { subtitle: "Later" });
  await org.put(`/api/publishing-programs/${org.program}/products/${used}`, undefined);
  await org.delete(`/api/products/${deleted}`);
  await org.delete(`/api/publishers/${publisher.id}`);

  const report = await undone(org, headers.get("x-request-id")!);

  assertEquals(countsOf(report), {
    products: 6,
    deleted: 1,
    restored: 1,
    unchanged: 1,
    kept: 2,
    refused: 1,
  });
  const outcomes = new Map<string, Any>(report.outcomes.map((one: Any) => [one.id, one]));
  const codes = (id: string) =>
    outcomes.get(id).messages.map(({ code, pointer }: Any) => [code, pointer]);
  assertEquals(codes(changed), [["changed_since", "/subtitle"]]);
  assertEquals(codes(used), [["in_use", ""]]);
  assertEquals(codes(stuck.id), [["unknown_reference", "/publisher_id"]]);
  assertEquals((await org.get(`/api/products/${unwanted}`)).status, 404);
  const { data } = (await org.get(`/api/products/${victim.id}`)).body;
  assertEquals(still(data), still(victim));
});

it("says that a product form stays, which the format stores", async ({ org }) => {
  const { body: { data: format } } = await org.post("/api/formats", {
    name: "Paperback",
    product_form_code: "BC",
  });
  const { id, path } = await org.create({ format_id: format.id });
  const { path: other } = await org.create({ format_id: format.id });
  const formOf = async (path: string) => (await org.get(path)).body.data.product_form_code;
  const stays = ({ outcome, messages }: Any) => [
    outcome,
    messages.map(({ code, pointer }: Any) => `${code} ${pointer}`),
  ];
  const update = (body: object) => written(org, [{ method: "update", id, body }]);
  const forms = [
    await update({ product_form_code: "BB" }),
    await update({ product_form_code: "BA", title: "Lady Susan" }),
    await written(org, [{
      method: "create",
      body: { title: "Persuasion", format_id: format.id, product_form_code: "BF" },
    }]),
  ];
  const title = await update({ title: "Sanditon" });

  const shared = ["shared /product_form_id"];
  const [first, second, third] = forms.map((request) => undone(org, request, "?dry_run=true"));
  assertEquals((await first!).outcomes.map(stays), [["unchanged", shared]]);
  assertEquals((await second!).outcomes.map(stays), [[
    "kept",
    [...shared, "changed_since /title"],
  ]]);
  assertEquals((await third!).outcomes.map(stays), [["deleted", shared]]);
  assertEquals((await undone(org, title)).outcomes.map(stays), [["undone", []]]);
  assertEquals([await formOf(path), await formOf(other)], ["BF", "BF"]);

  await org.put(path, { product_form_code: "BC" });
  assertEquals((await undone(org, forms[0]!)).outcomes.map(stays), [["unchanged", []]]);
});

it("takes back an ONIX message, and the next one is applied as usual", async ({ org, app }) => {
  const onix = onixClient(app, org);
  const sent = (pages: number) => message(record({ isbn: isbnOf(1), reference: "one", pages }));
  const id = (await onix.report(sent(100))).outcomes[0].id;
  const wrong = await onix.post(sent(900));
  const request = wrong.headers.get("x-request-id")!;
  const pages = async () => (await org.get(`/api/products/${id}`)).body.data.page_count;
  assertEquals(await pages(), 900);
  assertEquals(countsOf(await undone(org, request)), { products: 1, undone: 1 });
  assertEquals(await pages(), 100);
  await onix.report(sent(120));
  assertEquals(await pages(), 120);
});

it("completes an undo that has ended early, in groups", async ({ org, app }) => {
  const operations = (body: (n: number) => object) =>
    Array.from({ length: 100 }, (_, n) => body(n));
  const created: Any[] = [];
  for (let i = 0; i < 3; i++) {
    const { body } = await org.batch(
      operations((n) => ({ method: "create", body: { title: `${i}.${n}` } })),
    );
    created.push(...body.data.map(({ data }: Any) => data));
  }
  const headers = { "x-request-id": `undo-${crypto.randomUUID()}` };
  for (let i = 0; i < 3; i++) {
    const updates = created.slice(100 * i, 100 * (i + 1)).map(({ id }) => ({
      method: "update",
      id,
      body: { title: "Wrong" },
    }));
    await app.send("/api/products/batch", {
      method: "POST",
      headers: { ...headers, "x-api-key": org.key, "content-type": "application/json" },
      body: JSON.stringify({ operations: updates, return: "minimal" }),
    });
  }
  let groups = 0;
  const request_id = headers["x-request-id"];
  const early = undoRequest(() => operationsOf(app, org), { request_id }, {
    isDryRun: false,
    pace: () => Promise.resolve(),
    admit: () => {
      if (++groups === 2) throw new Error("Revoked");
      return Promise.resolve({ [Symbol.dispose]() {} });
    },
  });
  const { report } = await early.then(() => assert(false), (error) => error);
  assertEquals(countsOf(report), { products: 100, undone: 100 });
  const rest = await undone(org, request_id);
  assertEquals(countsOf(rest), { products: 300, undone: 200, unchanged: 100 });
  const found = (await org.get("/api/products?search=Wrong")).body.meta.total;
  assertEquals(found, 0);
});

it("is refused as a whole if the history is not kept, or nobody has the id", async ({ org, app, sql }) => {
  const { right, request } = await mistake(org);
  const other = await app.organization();
  const call = async (org: Organization, body: object) =>
    (await org.post("/api/history/undo", body)).status;
  assertEquals(await call(org, { request_id: crypto.randomUUID() }), 404);
  assertEquals(await call(other, { request_id: request }), 404);
  assertEquals(await call(org, { request_id: request, since: "2099-01-01" }), 404);
  for (const body of [{}, { request_id: request, nonsense: 1 }, { request_id: 7 }]) {
    assertEquals(await call(org, body), 400);
  }
  await sql`
    delete from product_documents d where d.product_id = ${right[2].id} and d.event = 'created'
  `;
  assertEquals(await call(org, { request_id: request }), 410);
  const { data } = (await org.get(`/api/products/${right[0].id}`)).body;
  assertEquals(data.title, "Wrong");
  const found = (await org.get(`/api/history?request_id=${request}`)).body.data;
  assertEquals(found.length, 3);
});

it("can be judged first: two versions are compared", async ({ org }) => {
  const { id, path } = await org.create({ title: "A" });
  await org.put(path, { title: "B" });
  await org.put(path, { title: "C", page_count: 9 });
  const [third, second, first] = (await org.get(`${path}/history`)).body.data
    .map(({ version }: Any) => version);
  const compare = async (query: string) => await org.get(`${path}/history/compare?${query}`);
  const changes = async (query: string) =>
    (await compare(query)).body.data.changes.map((
      { pointer, from, to }: Any,
    ) => [pointer, from, to])
      .toSorted();
  assertEquals(await changes(`from=${first}&to=${second}`), [["/title", "A", "B"]]);
  assertEquals(await changes(`from=${second}&to=${first}`), [["/title", "B", "A"]]);
  assertEquals(await changes(`from=${third}`), []);
  assertEquals(await changes(`from=${first}`), [["/page_count", null, 9], ["/title", "A", "C"]]);
  for (const [query, status] of [["", 400], ["from=x", 400], ["from=999999999", 404]] as const) {
    assertEquals((await compare(query)).status, status, query);
  }
  assertEquals(
    (await org.get(`/api/products/${crypto.randomUUID()}/history/compare?from=${first}`)).status,
    404,
  );
  assert(id);
});

Deno.test({
  name: "The undo of a large request reads its versions a few times",
  // A server does not report at once what another session has read.
  ignore: SETTINGS.url !== undefined,
  async fn() {
    await using app = await openOwnApp();
    const { sql } = app;
    const org = await app.organization();
    const updates: object[] = [];
    for (let n = 0; n < 80; n++) {
      const { id } = await org.create();
      updates.push({ method: "update", id, body: { title: "Wrong" } });
    }
    // The planner knows requests that wrote one version each, and does not know the large one yet.
    await sql`
      insert into product_documents (
        organization_id, product_id, change_version, names_version, changed_at, event, request_id, summary, details
      )
      select
        d.organization_id, d.product_id, d.change_version - n, 0, d.changed_at - make_interval(hours => n),
        'changed', gen_random_uuid()::text, d.summary, d.details
      from product_documents d
      cross join generate_series(1, 20) n
      where d.organization_id = ${org.id}
    `;
    await sql`analyze product_documents`;
    const request = await written(org, updates);
    const readEntries = async () => {
      await sql`select pg_stat_force_next_flush()`;
      const [row] = await sql<{ entries: number }[]>`
        select s.idx_tup_read::float8 as entries
        from pg_stat_user_indexes s
        where s.indexrelname = 'product_documents_by_request'
      `;
      return row!.entries;
    };
    const before = await readEntries();

    const { undone: count } = await undone(org, request);

    const entries = await readEntries() - before;
    assertEquals(count, updates.length);
    assert(entries > 0 && entries <= 10 * updates.length, `${entries} entries of the index`);
  },
});
