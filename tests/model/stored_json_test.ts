import { assertEquals } from "@std/assert";
import { selectBuilt } from "../../db/products/documents.ts";
import { selectStored } from "../../db/products/get.ts";
import { miscounted } from "../../db/commands/recount.ts";
import { createFullProduct } from "../support/data/full_product.ts";
import { openOwnApp, operationsOf } from "../support/app/own_app.ts";
import { readParameters } from "./parameters.ts";
import { fc } from "../support/app/packages.ts";
import { assertBuilt, store } from "../support/client/stored.ts";
import { bodies } from "./bodies.ts";
import type { Entry, Product } from "./catalogue.ts";
import { openScene, resolved, type Scene } from "./scene.ts";
import { SQL } from "./sql_writes.ts";
import { codes } from "./world.ts";
import { TIMED } from "../support/app/deadline.ts";

/** A request or SQL transaction on one of the products. -1 means a new product. */
interface Step {
  nth: number;
  input?: Entry;
  sql?: string;
}

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ nth: fc.constant(-1), input: bodies("create") }),
    fc.record({ nth: fc.nat({ max: 2 }), input: bodies("update") }),
    fc.record({ nth: fc.nat({ max: 2 }), sql: SQL }),
    fc.record({ nth: fc.nat({ max: 2 }), sql: SQL }),
  ),
  { minLength: 5, maxLength: 15 },
);

Deno.test({
  ...TIMED,
  name:
    "Stored JSON and counts are correct after any writes by requests and SQL",
}, async () => {
  await using app = await openOwnApp();
  const lists = await codes(app);

  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const scene = await openScene(app, lists);
      const { client } = scene.sides[0]!;
      await createFullProduct(app, client);
      for (const step of steps) {
        const ids = await idsOf(scene);
        await store(app, client, ...ids);
        await take(scene, step, ids[step.nth % ids.length]);
        await assertStored(scene);
      }
      await assertBuilt(app, client);
      assertEquals([...await app.sql`${miscounted}`], []);
    }),
    readParameters(),
  );
});

/** Executes the step. The database may reject it. */
async function take(scene: Scene, step: Step, id?: string): Promise<void> {
  const { client } = scene.sides[0]!;
  const { sql, input = {} } = step;
  const path = `/api/products/${id}`;
  if (sql && id) {
    const text = sql.replaceAll("$org", client.id).replaceAll("$product", id);
    // Keys and check constraints may reject it.
    await scene.app.sql.begin((tag) => tag.unsafe(text)).catch(() => {});
  } else if (id) {
    const { body } = await client.get(path);
    const product = { arrays: body.data } as Product;
    await client.put(path, resolved(scene, { by: 0, input }, product).body);
  } else if (!sql) {
    const { body } = resolved(scene, { by: 0, input });
    await client.post("/api/products", body);
  }
}

/** Expects every valid document to equal the product built from the tables. */
async function assertStored({ app, sides }: Scene): Promise<void> {
  const { client } = sides[0]!;
  for (const id of await idsOf({ app, sides } as Scene)) {
    const operations = operationsOf(app, client);
    const [stored] = await operations.lookUp(selectStored(id));
    const [built] = await operations.lookUp(selectBuilt(id));
    if (stored!.product) assertEquals(stored!.product, built!.product);
  }
}

async function idsOf({ app, sides }: Scene): Promise<string[]> {
  const rows = await app.sql<{ id: string }[]>`
            select id from products where organization_id = ${
    sides[0]!.client.id
  } order by id
  `;
  return rows.map(({ id }) => id);
}
