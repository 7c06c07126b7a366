/*
 * Fastify and Drizzle with relational queries, as in their guides. The application
 * builds the response from rows, and counts lists.
 */
import Fastify from "fastify";
import { randomUUID } from "node:crypto";
import { db, get, list } from "./drizzle_read.js";
import * as tables from "./drizzle_schema.js";
import { metaOf } from "./envelope.js";
import { ORGANIZATION_ID, PORT } from "./environment.js";
import { NEW_PRODUCT } from "./new_product.js";
import { rowsOf } from "./rows.js";

const app = Fastify();

app.get("/api/products/:id", async ({ params }) => {
  return { success: true, data: await get(params.id), error: null };
});

app.get("/api/products", async ({ query }) => {
  const { products, total } = await list(query);
  const meta = metaOf(query, total);
  return { success: true, data: products, error: null, meta };
});

app.post(
  "/api/products",
  { schema: { body: NEW_PRODUCT } },
  async ({ body }, reply) => {
    const id = await create(body);
    reply.code(201);
    return { success: true, data: await get(id), error: null };
  },
);

async function create(body) {
  const id = randomUUID();
  await db.transaction(async (tx) => {
    for (const { table, rows } of rowsOf(ORGANIZATION_ID, id, body)) {
      await tx.insert(tables[table]).values(rows);
    }
  });
  return id;
}

await app.listen({ port: PORT });
