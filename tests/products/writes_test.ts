import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../db/database.ts";
import { parametersOf, type Statement } from "../../db/connections/sql.ts";
import { fullBody } from "../support/data/bodies.ts";
import type { Reply } from "../support/client/envelope.ts";
import { openApp, send } from "../support/app/harness.ts";
import { withOperations } from "../support/app/operations.ts";

Deno.test("A write", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const tables: string[] = [];
  const handler = app.variant({ database: noting(app.database, tables) });

  /** The tables in the statements of a write. */
  async function tablesOf(method: string, path: string, body?: object) {
    tables.length = 0;
    const reply = await send(handler, path, {
      method,
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      ...body && { body: JSON.stringify(body) },
    });
    return { reply, tables: [...tables] };
  }

  const body = await fullBody(app, org);
  // The use of the key is recorded only once.
  await send(handler, "/api/products", { headers: { "x-api-key": org.key } });
  let created: Reply["body"];

  await it("creates a product, with locks in the common order", async () => {
    const { reply, tables } = await tablesOf("POST", "/api/products", body);

    assertEquals(reply.status, 201);
    assertInOrder(tables);
    created = reply.body.data;
  });

  await it("updates a product, with locks in the common order", async () => {
    const other = { ...created, title: "Emma", lifecycle_status_id: null };

    const { reply, tables } = await tablesOf(
      "PUT",
      `/api/products/${created.id}`,
      other,
    );

    assertEquals(reply.status, 200);
    assertInOrder(tables);
  });

  await it("deletes a product, with locks in the common order", async () => {
    const { reply, tables } = await tablesOf(
      "DELETE",
      `/api/products/${created.id}`,
    );

    assertEquals(reply.body.data.deleted, true);
    assertEquals([...new Set(tables)], [
      "products",
      "product_counts",
      "product_deletions",
      "product_documents",
    ]);
  });

  await it("generates another product code if the first is taken", async () => {
    const { product } = await org.create();
    const code = product.product_code as string;
    const bytes = Uint8Array.from(
      code.slice(2),
      (character) => CODE_CHARACTERS.indexOf(character),
    );
    const { getRandomValues } = crypto;
    let drawn = 0;
    crypto.getRandomValues = ((array: Uint8Array<ArrayBuffer>) => {
      if (array.length !== 8 || drawn++) {
        return getRandomValues.call(crypto, array);
      }
      array.set(bytes);
      return array;
    }) as typeof getRandomValues;

    const { product: another } = await org.create();

    crypto.getRandomValues = getRandomValues;
    assertEquals(drawn, 2);
    assert(another.product_code !== code);
  });
});

const CODE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The common lock order, which prevents deadlocks: the product first, then shared rows, counts before formats. */
function assertInOrder(tables: string[]): void {
  // Further locks of the product never wait.
  const locked = [...new Set(tables)];
  assert(locked.includes("product_prices"), `${locked}`);
  assertEquals(locked[0], "products");
  assertEquals(
    locked.filter((table) => SHARED.includes(table)),
    SHARED,
  );
}

const SHARED = ["product_counts", "formats"];

const LOCKING = /\b(insert into|update|delete from)\b/;

/** A database that records the table of each locking statement in its transactions. */
function noting(database: Database, tables: string[]): Database {
  function note(flight: readonly Statement[]): void {
    for (const statement of flight) {
      const { text } = parametersOf(statement, "");
      if (!LOCKING.test(text)) continue;
      const [, table] = /\b(?:insert into|update|from) (\w+)/.exec(text) ?? [];
      // The use of a key is recorded once per minute.
      if (table !== "api_key_uses") tables.push(table!);
    }
  }
  return withOperations(database, (operations) => ({
    ...operations,
    transaction: (work, ...opening) => {
      note(opening);
      return operations.transaction((tx) =>
        work({
          ...tx,
          send(...flight) {
            note(flight);
            return tx.send(...flight);
          },
          commit(...flight) {
            note(flight);
            return tx.commit(...flight);
          },
        }), ...opening);
    },
  }));
}
