/*
 * Express and Knex with a query per table, as in their guides. The application
 * builds the response from rows, and counts lists.
 */
import express from "express";
import { randomUUID } from "node:crypto";
import { metaOf } from "./envelope.js";
import { ORGANIZATION_ID, PORT } from "./environment.js";
import { db } from "./knex_queries.js";
import { get, list } from "./knex_read.js";
import { rowsOf } from "./rows.js";

const app = express();
app.use(express.json());

app.get("/api/products/:id", async ({ params }, response) => {
  response.json({ success: true, data: await get(params.id), error: null });
});

app.get("/api/products", async ({ query }, response) => {
  const { products, total } = await list(query);
  const meta = metaOf(query, total);
  response.json({ success: true, data: products, error: null, meta });
});

app.post("/api/products", async ({ body }, response) => {
  if (typeof body.title !== "string" || body.title === "") {
    return response.status(400).json({ success: false });
  }
  const id = await create(body);
  response.status(201).json({
    success: true,
    data: await get(id),
    error: null,
  });
});

async function create(body) {
  const id = randomUUID();
  await db.transaction(async (trx) => {
    for (const { table, rows } of rowsOf(ORGANIZATION_ID, id, body)) {
      await trx(table).insert(rows.map(withJson));
    }
  });
  return id;
}

/** pg expects JSON as a string. */
function withJson(row) {
  return "field_value" in row
    ? { ...row, field_value: JSON.stringify(row.field_value) }
    : row;
}

app.listen(PORT, "127.0.0.1");
