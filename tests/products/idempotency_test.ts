import { assert, assertEquals } from "@std/assert";
import type { Reply } from "../support/client/envelope.ts";
import { send, SETTINGS, testsOf } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";
import { createRecord } from "../support/data/records.ts";

const it = testsOf("POST /products with Idempotency-Key");

it("repeats the response to a repeated request, although the write would fail now", async ({ org }) => {
  const headers = { "idempotency-key": "order-1" };
  const license = await createRecord(org, "licenses");
  const product = { title: "Emma", license_id: license.id };
  const first = await org.post("/api/products", product, headers);
  await org.delete(`/api/products/${first.body.data.id}`);
  await org.delete(license.path);

  const second = await org.post("/api/products", product, headers);

  assertEquals([first.status, second.status], [201, 201]);
  assertEquals(first.headers.get("idempotent-replayed"), null);
  assertEquals(second.headers.get("idempotent-replayed"), "true");
  assertEquals(second.headers.get("location"), first.headers.get("location"));
  assertEquals(second.headers.get("etag"), first.headers.get("etag"));
  assertEquals(second.text, first.text);
  assertEquals((await org.get("/api/products")).body.meta.total, 0);
});

it("refuses the key at another path (422)", async ({ org }) => {
  const headers = { "idempotency-key": "order-1" };
  await org.post("/api/seasons", { name: "Spring" }, headers);

  const { status, body } = await org.post("/api/publishers", {
    name: "Spring",
  }, headers);

  assertEquals([status, body.error.code], [422, "IDEMPOTENCY_MISMATCH"]);
  assertEquals(
    body.error.message,
    "This Idempotency-Key was used for another request: use a new key",
  );
});

it("keeps the keys of two organizations apart", async ({ app }) => {
  const [ours, theirs] = [await app.organization(), await app.organization()];
  const headers = { "idempotency-key": "order-1" };
  await ours.post("/api/products", { title: "Emma" }, headers);

  const { status, body } = await theirs.post("/api/products", {
    title: "Persuasion",
  }, headers);

  assertEquals(status, 201);
  assertEquals(body.data.title, "Persuasion");
});

it("creates one product for twenty concurrent requests", async ({ org }) => {
  const body = { title: "Emma" };
  const requests: [path: string, body: object][] = [
    ["/api/products", body],
    ["/api/products/batch", { operations: [{ method: "create", body }] }],
  ];
  for (const [i, [path, body]] of requests.entries()) {
    const headers = { "idempotency-key": `a-20-fold-${i}` };

    const replies = await Promise.all(
      Array.from({ length: 20 }, () => org.post(path, body, headers)),
    );

    for (const { status, body } of replies) {
      if (status === 409) {
        assertEquals(body.error.code, "IDEMPOTENCY_IN_PROGRESS");
      } else assertEquals(status, i ? 200 : 201);
    }
    assertEquals((await org.get("/api/products")).body.meta.total, i + 1);
  }
});

it("forgets the key of a failed request", async ({ org }) => {
  const headers = { "idempotency-key": "order-1" };

  const failed = await org.post("/api/products", {
    title: "Emma",
    license_id: org.id,
  }, headers);
  const { status } = await org.post(
    "/api/products",
    { title: "Emma" },
    headers,
  );

  assertEquals([failed.status, status], [400, 201]);
});

it("forgets a key after a day, and remembers its new use", async ({ org, sql }) => {
  const create = (key: string, title: string) =>
    org.post("/api/products", { title }, { "idempotency-key": key });
  const age = (hours: number) =>
    sql`
      update idempotency_keys set created_at = now() - ${hours} * interval '1 hour'
      where organization_id = ${org.id}
    `;
  const first = await create("order-1", "Emma");
  await create("order-2", "Emma");
  await age(23);
  await create("order-3", "Emma");
  assertEquals((await create("order-1", "Emma")).text, first.text);

  await age(25);
  const [again, repeated] = [
    await create("order-1", "Persuasion"),
    await create("order-1", "Persuasion"),
  ];

  assertEquals(again.status, 201);
  assertEquals(again.headers.get("idempotent-replayed"), null);
  assertEquals(repeated.headers.get("idempotent-replayed"), "true");
  assertEquals(repeated.text, again.text);
  assertEquals((await org.get("/api/products")).body.meta.total, 4);
  const keys = await sql<{ key: string }[]>`
    select key from idempotency_keys where organization_id = ${org.id}
  `;
  assertEquals(keys.map(({ key }) => key), ["order-1"]);
});

it("keeps 64 MiB of responses per organization", async ({ org, app, sql }) => {
  const other = await app.organization();
  for (const { id } of [org, other]) {
    await sql`
      insert into idempotency_keys (organization_id, key, operation, request_hash, answer, created_at)
      select ${id}, i, 'POST /products', '', repeat('x', 1048576), now() - i * interval '1 minute'
      from generate_series(1, 70) i
    `;
  }
  const collateral = Array(8).fill({
    collateral_type: "text_content",
    text: "x".repeat(100_000),
  });
  const keysOf = ({ id }: { id: string }) =>
    sql<
      { key: string }[]
    >`select key from idempotency_keys where organization_id = ${id} and key ~ '^\\d+$'`;

  // The older ones are deleted on average after 4 MiB of new ones.
  for (let n = 0; (await keysOf(org)).length >= 64; n++) {
    assert(n < 150, "The oldest responses are kept");
    const body = { title: "Emma", collateral };
    const headers = { "idempotency-key": `order-${n}` };
    assertEquals((await org.post("/api/products", body, headers)).status, 201);
  }

  const left = await keysOf(org);
  assert(left.length > 0 && left.every(({ key }) => Number(key) < 64));
  assertEquals((await keysOf(other)).length, 70);
});

// The embedded database runs one transaction at a time.
it(
  "refuses the key with Retry-After while it is in use (409)",
  async ({ org, app }) => {
    const other = await app.organization();
    const headers = { "idempotency-key": "order-1" };
    let refused: Reply | undefined;
    let apart: Reply | undefined;
    const database = withOperations(app.database, (operations) => ({
      ...operations,
      transaction: (work, ...opening) =>
        operations.transaction(async (tx) => {
          // Sends the opening statements.
          await tx.send();
          refused ??= await org.post("/api/products", { title: "A" }, headers);
          apart ??= await other.post("/api/products", { title: "A" }, headers);
          return await work(tx);
        }, ...opening),
    }));

    const { status } = await send(
      app.variant({ database }),
      "/api/products",
      {
        method: "POST",
        headers: {
          ...headers,
          "x-api-key": org.key,
          "content-type": "application/json",
        },
        body: '{"title":"A"}',
      },
    );

    assertEquals(status, 201);
    assertEquals(refused!.status, 409);
    assertEquals(refused!.body.error.code, "IDEMPOTENCY_IN_PROGRESS");
    assertEquals(
      refused!.body.error.message,
      "A request with this Idempotency-Key is still running: retry to get its response",
    );
    assertEquals(refused!.headers.get("retry-after"), "1");
    assertEquals(apart!.status, 201);
  },
  { ignore: !SETTINGS.url },
);

it("refuses an invalid key (400)", async ({ org }) => {
  const keys = ["", "x".repeat(256), "x".repeat(10_000), "two words", "\xe9"];
  for (const key of keys) {
    const { status, body } = await org.post("/api/products", {
      title: "Emma",
    }, { "idempotency-key": key });

    assertEquals(status, 400);
    assertEquals(body.error.details[0].header, "Idempotency-Key");
  }
});
