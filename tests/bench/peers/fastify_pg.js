/*
 * Fastify and pg with the service's own read statements. PostgreSQL's JSON is
 * passed on unchanged.
 */
import Fastify from "fastify";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { envelope, metaOf } from "./envelope.js";
import {
  DATABASE_URL,
  ORGANIZATION_ID,
  parametersFor,
  POOL,
  PORT,
  STATEMENTS,
} from "./environment.js";
import { NEW_PRODUCT } from "./new_product.js";
import { rowsOf } from "./rows.js";

const JSON_TYPE = "application/json; charset=utf-8";

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: POOL });
const app = Fastify();

app.get("/api/products/:id", async ({ params }, reply) => {
  reply.type(JSON_TYPE);
  return envelope(await read(params.id));
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

async function read(id) {
  const { text } = STATEMENTS.get;
  const values = parametersFor(STATEMENTS.get, id);
  const { rows: [row] } = await pool.query({ name: "get", text, values });
  return row.product;
}

async function create(body) {
  const id = randomUUID();
  const client = await pool.connect();
  try {
    await client.query("begin");
    for (const { table, rows } of rowsOf(ORGANIZATION_ID, id, body)) {
      await client.query(insert(table, rows));
    }
    const { text } = STATEMENTS.answer;
    const values = parametersFor(STATEMENTS.answer, id);
    const answer = await client.query({ name: "answer", text, values });
    await client.query("commit");
    return answer.rows[0].product;
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
