import { assert, assertEquals } from "@std/assert";
import type { Database } from "../db/database.ts";
import { watched } from "../db/watch.ts";
import { fullBody } from "./bodies.ts";
import { openApp, type Reply, send } from "./harness.ts";

Deno.test("Writes lock in one order, so that none waits for another in a circle", async (t) => {
  await using app = await openApp();
  const org = await app.organization();
  const statements: string[] = [];
  const handler = app.variant({ database: noting(app.database, statements) });

  /** The tables of the statements that a write sends. */
  async function tablesOf(method: string, path: string, body?: object) {
    statements.length = 0;
    const reply = await send(handler, path, {
      method,
      headers: { "x-api-key": org.key, "content-type": "application/json" },
      ...body && { body: JSON.stringify(body) },
    });
    const tables = statements.map((name) => name.split(" ")[1]!);
    return { reply, tables };
  }

  const body = await fullBody(app, org);
  let created: Reply["body"];

  await t.step("to create a product", async () => {
    const { reply, tables } = await tablesOf("POST", "/api/products", body);

    assertEquals(reply.status, 201);
    assertInOrder(tables);
    created = reply.body.data;
  });

  await t.step("to change one", async () => {
    const other = { ...created, title: "Emma", lifecycle_status_id: null };

    const { reply, tables } = await tablesOf(
      "PUT",
      `/api/products/${created.id}`,
      other,
    );

    assertEquals(reply.status, 200);
    assertInOrder(tables);
  });

  await t.step("to delete one", async () => {
    const { reply, tables } = await tablesOf(
      "DELETE",
      `/api/products/${created.id}`,
    );

    assertEquals(reply.body.data.deleted, true);
    assertEquals(tables, ["products", "product_counts", "products"]);
  });
});

/** The product, then its counts, then what belongs to it, then its format, which it shares. */
function assertInOrder(tables: string[]): void {
  const [first, second, ...others] = tables;
  assertEquals([first, second], ["products", "product_counts"]);
  assert(others.includes("product_prices"), `${others}`);
  assertEquals(others.slice(-2), ["formats", "products"]);
}

/** The database, which notes what is sent in its transactions. */
function noting(database: Database, statements: string[]): Database {
  const watch = {
    waited() {},
    sent(name: string) {
      statements.push(name);
      return () => {};
    },
  };
  return {
    ...database,
    load: database.load,
    until(deadline) {
      const { read, transaction } = database.until(deadline);
      return {
        read,
        transaction: (work) => transaction((sql) => work(watched(sql, watch))),
      };
    },
  };
}
