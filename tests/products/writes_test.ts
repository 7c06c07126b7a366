import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../db/database.ts";
import { watched } from "../../db/connections/tracing.ts";
import { fullBody } from "../support/bodies.ts";
import type { Reply } from "../support/envelope.ts";
import { openApp, type Organization, send } from "../support/harness.ts";
import { withOperations } from "../support/operations.ts";

Deno.test("A write", async (t) => {
  // One session, whose dice can be loaded.
  await using app = await openApp({}, { poolSize: 1 });
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

  await t.step("creates a product, and locks in the order of all", async () => {
    const { reply, tables } = await tablesOf("POST", "/api/products", body);

    assertEquals(reply.status, 201);
    assertInOrder(tables);
    created = reply.body.data;
  });

  await t.step("changes one, and locks in that order", async () => {
    const other = { ...created, title: "Emma", lifecycle_status_id: null };

    const { reply, tables } = await tablesOf(
      "PUT",
      `/api/products/${created.id}`,
      other,
    );

    assertEquals(reply.status, 200);
    assertInOrder(tables);
  });

  await t.step("deletes one, and locks in that order", async () => {
    const { reply, tables } = await tablesOf(
      "DELETE",
      `/api/products/${created.id}`,
    );

    assertEquals(reply.body.data.deleted, true);
    assertEquals(tables, ["products", "product_counts", "products"]);
  });

  await t.step("draws a product code again that was drawn before", async () => {
    const [theirs, ours] = [await app.organization(), await app.organization()];
    const load = () => app.sql((sql) => sql`select setseed(0.5)`);
    const draw = async (org: Organization): Promise<string> =>
      (await org.create()).product.product_code;

    await load();
    const two = [await draw(theirs), await draw(theirs)];
    await load();
    const first = await draw(ours);
    await load();
    const second = await draw(ours);

    assertEquals([first, second], two);
  });
});

/** So that none waits for another in a circle: the product, its counts, what belongs to it, its format, which it shares. */
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
  return withOperations(database, (operations) => ({
    ...operations,
    write: ({ answer, ...question }) =>
      operations.write({
        ...question,
        answer: (sql, asks) => answer(watched(sql, watch), asks),
      }),
    transaction: (work) =>
      operations.transaction((sql) => work(watched(sql, watch))),
  }));
}
