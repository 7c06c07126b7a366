/*
 * Hono and postgres.js on Node with the service's own read statements. PostgreSQL's
 * JSON is passed on unchanged.
 */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { validator } from "hono/validator";
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { rowsOf } from "./new_product.js";
import {
  DATABASE_URL,
  envelope,
  metaOf,
  ORGANIZATION_ID,
  parametersFor,
  POOL,
  PORT,
  STATEMENTS,
} from "./settings.js";

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

const sql = postgres(DATABASE_URL, { max: POOL });
const app = new Hono();

app.get("/api/products/:id", async (c) => {
  const { text } = STATEMENTS.get;
  const parameters = parametersFor(STATEMENTS.get, c.req.param("id"));
  const [row] = await sql.unsafe(text, parameters, { prepare: true });
  return c.body(envelope(row.product), 200, JSON_TYPE);
});

app.get("/api/products", async (c) => {
  const { text, parameters } = STATEMENTS.list;
  const [row] = await sql.unsafe(text, parameters, { prepare: true });
  const meta = metaOf(c.req.query(), row.total);
  return c.body(envelope(`[{${row.entries}}]`, meta), 200, JSON_TYPE);
});

const newProduct = validator("json", (body, c) => {
  if (typeof body.title === "string" && body.title.length > 0) return body;
  return c.json({ success: false }, 400);
});

app.post("/api/products", newProduct, async (c) => {
  return c.body(envelope(await create(c.req.valid("json"))), 201, JSON_TYPE);
});

/** An array pipelines the statements of a transaction. */
async function create(body) {
  const id = randomUUID();
  const inserts = rowsOf(ORGANIZATION_ID, id, body);
  const { text } = STATEMENTS.store;
  const parameters = parametersFor(STATEMENTS.store, id);
  const results = await sql.begin((sql) => [
    ...inserts.map(({ table, rows }) =>
      sql`insert into ${sql(table)} ${sql(rows)}`
    ),
    sql.unsafe(text, parameters, { prepare: true }),
  ]);
  return results.at(-1)[0].product;
}

serve({ fetch: app.fetch, port: PORT, hostname: "127.0.0.1" });
