import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../db/database.ts";
import { parametersOf, type Statement } from "../../db/connections/sql.ts";
import { fullBody } from "../support/bodies.ts";
import type { Reply } from "../support/envelope.ts";
import { openApp, type Organization, send } from "../support/harness.ts";
import { withOperations } from "../support/operations.ts";

Deno.test("A write", async (t) => {
  // One session, whose dice can be loaded.
  await using app = await openApp({}, { poolSize: 1 });
  const org = await app.organization();
  const tables: string[] = [];
  const handler = app.variant({ database: noting(app.database, tables) });

  /** The tables of the statements that a write sends. */
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
  // The use of the key is noted once.
  await send(handler, "/api/products", { headers: { "x-api-key": org.key } });
  let created: Reply["body"];

  await t.step(
    "creates a product, and takes locks in the common order",
    async () => {
      const { reply, tables } = await tablesOf("POST", "/api/products", body);

      assertEquals(reply.status, 201);
      assertInOrder(tables);
      created = reply.body.data;
    },
  );

  await t.step("changes a product, and takes locks in that order", async () => {
    const other = { ...created, title: "Emma", lifecycle_status_id: null };

    const { reply, tables } = await tablesOf(
      "PUT",
      `/api/products/${created.id}`,
      other,
    );

    assertEquals(reply.status, 200);
    assertInOrder(tables);
  });

  await t.step("deletes a product, and takes locks in that order", async () => {
    const { reply, tables } = await tablesOf(
      "DELETE",
      `/api/products/${created.id}`,
    );

    assertEquals(reply.body.data.deleted, true);
    assertEquals(tables, ["products", "product_counts", "products"]);
  });

  await t.step("draws another product code if the first exists", async () => {
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

/** So that none waits for another in a circle: the product, then what it shares with others, counts before formats. */
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

/** The database, which notes the table of each statement of its transactions that locks a row. */
function noting(database: Database, tables: string[]): Database {
  function note(flight: readonly Statement[]): void {
    for (const statement of flight) {
      const { text } = parametersOf(statement, "");
      if (!LOCKING.test(text)) continue;
      const [, table] = /\b(?:insert into|update|from) (\w+)/.exec(text) ?? [];
      tables.push(table!);
    }
  }
  return withOperations(database, (operations) => ({
    ...operations,
    transaction: (work) =>
      operations.transaction((tx) =>
        work({
          send(...flight) {
            note(flight);
            return tx.send(...flight);
          },
          commit(...flight) {
            note(flight);
            return tx.commit(...flight);
          },
        })
      ),
  }));
}
