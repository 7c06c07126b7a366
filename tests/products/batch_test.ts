import { assert, assertEquals } from "@std/assert";
import { fullBody } from "../support/data/bodies.ts";
import { assertDetails } from "../support/client/expect.ts";
import {
  openApp,
  type Organization,
  SETTINGS,
  testsOf,
} from "../support/app/harness.ts";

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

  const results = await send(org, [
    create("First"),
    create("", { page_count: 0 }),
    create("No such license", { license_id: id }),
    { method: "update", id: stranger.id, body: { title: "Mine" } },
    { method: "update", id, body: { product_prices: [{ id }] } },
    { method: "update", id: inProgram.id, body: { series_id: org.series } },
    { method: "delete", id: inProgram.id },
    { method: "update", id, body: { title: "Not it" }, if_match: '"x"' },
    { method: "delete", id: stranger.id, if_match: '"x"' },
    { method: "upsert", match: "isbn13", body: { title: "Without one" } },
    upsert(ISBN),
    upsert(ISBN, { title: "", page_count: 0 }),
    { method: "update", id, body: { title: "" } },
    { method: "upsert", match: "product_code", body: { product_code: "P-1" } },
    create("Last"),
  ]);

  assertEquals(
    results.map((
      { status, error }: { status: number; error?: { code: string } },
    ) => [status, error?.code]),
    [
      [201, undefined],
      [400, "VALIDATION_ERROR"],
      [400, "VALIDATION_ERROR"],
      [404, "NOT_FOUND"],
      [400, "VALIDATION_ERROR"],
      [400, "VALIDATION_ERROR"],
      [409, "CONFLICT"],
      [412, "PRECONDITION_FAILED"],
      [412, "PRECONDITION_FAILED"],
      [400, "VALIDATION_ERROR"],
      [400, "VALIDATION_ERROR"],
      [400, "VALIDATION_ERROR"],
      [400, "VALIDATION_ERROR"],
      [404, "NOT_FOUND"],
      [201, undefined],
    ],
  );
  const pointers = [1, 2, 4, 5, 9, 10, 11, 12].map((i) =>
    results[i].error.details.map(({ pointer }: { pointer: string }) => pointer)
  );
  assertEquals(pointers, [
    ["/title", "/page_count"],
    ["/license_id"],
    ["/product_prices/0/id"],
    ["/series_id"],
    ["/isbn13"],
    ["/title"],
    ["/title", "/page_count"],
    ["/title"],
  ]);
  assertEquals(await total(org), 4);
});

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

it("executes operations on the same product in order", async ({ org }) => {
  const { id } = await org.create();

  const results = await send(org, [
    { method: "update", id, body: { isbn13: ISBN } },
    upsert(ISBN, { title: "Found by its new ISBN" }),
    { method: "update", id, body: { isbn13: null } },
    upsert(ISBN, { title: "Another" }),
    upsert(ISBN, { subtitle: "The other, again" }),
    { method: "delete", id },
    { method: "update", id, body: { title: "Gone" } },
  ]);

  assertEquals(statusesOf(results), [200, 200, 200, 201, 200, 200, 404]);
  assertEquals(results[1].data.id, id);
  // The products are read afterwards: nothing is left of one that a later operation deletes.
  assertEquals(results[2].data, { id });
  assertEquals(results[3].data, results[4].data);
  const { title, subtitle } = results[3].data;
  assertEquals([title, subtitle], ["Another", "The other, again"]);
  assertEquals(await total(org), 1);
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

it("finds a product by the other ISBN of an upsert", async ({ org }) => {
  const byIsbn10 = {
    method: "upsert",
    match: "isbn10",
    body: { title: "Emma", isbn10: "0306406152", isbn13: OTHER_ISBN },
  };

  const results = await send(org, [
    byIsbn10,
    upsert(OTHER_ISBN, { title: "Persuasion" }),
    { ...byIsbn10, body: { ...byIsbn10.body, isbn13: ISBN } },
    upsert(ISBN, { title: "Sanditon" }),
  ]);

  assertEquals(statusesOf(results), [201, 200, 200, 200]);
  assertEquals(results[3].data.title, "Sanditon");
  assertEquals(await total(org), 1);
});

it("finds a product by the ISBN-10 of a creation", async ({ org }) => {
  const isbn10 = "0306406152";

  const results = await send(org, [
    create("Emma", { isbn10 }),
    { method: "upsert", match: "isbn10", body: { isbn10, title: "Sanditon" } },
  ]);

  assertEquals(statusesOf(results), [201, 200]);
  assertEquals(await total(org), 1);
});

it("upserts by ISBN-10 and by product code", async ({ org }) => {
  const { id, product } = await org.create({ isbn10: "0306406152" });
  const { product_code } = product;
  await org.create({ isbn13: ISBN });
  await org.create({ isbn13: ISBN });

  const results = await send(org, [
    {
      method: "upsert",
      match: "isbn10",
      body: { isbn10: "0-306-40615-2", subtitle: "A novel" },
    },
    {
      method: "upsert",
      match: "product_code",
      body: { product_code, title: "Persuasion" },
    },
    upsert(ISBN, { title: "One of two" }),
  ]);

  assertEquals(statusesOf(results), [200, 200, 409]);
  assertEquals(results[1].data.id, id);
  assertEquals(results[1].data.subtitle, "A novel");
  assertEquals(results[1].data.title, "Persuasion");
  assertEquals(results[2].error.code, "AMBIGUOUS");
});

it("refuses a product code that PostgreSQL cannot store", async ({ org }) => {
  const byCode = (product_code: string) => ({
    method: "upsert",
    match: "product_code",
    body: { product_code, title: "Emma" },
  });

  const results = await send(org, [
    byCode("P-\0"),
    byCode("P-\ud800"),
    byCode("P".repeat(2_001)),
    create("Persuasion"),
  ]);

  assertEquals(statusesOf(results), [400, 400, 400, 201]);
  for (const { error } of results.slice(0, 3)) {
    assertEquals(error.details[0].pointer, "/product_code");
  }
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

it("creates one product for concurrent upserts", async ({ org }) => {
  const body = { operations: [upsert(ISBN, { title: "Emma" })] };

  const replies = await Promise.all(
    Array.from({ length: 32 }, () => org.post(PATH, body)),
  );

  const statuses = replies.map(({ body }) => body.data[0].status);
  assertEquals(statuses.filter((status) => status === 201).length, 1);
  assertEquals(statuses.filter((status) => status === 200).length, 31);
  assertEquals(await total(org), 1);
});

it("creates one product for concurrent upserts by different ISBNs", async ({ org }) => {
  const body = { title: "Emma", isbn13: ISBN, isbn10: "0141439580" };
  const upserts = ["isbn13", "isbn10"].flatMap((match) =>
    Array(10).fill([{ method: "upsert", match, body }])
  );

  const results = await Promise.all(
    upserts.map((operations) => send(org, operations)),
  );

  assertEquals(
    results.flat().map(({ status }: { status: number }) => status).sort(),
    [...Array(19).fill(200), 201],
  );
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

it("deletes or updates a product that both address", async ({ org }) => {
  for (let i = 0; i < 12; i++) {
    const { id, path } = await org.create();

    const [[updated], deleted] = await Promise.all([
      send(org, [{ method: "update", id, body: { page_count: 1 } }]),
      org.delete(path),
    ]);

    assert([200, 404].includes(updated.status), JSON.stringify(updated));
    assertEquals(deleted.body.data.deleted, true);
  }
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
          ...(turn % 2 ? products.toReversed() : products).map(({ id }, i) =>
            update(id, i + turn)
          ),
          create("Emma", { format_id: org.format }),
        ],
      })),
  );

  assert(
    replies.every(({ body }) =>
      body.data.every(({ status }: { status: number }) => status < 300)
    ),
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

it("lists the response-only fields in Ignored-Fields", async ({ org, app }) => {
  const { product } = await org.create(await fullBody(app, org));

  const { headers } = await org.post(PATH, {
    operations: [
      { method: "upsert", match: "product_code", body: product },
      create("Emma", { publisher_name: "Lantern" }),
    ],
  });

  const ignored = headers.get("ignored-fields")!.split(", ");
  assert(ignored.includes("publisher_name"));
  assert(ignored.includes("contributors.contributor_name"));
  assert(!ignored.includes("product_code"));
});

it("names a field that only the upsert does not ignore", async ({ org }) => {
  const { product } = await org.create({ title: "Emma" });
  const { product_code } = product;

  const { headers } = await org.post(PATH, {
    operations: [
      create("Persuasion", { product_code: "X" }),
      { method: "upsert", match: "product_code", body: { product_code } },
    ],
  });

  assertEquals(headers.get("ignored-fields"), "product_code");
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
    assertEquals(body.error.details[0].pointer, pointer);
  }
  assertEquals(await total(org), 0);
});

it("returns one error for a misspelled method", async ({ org }) => {
  const operation = { ...upsert(ISBN), method: "upsrt" };

  const reply = await org.post(PATH, { operations: [operation] });

  assertDetails(reply, ["/operations/0/method", "invalid_value"]);
});

it("returns 413 for long bodies", async ({ org, app }) => {
  const body = {
    operations: [create("Emma", { subtitle: "x".repeat(2_000) })],
  };

  const handler = app.variant({ maxBodyBytes: 1_000 });
  const { status } = await handler(
    new Request(`http://catalogue.test${PATH}`, {
      method: "POST",
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

  assertEquals(status, 413);
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

it("executes a batch once for twenty concurrent requests with the same key", async ({ org }) => {
  const operations = [create("A"), upsert(ISBN, { title: "B" }), create("C")];

  const replies = await Promise.all(
    Array.from(
      { length: 20 },
      () => org.post(PATH, { operations }, { "idempotency-key": "k" }),
    ),
  );

  for (const { status, body } of replies) {
    if (status === 409) {
      assertEquals(body.error.code, "IDEMPOTENCY_IN_PROGRESS");
    } else assertEquals(statusesOf(body.data), [201, 201, 201]);
  }
  assertEquals(await total(org), 3);
});
