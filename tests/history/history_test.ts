import { assert, assertEquals } from "@std/assert";
import { commandsOn, exported, imported } from "../support/client/transfer.ts";
import { onixClient } from "../support/client/onix.ts";
import type { Reply } from "../support/client/envelope.ts";
import {
  deletionOf,
  isbnOf,
  message,
  record,
  sent,
} from "../support/data/onix.ts";
import {
  type Organization,
  type Scene,
  testsOf,
} from "../support/app/harness.ts";
import { operationsOf } from "../support/app/own_app.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const it = testsOf("The history of a product");

async function entriesOf(
  org: Organization,
  id: string,
  query = "",
): Promise<Any[]> {
  const { status, body } = await org.get(`/api/products/${id}/history${query}`);
  assertEquals(status, 200, JSON.stringify(body.error));
  return body.data;
}

const USD = [{ currency_code: "USD", retail_price: 1 }];
const SUPPLY = (price_amount: number) => [{
  market_reference: "A",
  exclusivity: "exclusive",
  markets: [{ name: "World", territory: { regions_included: ["WORLD"] } }],
  supply_details: [{
    supplier: { supplier_role: "01", supplier_name: "Shop" },
    product_availability: "20",
    prices: [{ price_type: "01", price_amount, currency_code: "GBP" }],
  }],
}];
const RIGHTS = (code: string) => [{
  sales_rights_type: "01",
  territory: { countries_included: [code] },
}];

/** A way to write: its change of a product, the operation that its entry names, and the pointer of the change. */
type Way = [
  string,
  (scene: Scene, id: string) => PromiseLike<unknown>,
  string | null,
  string[],
];

const onix = ({ app, org }: Scene, xml: string) =>
  onixClient(app, org).report(xml);

const WAYS: Way[] = [
  [
    "PUT",
    ({ org }, id) => org.put(`/api/products/${id}`, { subtitle: "A" }),
    "updateProduct",
    ["/subtitle"],
  ],
  [
    "a batch",
    ({ org }, id) =>
      org.batch([{ method: "update", id, body: { subtitle: "B" } }]),
    "writeProducts",
    ["/subtitle"],
  ],
  [
    "an atomic batch",
    ({ org }, id) =>
      org.batch([{ method: "update", id, body: { product_prices: USD } }], {
        atomic: true,
      }),
    "writeProducts",
    ["/product_prices/0"],
  ],
  [
    "an upsert",
    ({ org }) =>
      org.batch([{
        method: "upsert",
        match: "isbn13",
        body: { isbn13: isbnOf(1), page_count: 7 },
      }]),
    "writeProducts",
    ["/page_count"],
  ],
  [
    "the path of territories",
    ({ org }, id) => org.put(`/api/products/${id}/territories`, SUPPLY(5)),
    "replaceTerritories",
    ["/product_territories/0"],
  ],
  [
    "the path of rights",
    ({ org }, id) => org.put(`/api/products/${id}/sales-rights`, RIGHTS("CH")),
    "replaceSalesRights",
    ["/product_sales_rights/0"],
  ],
  [
    "ONIX 04",
    (scene) =>
      onix(
        scene,
        message(
          record({
            reference: "a",
            isbn: isbnOf(1),
            notification: "04",
            pages: 9,
          }),
        ),
      ),
    "importOnix",
    ["/page_count"],
  ],
  [
    "SQL on products",
    ({ sql }, id) => sql`update products set subtitle = 'C' where id = ${id}`,
    null,
    ["/subtitle"],
  ],
  [
    "SQL on nested rows",
    ({ sql }, id) =>
      sql`update product_prices set retail_price = 3 where product_id = ${id}`,
    null,
    ["/product_prices/0/retail_price"],
  ],
  [
    "SQL on supply prices",
    ({ sql }, id) =>
      sql`update supply_prices set price_amount = 4 where product_id = ${id}`,
    null,
    ["/product_territories/0/supply_details/0/prices/0/price_amount"],
  ],
];

it("has an entry of each way to write, and none of one that changes nothing", async (scene) => {
  const { org, app, sql } = scene;
  await onix(scene, message(record({ reference: "a", isbn: isbnOf(1) })));
  const { body } = await org.get(`/api/products?isbn13=${isbnOf(1)}`);
  const id = body.data[0].id as string;

  for (const [way, write, operation, pointers] of WAYS) {
    const before = await entriesOf(org, id);
    await write(scene, id);
    const [entry, ...others] = await entriesOf(org, id);
    assertEquals(others, before, way);
    assertEquals(
      [entry.event, entry.operation, entry.changed_by.kind],
      ["changed", operation, operation ? "api_key" : "database"],
      way,
    );
    const changed = entry.changes.map(({ pointer }: Any) => pointer);
    assert(
      pointers.every((pointer) => changed.includes(pointer)),
      `${way}: ${changed}`,
    );
  }

  const all = await entriesOf(org, id, "?limit=100");
  const again = [
    () => org.put(`/api/products/${id}`, { subtitle: "C" }),
    () => org.batch([{ method: "update", id, body: { subtitle: "C" } }]),
    () => org.put(`/api/products/${id}/sales-rights`, RIGHTS("CH")),
    () =>
      onix(
        scene,
        message(
          record({
            reference: "a",
            isbn: isbnOf(1),
            notification: "04",
            pages: 9,
          }),
        ),
      ),
    () => sql`update products set subtitle = 'C' where id = ${id}`,
    () => org.put(`/api/publishers/${org.publisher}`, { name: "Renamed" }),
  ];
  for (const write of again) await write();
  assertEquals(await entriesOf(org, id, "?limit=100"), all);

  const created = all.at(-1);
  assertEquals([created.event, created.operation, created.changes], [
    "created",
    "importOnix",
    [],
  ]);
  assertEquals(created.source, {
    sender: "Harbour Press",
    sent: created.source.sent,
    record_reference: "a",
  });

  // Each version is what was shown then.
  for (const [i, { version, at }] of all.entries()) {
    const one = await org.get(`/api/products/${id}?version=${version}`);
    const other = await org.get(`/api/products/${id}?at=${at}`);
    assertEquals(one.body.data, other.body.data, String(i));
    assertEquals(one.headers.get("etag"), null);
  }
  await app.sql`select`;
});

it("has the end of a product, however it is deleted, and what created it again", async (scene) => {
  const { org, sql } = scene;
  const ways: [
    string,
    (id: string, n: number) => PromiseLike<unknown>,
    string | null,
  ][] = [
    ["DELETE", (id) => org.delete(`/api/products/${id}`), "deleteProduct"],
    ["a batch", (id) => org.batch([{ method: "delete", id }]), "writeProducts"],
    [
      "an atomic batch",
      (id) => org.batch([{ method: "delete", id }], { atomic: true }),
      "writeProducts",
    ],
    [
      "ONIX 05",
      (_, n) => onix(scene, message(deletionOf(`ref.${n}`))),
      "importOnix",
    ],
    ["SQL", (id) => sql`delete from products where id = ${id}`, null],
  ];
  for (const [n, [way, remove, operation]] of ways.entries()) {
    const isbn = isbnOf(10 + n);
    const report = await onix(
      scene,
      message(record({ reference: `ref.${n}`, isbn })),
    );
    const id = report.outcomes[0].id;
    const path = `/api/products/${id}`;
    await org.put(path, { subtitle: "Kept" });
    const { body: { data: shown } } = await org.get(path);
    const { xml } = onixClient(scene.app, org);
    const xmlBefore = (await xml(`/${id}`)).replace(/<SentDateTime>.*?</, "");
    await remove(id, n);

    const [entry] = await entriesOf(org, id);
    assertEquals([entry.event, entry.operation, entry.changes], [
      "deleted",
      operation,
      [],
    ], way);
    const { body: { data: [gone] } } = await org.get("/api/products/deleted");
    assertEquals(
      [
        gone.id,
        gone.title,
        gone.isbn13,
        gone.product_code,
        gone.record_reference,
        gone.operation,
      ],
      [id, shown.title, isbn, shown.product_code, `ref.${n}`, operation],
      way,
    );

    const { status, body } = await org.post(`${path}/restore`, {});
    assertEquals([status, body.data?.changes], [200, []], way);
    const { body: { data: restored } } = await org.get(path);
    assertEquals(
      { ...restored, updated_at: "" },
      { ...shown, updated_at: "" },
      way,
    );
    assertEquals(
      (await xml(`/${id}`)).replace(/<SentDateTime>.*?</, ""),
      xmlBefore,
      way,
    );
    const again = await onix(
      scene,
      message(record({ reference: `ref.${n}`, isbn })),
    );
    assertEquals([again.unchanged, again.created], [1, 0], way);
    assertEquals((await org.get("/api/products/deleted")).body.data, [], way);
    const [back, ended] = await entriesOf(org, id);
    assertEquals([back.event, ended.event], ["restored", "deleted"], way);
  }
});

it("has imports of files, whose restored times change no order", async ({ org, app }) => {
  const { id, path } = await org.create({ subtitle: "First" });
  const operations = operationsOf(app, org);
  const text = await exported(operations);
  await org.put(path, { subtitle: "Second" });
  const edited = text.replace(
    /("kind":"product".*?"updated_at":")[^"]+/,
    "$12001-01-01T00:00:00.000Z",
  );

  assertEquals(await imported(operations, edited), []);
  assertEquals(
    (await org.get(path)).body.data.updated_at,
    "2001-01-01T00:00:00.000Z",
  );
  await imported(operations, edited);

  const entries = await entriesOf(org, id);
  assertEquals(
    entries.map(({ changes }) =>
      changes.map(({ from, to }: Any) => [from, to])
    ),
    [
      [["Second", "First"]],
      [["First", "Second"]],
      [],
    ],
  );
  assert(entries[0].at > entries[1].at);
  const commands = commandsOn(app)(org.id);
  await imported(
    commands,
    text.replace('"subtitle":"First"', '"subtitle":"Third"'),
  );
  assertEquals((await entriesOf(org, id))[0].changes[0].to, "Third");
});

it("never blames a write for what SQL did before it", async ({ org, sql }) => {
  const writes: ((id: string) => Promise<Reply>)[] = [
    (id) => org.put(`/api/products/${id}`, { subtitle: "By a request" }),
    (id) =>
      org.batch([{ method: "update", id, body: { subtitle: "By a request" } }]),
    (id) => org.delete(`/api/products/${id}`),
  ];
  for (const write of writes) {
    const { id } = await org.create();
    await sql`update products set title = 'By SQL' where id = ${id}`;
    await write(id);

    const [last, before] = await entriesOf(org, id);
    assertEquals(last.changed_by.kind, "api_key");
    assertEquals(
      last.changes.map(({ pointer }: Any) => pointer),
      last.event === "deleted" ? [] : ["/subtitle"],
    );
    assertEquals([before.changed_by.kind, before.changes[0].to], [
      "database",
      "By SQL",
    ]);
  }
});

it("tells what changed: entries by id and by what they are about, order once, long texts cut", async ({ org }) => {
  const subjects = Array.from({ length: 300 }, (_, i) => ({
    subject_scheme_identifier: "24",
    subject_scheme_name: "Ours",
    subject_code: `S${i}`,
  }));
  const { id, path, product } = await org.create({
    subjects,
    product_prices: [...USD, { currency_code: "EUR" }],
  });
  const [usd] = product.product_prices;
  const cases: [object, [string, string][]][] = [
    [{ subjects: subjects.toReversed() }, [["/subjects", "moved"]]],
    [{ subjects: subjects.slice(1).toReversed() }, [[
      "/subjects/299",
      "removed",
    ]]],
    [{ product_prices: [{ id: usd.id, retail_price: 2 }] }, [[
      "/product_prices/0/retail_price",
      "changed",
    ]]],
    [{ subtitle: "é".repeat(2_000) }, [["/subtitle", "changed"]]],
    [
      { subjects: [] },
      Array.from({ length: 100 }, (_, i) => [`/subjects/${i}`, "removed"]),
    ],
    [{ publisher_id: org.publisher, season_id: org.season }, [[
      "/season_id",
      "changed",
    ], ["/publisher_id", "changed"]]],
    [{
      contributors: [{
        contributor_id: org.contributor,
        contributor_role_code: "A01",
      }],
    }, [["/contributors/0", "added"]]],
  ];
  for (const [body, expected] of cases) {
    const { status, body: { error } } = await org.put(path, body);
    assertEquals(status, 200, JSON.stringify(error));
    const [{ changes }] = await entriesOf(org, id, "?limit=1");
    assertEquals(
      changes.map(({ pointer, kind }: Any) => [pointer, kind]).toSorted(),
      expected.toSorted(),
    );
  }
  const long = await entriesOf(org, id, "?changed=subjects,subtitle");
  assertEquals(long.map(({ more_changes = 0 }) => more_changes), [
    199,
    0,
    0,
    0,
  ]);
});

it("is for those who may write, and for one's own", async ({ org, app }) => {
  const { id, path } = await org.create();
  const [{ version }] = await entriesOf(org, id);
  const key = await org.issueKey("read");
  const other = await app.organization();
  const calls: [string, string, object?][] = [
    ["GET", `${path}/history`],
    ["GET", `${path}?version=${version}`],
    ["GET", `${path}?at=2099-01-01`],
    ["POST", `${path}/restore`, { version }],
    ["GET", "/api/products/deleted"],
    ["GET", "/api/history"],
  ];
  for (const [method, target, body] of calls) {
    const call = (key: string) =>
      app.send(target, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...body && { body: JSON.stringify(body) },
      });
    assertEquals((await call(key)).status, 403, target);
    const { status, body: reply } = await call(other.key);
    if (target.includes(id)) assertEquals(status, 404, target);
    else assertEquals(reply.data, [], target);
  }
  assertEquals(
    (await app.send(path, { headers: { "x-api-key": key } })).status,
    200,
  );
});

it("refuses what it cannot find", async ({ org }) => {
  const { id, path } = await org.create();
  const [{ version }] = await entriesOf(org, id);
  const gets: [string, number, string][] = [
    ["?version=none", 400, "VALIDATION_ERROR"],
    ["?at=yesterday", 400, "VALIDATION_ERROR"],
    [`?version=${version}&at=2099-01-01`, 400, "VALIDATION_ERROR"],
    ["?version=1", 404, "NOT_FOUND"],
    ["?at=2001-01-01", 404, "NOT_FOUND"],
    ["/history?changed=publisher_name", 400, "VALIDATION_ERROR"],
    ["/history?after=x", 400, "VALIDATION_ERROR"],
  ];
  for (const [query, status, code] of gets) {
    const reply = await org.get(`${path}${query}`);
    assertEquals([reply.status, reply.body.error.code], [status, code], query);
  }
  const bodies: object[] = [
    {},
    { version, at: "2099-01-01" },
    { version: "1" },
    { at: "2001-01-01" },
    { nonsense: 1 },
  ];
  for (const body of bodies) {
    assertEquals(
      (await org.post(`${path}/restore`, body)).status,
      400,
      JSON.stringify(body),
    );
  }
  assertEquals((await org.get("/api/history?after=x")).status, 400);
});

it("of the organization has all products, newest first, in pages", async ({ org }) => {
  const { id } = await org.create({ isbn13: isbnOf(3) });
  await org.put(`/api/products/${id}`, { title: "Persuasion" });
  await org.delete(`/api/products/${id}`);
  const found: Any[] = [];
  let after = "";
  for (let more = true; more;) {
    const { body } = await org.get(`/api/history?limit=1${after}`);
    found.push(...body.data);
    more = body.meta.more;
    after = `&after=${body.meta.cursor}`;
  }
  assertEquals(
    found.map(({ event, product }) => [event, product.title, product.isbn13]),
    [
      ["deleted", "Persuasion", isbnOf(3)],
      ["changed", "Persuasion", isbnOf(3)],
      ["created", "Emma", isbnOf(3)],
    ],
  );
  const only = await org.get(
    "/api/history?operation=updateProduct&changed_by=nobody",
  );
  assertEquals(only.body.data, []);
  const until = await org.get(`/api/history?until=${found[1].at}`);
  assertEquals(until.body.data.length, 2);
});

const ones = testsOf("Two senders and an import");

ones("have an entry each with its own predecessor", async (scene) => {
  const { org, app } = scene;
  const one = sent(
    "20261101",
    "Press",
    record({ reference: "x", isbn: isbnOf(4) }),
  );
  const report = await onixClient(app, org).report(one);
  const id = report.outcomes[0].id;
  await onixClient(app, org).report(
    sent(
      "20261102",
      "Shop",
      record({ reference: "x", isbn: isbnOf(4), pages: 5 }),
    ),
  );
  await onixClient(app, org).report(one);
  const entries = await entriesOf(org, id);
  assertEquals(entries.map(({ source }) => source.sender), ["Shop", "Press"]);
  assertEquals(entries[0].changes.map(({ pointer }: Any) => pointer), [
    "/page_count",
  ]);
});
