import { assert, assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { openApp, SETTINGS, testsOf } from "../support/app/harness.ts";
import type { Organization } from "../support/app/organization.ts";

const PATH = "/api/products/batch";

const ISBN = "9780306406157";

const OTHER_ISBN = "9783161484100";

/** Sends the operations and returns their results. */
async function send(
  org: Organization,
  operations: object[],
  options: object = {},
  headers?: HeadersInit,
) {
  const { status, body } = await org.post(
    PATH,
    { operations, ...options },
    headers,
  );
  assertEquals(status, 200, JSON.stringify(body));
  assertEquals(body.data.length, operations.length);
  return body.data;
}

interface Result {
  data: { updated_at: string };
}

// deno-lint-ignore no-explicit-any
function statusesOf(results: any[]): number[] {
  return results.map(({ status }) => status);
}

function create(title: string, body: object = {}) {
  return { method: "create", body: { title, ...body } };
}

function upsert(isbn13: string, body: object = {}) {
  return { method: "upsert", match: "isbn13", body: { isbn13, ...body } };
}

async function total(org: Organization, query = ""): Promise<number> {
  return (await org.get(`/api/products?limit=1${query}`)).body.meta.total;
}

const it = testsOf("POST /products/batch");

it("returns the result of each operation as for a single request", async ({ org, app }) => {
  const [changed, deleted] = [await org.create(), await org.create()];
  const unknown = crypto.randomUUID();
  const full = await fullBody(app, org);

  const results = await send(org, [
    create("Emma", full),
    { method: "update", id: changed.id, body: { title: "Persuasion" } },
    { method: "delete", id: deleted.id.toUpperCase() },
    { method: "delete", id: unknown },
    upsert(OTHER_ISBN, { title: "Sanditon" }),
  ]);

  assertEquals(statusesOf(results), [201, 200, 200, 200, 201]);
  for (const i of [0, 1, 4]) {
    const { data } = results[i];
    const { body } = await org.get(`/api/products/${data.id}`);
    assertEquals(data, body.data);
  }
  assertEquals(results[1].data.title, "Persuasion");
  assertEquals(results[2].data, {
    id: deleted.id.toUpperCase(),
    deleted: true,
  });
  assertEquals(results[3].data, { id: unknown, deleted: false });
  assertEquals(await total(org), 3);
});

it("returns errors only for the operations that fail", async ({ org, app, sql }) => {
  const { id } = await org.create();
  const inProgram = await org.create();
  await sql`insert into publishing_program_products (organization_id, program_id, product_id)
        values (${org.id}, ${org.program}, ${inProgram.id})`;
  const stranger = await (await app.organization()).create();
  const byCode = (product_code: string) => ({
    method: "upsert",
    match: "product_code",
    body: { product_code, title: "Emma" },
  });
  const update = (id: string, body: object, rest = {}) => ({
    method: "update",
    id,
    body,
    ...rest,
  });
  const other = { if_match: '"x"' };
  // deno-fmt-ignore
  const all: [operation: object, status: number, ...pointers: string[]][] = [
    [create("First"), 201],
    [create("", { page_count: 0 }), 400, "/title", "/page_count"],
    [create("No such license", { license_id: id }), 400, "/license_id"],
    [update(stranger.id, { title: "Mine" }), 404],
    [update(id, { product_prices: [{ id }] }), 400, "/product_prices/0/id"],
    [update(inProgram.id, { series_id: org.series }), 400, "/series_id"],
    [{ method: "delete", id: inProgram.id }, 409],
    [update(id, { title: "Not it" }, other), 412],
    [{ method: "delete", id: stranger.id, ...other }, 412],
    [{ method: "upsert", match: "isbn13", body: { title: "Without one" } }, 400, "/isbn13"],
    [upsert(ISBN), 400, "/title"],
    [upsert(ISBN, { title: "", page_count: 0 }), 400, "/title", "/page_count"],
    [update(id, { title: "" }), 400, "/title"],
    [byCode("P-1"), 404],
    [byCode("P-\0"), 400, "/product_code"],
    [byCode("P-\ud800"), 400, "/product_code"],
    [byCode("P".repeat(2_001)), 400, "/product_code"],
    [create("Last"), 201],
  ];

  const results = await send(org, all.map(([operation]) => operation));

  for (const [i, [, status, ...pointers]] of all.entries()) {
    const { status: actual, error } = results[i];
    assertEquals([actual, error?.code], [status, CODES[status]]);
    if (pointers.length === 0) continue;
    assertEquals(
      error.details.map(({ pointer }: { pointer: string }) => pointer),
      pointers,
    );
  }
  assertEquals(await total(org), 4);
});

const CODES: Record<number, string> = {
  400: "VALIDATION_ERROR",
  404: "NOT_FOUND",
  409: "CONFLICT",
  412: "PRECONDITION_FAILED",
};

it("finds the one product among many that violates a constraint", async ({ org }) => {
  const { id } = await org.create({
    product_prices: Array.from({ length: 500 }, () => ({
      currency_code: "GBP",
    })),
  });
  const titles: object[] = Array.from(
    { length: 20 },
    (_, i) => create(`Book ${i}`),
  );
  const tooMany = {
    method: "update",
    id,
    body: { product_prices: [{ currency_code: "EUR" }] },
  };

  const results = await send(org, titles.toSpliced(13, 0, tooMany));

  assertEquals(results[13].error.details[0].code, "too_large");
  assertEquals(statusesOf(results.toSpliced(13, 1)), titles.map(() => 201));
  assertEquals(await total(org), 21);
});

it("does not count the rows that an upsert replaces, whatever is wrong with others", async ({ org }) => {
  const prices = (currency_code: string) =>
    Array.from({ length: 300 }, (_, i) => ({
      currency_code,
      valid_from: new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10),
    }));
  await org.create({ isbn13: ISBN, product_prices: prices("GBP") });

  const results = await send(org, [
    upsert(ISBN, { title: "Emma", product_prices: prices("EUR") }),
    create("Emma", { publisher_id: crypto.randomUUID() }),
  ]);

  assertEquals(statusesOf(results), [200, 400], JSON.stringify(results[0].error));
  assertEquals(results[0].data.product_prices.length, 300);
  assertEquals(results[1].error.details[0].code, "unknown_reference");
});

it("writes nothing if an operation of an atomic batch fails", async ({ org }) => {
  const { id } = await org.create();
  const cases = [
    [create("", {}), 400, "/operations/1/body/title"],
    [create("B", { license_id: id }), 400, "/operations/1/body/license_id"],
    [
      { method: "update", id: org.id, body: { title: "B" } },
      404,
      "/operations/1",
    ],
    [
      { method: "update", id, body: { title: "B" }, if_match: '"x"' },
      412,
      "/operations/1",
    ],
  ] as const;

  for (const [operation, expected, pointer] of cases) {
    const { status, body } = await org.post(PATH, {
      operations: [create("A"), operation, create("C")],
      atomic: true,
    });

    assertEquals(status, expected);
    assertEquals(body.error.details[0].pointer, pointer);
  }
  assertEquals(await total(org), 1);
  const results = await send(org, [create("A"), create("B")], { atomic: true });
  assertEquals(statusesOf(results), [201, 201]);
  assertEquals(await total(org), 3);
});

it("finds a product by what earlier operations have made of it", async ({ org }) => {
  const { id, product: { product_code } } = await org.create();
  const by = (match: string, body: object) => ({
    method: "upsert",
    match,
    body,
  });
  const isbn10 = "0140449132";
  const update = (body: object) => ({ method: "update", id, body });

  const results = await send(org, [
    update({ isbn13: ISBN }),
    upsert(ISBN, { title: "Found by its new ISBN" }),
    update({ isbn13: null }),
    upsert(ISBN, { title: "Another" }),
    upsert(ISBN, { subtitle: "The other, again" }),
    by("product_code", { product_code, title: "By its code" }),
    { method: "delete", id },
    update({ title: "Gone" }),
    create("Third", { isbn10 }),
    by("isbn10", { isbn10: "0-14-044913-2", isbn13: OTHER_ISBN }),
    upsert(OTHER_ISBN, { title: "By the other ISBN" }),
  ]);

  assertEquals(
    statusesOf(results),
    [200, 200, 200, 201, 200, 200, 200, 404, 201, 200, 200],
  );
  // The products are read afterwards: nothing is left of one that a later operation deletes.
  for (const i of [0, 1, 2, 5]) assertEquals(results[i].data, { id });
  assertEquals(results[3].data, results[4].data);
  const { title, subtitle } = results[3].data;
  assertEquals([title, subtitle], ["Another", "The other, again"]);
  assertEquals(results[8].data, results[10].data);
  assertEquals(results[10].data.title, "By the other ISBN");
  assertEquals(await total(org), 2);
  await org.create({ isbn13: ISBN });
  const [{ status, error }] = await send(org, [upsert(ISBN, { title: "x" })]);
  assertEquals([status, error.code], [409, "AMBIGUOUS"]);
});

it("finds a product by what earlier operations have restored of it", async ({ org }) => {
  const { id, path, product: { product_code } } = await org.create({ isbn13: ISBN });
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  const restore = { method: "restore", id };
  const byCode = {
    method: "upsert",
    match: "product_code",
    body: { product_code, title: "By its code" },
  };
  await org.delete(path);

  const returned = await send(org, [restore, byCode, upsert(ISBN, { subtitle: "By its ISBN" })]);
  await org.put(path, { isbn13: OTHER_ISBN });
  const back = await send(org, [{ ...restore, version }, upsert(ISBN, { title: "By its ISBN" })]);

  for (const { status, data } of [...returned, ...back]) {
    assertEquals([status, data.id], [200, id]);
  }
  assertEquals(await total(org), 1);
});

it("refuses a restoration with the errors that it has alone", async ({ org }) => {
  const { id: series_id } = (await org.post("/api/collections", { name: "Gone" })).body.data;
  const product_collections = [{ collection_id: series_id }];
  const { id, path } = await org.create({ product_collections, series_id });
  const [{ version }] = (await org.get(`${path}/history`)).body.data;
  await org.put(path, { product_collections: [], series_id: null });
  await org.delete(`/api/collections/${series_id}`);
  const cases = [
    [{ version }, "/body/product_collections/0/collection_id", "/body/series_id"],
    [{ version: "1" }, "/version"],
    [{ at: "2001-01-01" }, "/at"],
    [{ version, at: "2001-01-01" }, "/at"],
  ] as const;

  for (const [choice, ...places] of cases) {
    const operations = [{ method: "restore", id, ...choice }];
    const alone = await org.post(`${path}/restore`, choice);
    const [{ status, error }] = await send(org, operations);
    const atomic = await org.post(PATH, { operations, atomic: true });

    const pointersOf = ({ details }: { details: { pointer: string }[] }) =>
      details.map(({ pointer }) => pointer);
    assertEquals([status, error.details], [alone.status, alone.body.error.details]);
    assertEquals(pointersOf(atomic.body.error), places.map((place) => `/operations/0${place}`));
  }
});

it("does not restore a product that it has deleted", async ({ org }) => {
  const { id, path } = await org.create({ page_count: 1 });
  const update = { method: "update", id, body: { page_count: 2 } };
  const operations = [update, { method: "delete", id }, { method: "restore", id }];

  const results = await send(org, operations);
  await org.post(`${path}/restore`, {});
  const atomic = await org.post(PATH, { operations, atomic: true });

  assertEquals(statusesOf(results), [200, 200, 400]);
  assertEquals(results[2].error.details[0].code, "contradictory");
  assertEquals([atomic.status, atomic.body.error.details[0].pointer], [400, "/operations/2/body"]);
  assertEquals((await org.get(path)).body.data.page_count, 1);
  // A deletion that found nothing has deleted nothing.
  await org.delete(path);
  assertEquals(statusesOf(await send(org, operations)), [404, 200, 200]);
});

it("creates products that are listed in the order of its operations", async ({ org }) => {
  const titles = Array.from({ length: 20 }, (_, i) => `${i}`);

  await org.batch(
    titles.map((title) => ({ method: "create", body: { title } })),
  );

  // They have one time of creation, and ids of one millisecond.
  const { body: { data } } = await org.get("/api/products?sort=created_at");
  assertEquals(data.map(({ title }: { title: string }) => title), titles);
});

it("does not take a product code for the name of a violated constraint", async ({ org }) => {
  const { status, body } = await org.post(PATH, {
    operations: [{
      method: "upsert",
      match: "product_code",
      body: { product_code: 'constraint "key_unused"', title: "Emma" },
    }],
    atomic: true,
  });

  assertEquals(status, 404);
  assertEquals(body.error.details[0].pointer, "/operations/0");
});

it("creates one product for concurrent upserts, by either ISBN", async ({ org }) => {
  const body = { title: "Emma", isbn13: ISBN, isbn10: "0141439580" };
  const upserts = ["isbn13", "isbn10"].flatMap((match) =>
    Array(16).fill([{ method: "upsert", match, body }])
  );

  const results = await Promise.all(
    upserts.map((operations) => send(org, operations)),
  );

  assertEquals(statusesOf(results.flat()).sort(), [
    ...Array(31).fill(200),
    201,
  ]);
  assertEquals(await total(org), 1);
});

it("lets one of many batches with If-Match succeed", async ({ org }) => {
  const { id, path } = await org.create();
  const if_match = (await org.get(path)).headers.get("etag")!;

  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      send(org, [
        { method: "update", id, if_match, body: { page_count: 1 + i } },
      ])),
  );

  assertEquals(statusesOf(replies.flat()).sort(), [
    200,
    ...Array(11).fill(412),
  ]);
});

it("maintains exact counts during concurrent batches", async ({ org }) => {
  const products = await Promise.all(
    Array.from({ length: 10 }, () => org.create()),
  );
  const update = (id: string, i: number) => ({
    method: "update",
    id,
    body: { format_id: i % 2 ? org.format : null },
  });

  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, turn) =>
      org.post(PATH, {
        operations: [
          ...(turn % 2 ? products.toReversed() : products).map(({ id }, i) => update(id, i + turn)),
          create("Emma", { format_id: org.format }),
        ],
      })),
  );

  assert(
    replies.every(({ body }) => body.data.every(({ status }: { status: number }) => status < 300)),
  );
  const { body: { data } } = await org.get("/api/products?limit=100");
  const formatted = data.filter((
    { format_id }: { format_id: string | null },
  ) => format_id !== null).length;
  assertEquals(await total(org), 22);
  assertEquals(await total(org, `&format_id=${org.format}`), formatted);
});

// The embedded database has only one connection.
it("does not block writes of another organization", async ({ org, app }) => {
  const other = await app.organization();
  const { id } = await org.create();
  const update = { method: "update", id, body: { title: "Emma" } };
  let waiting: ReturnType<typeof send>[] = [];
  await using holder = await openApp();

  await holder.sql.begin(async (sql) => {
    await sql`select from products where organization_id = ${org.id} and id = ${id} for update`;
    waiting = Array.from({ length: 10 }, () => send(org, [update]));
    const results = await send(other, [create("Persuasion")]);

    assertEquals(statusesOf(results), [201]);
  });

  for (const results of await Promise.all(waiting)) {
    assertEquals(statusesOf(results), [200]);
  }
}, { ignore: !SETTINGS.url });

it("returns only ids if return is minimal", async ({ org }) => {
  const results = await send(org, [create("A"), create("")], {
    return: "minimal",
  });

  assertEquals(Object.keys(results[0]), ["status", "data"]);
  assertEquals(Object.keys(results[0].data), ["id"]);
  const { body } = await org.get(`/api/products/${results[0].data.id}`);
  assertEquals(body.data.title, "A");
  assertEquals(statusesOf(results), [201, 400]);
});

it("lists the fields that no operation heeds in Ignored-Fields", async ({ org, app }) => {
  const { product } = await org.create(await fullBody(app, org));
  const ignoredIn = async (...operations: object[]) =>
    (await org.batch(operations)).headers.get("ignored-fields")!.split(", ");
  const byCode = { method: "upsert", match: "product_code" };

  const ignored = await ignoredIn(
    { ...byCode, body: product },
    create("Emma", { publisher_name: "Lantern" }),
  );

  assert(ignored.includes("publisher_name"));
  assert(ignored.includes("contributors.contributor_name"));
  assert(!ignored.includes("product_code"));
  const { product_code } = product;
  assertEquals(
    await ignoredIn(
      create("Persuasion", { product_code: "X" }),
      { ...byCode, body: { product_code } },
    ),
    ["product_code"],
  );
});

it("returns 400 for an invalid batch", async ({ org }) => {
  const id = crypto.randomUUID();
  // deno-fmt-ignore
  const refused: [unknown, string][] = [
      [[], ""],
      [{}, "/operations"],
      [{ operations: [] }, "/operations"],
      [{ operations: Array(101).fill(create("Emma")) }, "/operations"],
      [{ operations: [1] }, "/operations/0"],
      [{ operations: [{ method: "merge", body: {} }] }, "/operations/0/method"],
      [{ operations: [{ ...upsert(ISBN), method: "upsrt" }] }, "/operations/0/method"],
      [{ operations: [{ method: JSON.rawJSON("1e400"), body: {} }] }, "/operations/0/method"],
      [{ operations: [{ method: "create" }] }, "/operations/0/body"],
      [{ operations: [{ method: "create", body: [] }] }, "/operations/0/body"],
      [{ operations: [{ method: "update", body: {} }] }, "/operations/0/id"],
      [{ operations: [{ method: "delete", id: "1" }] }, "/operations/0/id"],
      [{ operations: [{ method: "delete", id, body: {} }] }, "/operations/0/body"],
      [{ operations: [{ method: "upsert", match: "title", body: {} }] }, "/operations/0/match"],
      [{ operations: [create("Emma")], atomic: "yes" }, "/atomic"],
      [{ operations: [create("Emma")], return: "none" }, "/return"],
      [{ operations: [create("Emma")], limit: 1 }, "/limit"],
    ];
  for (const [sent, pointer] of refused) {
    const { status, body } = await org.post(PATH, sent);

    assertEquals(status, 400, JSON.stringify(sent));
    assertEquals(
      body.error.details.map((detail: { pointer: string }) => detail.pointer),
      [pointer],
      JSON.stringify(sent),
    );
  }
  assertEquals(await total(org), 0);
});

it("executes a batch once per Idempotency-Key", async ({ org }) => {
  const headers = { "idempotency-key": "order-1" };
  const operations = [create("A"), create("B", { license_id: org.id })];
  const single = await org.post("/api/products", { title: "A" }, {
    "idempotency-key": "order-2",
  });

  const first = await org.post(PATH, { operations }, headers);
  const second = await org.post(PATH, { operations }, headers);
  const other = await org.post(PATH, { operations: [create("C")] }, headers);
  const elsewhere = await org.post(PATH, { title: "A" }, {
    "idempotency-key": "order-2",
  });

  assertEquals(statusesOf(first.body.data), [201, 400]);
  assertEquals(first.headers.get("idempotent-replayed"), null);
  assertEquals(second.text, first.text);
  assertEquals(second.headers.get("idempotent-replayed"), "true");
  assertEquals([single.status, other.status, elsewhere.status], [
    201,
    422,
    400,
  ]);
  assertEquals(await total(org), 2);
});
