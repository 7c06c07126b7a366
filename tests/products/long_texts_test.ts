import { assert, assertEquals } from "@std/assert";
import type { Memory } from "../../db/database.ts";
import type { Transaction } from "../../db/connections/transaction.ts";
import { openApp } from "../support/app/harness.ts";
import { Copy } from "../support/client/copy.ts";
import { withOperations } from "../support/app/operations.ts";
import { SHORT_BYTES } from "../../db/sizes.ts";

/** Products of 1 MB. */
const COLLATERAL = Array(10).fill({
  collateral_type: "text_content",
  text: "x".repeat(99_000),
});

/**
 * A request must have reserved memory before it reads a long text, whatever it does. The
 * database notes what it returned at once, and what was reserved then.
 */
Deno.test("Memory for a long text is reserved before it is read:", async ({ step: it }) => {
  await using app = await openApp();
  const { sql } = app;
  let unreserved: string[] = [];
  let most = 0;

  function noting(memory: Memory) {
    return {
      noted<R>(reply: R): R {
        const bytes = (reply as object[]).flatMap((row) => Object.values(row))
          .map((value) => typeof value === "string" ? value.length : 0)
          .reduce((sum, length) => sum + length, 0);
        most = Math.max(most, bytes);
        if (bytes > memory.bytes + 1_000) {
          unreserved.push(`${bytes} bytes with ${memory.bytes}`);
        }
        return reply;
      },
    };
  }

  const database = withOperations(app.database, (operations) => {
    if (!operations.memory) return operations;
    const { noted } = noting(operations.memory);
    const notingIn = (tx: Transaction): Transaction => ({
      isDistributed: tx.isDistributed,
      author: tx.author,
      send: async (...statements) => {
        const replies = await tx.send(...statements);
        replies.forEach(noted);
        return replies;
      },
      commit: async (...statements) => {
        const replies = await tx.commit(...statements);
        replies.forEach(noted);
        return replies;
      },
    });
    return {
      ...operations,
      lookUp: async (statement) => noted(await operations.lookUp(statement)),
      scan: async (statement) => noted(await operations.scan(statement)),
      transaction: (work, ...opening) =>
        operations.transaction((tx) => work(notingIn(tx)), ...opening),
    };
  });
  const handler = app.variant({ database });
  const org = await app.organization();
  const products = await Promise.all(
    Array.from({ length: 3 }, () => org.create({ collateral: COLLATERAL })),
  );
  // Other transactions of the server hold the feed back.
  await new Copy(org, app).catchUp();
  const { path } = products[0]!;
  const batch = (method: string, more: object) => ({
    return: "full",
    operations: products.map(({ id }) => ({ method, id, ...more })),
  });
  const create = { title: "Emma", collateral: COLLATERAL };

  async function ask(
    method: string,
    path: string,
    body?: object,
    headers: HeadersInit = {},
  ) {
    unreserved = [];
    most = 0;
    const response = await handler(
      new Request(`http://catalogue.test${path}`, {
        method,
        headers: {
          "x-api-key": org.key,
          "content-type": "application/json",
          ...headers,
        },
        body: body ? JSON.stringify(body) : null,
      }),
    );
    const text = await response.text();
    assert(response.ok, text.slice(0, 500));
    assertEquals(unreserved, []);
    return text;
  }

  const requests: Record<string, [string, string, object?]> = {
    "a product": ["GET", path],
    "a page": ["GET", "/api/products?include=collateral"],
    "a page of changes": ["GET", "/api/products/changes?include=collateral"],
    "an updated product": ["PUT", path, { page_count: 1 }],
    "a product that is not changed": ["PUT", path, {}],
    "a created product": ["POST", "/api/products", create],
    "a batch": [
      "POST",
      "/api/products/batch",
      batch("update", { body: { page_count: 2 } }),
    ],
  };
  for (const [name, request] of Object.entries(requests)) {
    await it(name, async () => {
      const text = await ask(...request);

      assert(text.length > 900_000, `${text.length}`);
      assert(most > 900_000, `${most}`);
    });
  }

  await it("a product without stored JSON", async () => {
    await sql`delete from product_documents where organization_id = ${org.id}`;

    const text = await ask("GET", path);

    assert(text.length > 900_000, `${text.length}`);
  });

  await it("the response to a repeated request", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID() };

    const first = await ask("POST", "/api/products", create, key);
    const second = await ask("POST", "/api/products", create, key);

    assertEquals(second, first);
  });

  await it("no product for a batch that is too large", async () => {
    const path = "/api/products/batch";
    const large = Array.from({ length: 20 }, () => products)
      .flat().slice(0, 60)
      .map(({ id }) => ({ method: "update", id, body: { page_count: 3 } }));

    const { status, body } = await org.post(path, { operations: large });

    assertEquals(status, 400);
    assertEquals(body.error.details[0].code, "too_large");
    await ask("POST", path, {
      return: "minimal",
      operations: batch("update", { body: { page_count: 4 } }).operations,
    });
    assert(most < SHORT_BYTES, `${most}`);
  });
});
