/*
 * Fastify and pg with the service's own read statements. PostgreSQL's JSON is
 * passed on unchanged.
 */
import Fastify from "fastify";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { NEW_PRODUCT, rowsOf } from "./new_product.js";
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

const JSON_TYPE = "application/json; charset=utf-8";

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: POOL });
const app = Fastify();

app.get("/api/products/:id", async ({ params }, reply) => {
  const { text } = STATEMENTS.get;
  const values = parametersFor(STATEMENTS.get, params.id);
  const { rows: [row] } = await pool.query({ name: "get", text, values });
  reply.type(JSON_TYPE);
  return envelope(row.product);
});

app.get("/api/products", async ({ query }, reply) => {
  const { text, parameters: values } = STATEMENTS.list;
  const { rows: [row] } = await pool.query({ name: "list", text, values });
  reply.type(JSON_TYPE);
  return envelope(`[{${row.entries}}]`, metaOf(query, row.total));
});

app.post(
  "/api/products",
  { schema: { body: NEW_PRODUCT } },
  async ({ body }, reply) => {
    const product = await create(body);
    reply.code(201).type(JSON_TYPE);
    return envelope(product);
  },
);

async function create(body) {
  const id = randomUUID();
  const client = await pool.connect();
  try {
    await client.query("begin");
    for (const { table, rows } of rowsOf(ORGANIZATION_ID, id, body)) {
      await client.query(insert(table, rows));
    }
    const { text } = STATEMENTS.store;
    const values = parametersFor(STATEMENTS.store, id);
    const stored = await client.query({ name: "store", text, values });
    await client.query("commit");
    return stored.rows[0].product;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

/** Rows travel as one parameter, so that one prepared statement serves any number of them. */
function insert(table, rows) {
  const columns = Object.keys(rows[0]).join(", ");
  return {
    name: `insert into ${table}`,
    text: `
      insert into ${table} (${columns})
      select ${columns} from json_populate_recordset(null::${table}, $1)
    `,
    values: [JSON.stringify(rows)],
  };
}

await app.listen({ port: PORT });
