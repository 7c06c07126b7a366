import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type postgres from "postgres";
import { statementsOf } from "../../db/sql_files.ts";
import type { Organization } from "./dataset.ts";
import { type Codes, FIRST_NUMBER, productRows } from "./products.ts";
import { showProgress } from "./progress.ts";
import type { Random } from "./titles.ts";

/** The number of products whose nested rows are inserted at a time. */
const BATCH = 5_000;

/** The distribution of products, in thousandths: most are on sale, one status is rare. */
const SHARES = {
  publishing_status: { "04": 600, "02": 250, "07": 149, "08": 1 },
  availability: { "20": 700, "10": 200, "31": 99, "50": 1 },
  lifecycle_status: { active: 600, forthcoming: 250, archived: 150 },
};

/** Fills the organizations in an empty database with any checkout's schema. */
export async function fill(
  sql: postgres.Sql,
  organizations: Organization[],
  random: Random,
): Promise<void> {
  await sql`
    create or replace function benchmark.id(kind text, number int) returns uuid
    language sql immutable
    return ('019a0000-00' || kind || '-7000-8000-b00c0' || number)::uuid
  `;
  // Version 7 (RFC 9562, 5.7), like the service's ids.
  await sql`
    create or replace function benchmark.uuidv7() returns uuid
    language sql volatile
    return encode(
      set_bit(
        set_bit(
          overlay(
            uuid_send(gen_random_uuid())
            placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
          ),
          52, 1
        ),
        53, 1
      ),
      'hex'
    )::uuid
  `;
  // Disables foreign keys and triggers, which would dominate the load time.
  await sql`set session_replication_role = replica`;
  await sql`set catalogue.writer = 'service'`;
  const rebuildIndexes = await dropIndexes(sql);
  const codes = await readCodes(sql);
  const [example] = productRows(organizations[0]!, codes, () => 0);
  const columns = await productColumns(sql, Object.keys(example!));
  const sum = organizations.reduce((sum, { products }) => sum + products, 0);
  let rows = 0;
  const count = (more: number) =>
    showProgress("Loading", rows += more, 2 * sum);

  for (const organization of organizations) {
    const { id, products, references } = organization;
    await sql`insert into organizations (id, name) values (${id}, ${`${products} products`})`;
    await run(sql, "references.sql", [id, references]);
    const rows = counted(productRows(organization, codes, random), count);
    await pipeline(
      Readable.from(linesOf(rows, columns)),
      await sql`copy products (${sql(columns)}) from stdin`.writable(),
    );
    for (let done = 0; done < products; done += BATCH) {
      const batch = Math.min(BATCH, products - done);
      const first = FIRST_NUMBER + done;
      await run(sql, "nested.sql", [id, first, first + batch - 1, references]);
      count(batch);
    }
  }
  await rebuildIndexes();
  await sql`reset session_replication_role`;
  await sql`reset catalogue.writer`;
  await sql`vacuum analyze`;
}

/** The columns that `products` has. Another checkout may have fewer. */
async function productColumns(
  sql: postgres.Sql,
  columns: string[],
): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = 'products'::regclass and attname in ${sql(columns)}
  `;
  return rows.map(({ name }) => name);
}

/** Lines for COPY, with null for missing columns. */
function* linesOf(rows: Iterable<Record<string, unknown>>, columns: string[]) {
  for (const row of rows) {
    yield columns.map((column) => row[column] ?? "\\N").join("\t") + "\n";
  }
}

function* counted<T>(rows: Iterable<T>, count: (rows: number) => void) {
  let seen = 0;
  for (const row of rows) {
    yield row;
    if (++seen % BATCH === 0) count(BATCH);
  }
  count(seen % BATCH);
}

/** Drops the indexes of `products` that no constraint needs. The returned function recreates them. */
async function dropIndexes(sql: postgres.Sql): Promise<() => Promise<void>> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    where i.indrelid = 'products'::regclass
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)
  `;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  return async () => {
    for (const [i, { definition }] of indexes.entries()) {
      await sql.unsafe(definition);
      showProgress("Building indexes", i + 1, indexes.length);
    }
  };
}

async function readCodes(sql: postgres.Sql): Promise<Codes> {
  const read = async (table: string, shares: Record<string, number>) => {
    const rows = await sql<{ id: string; code: string }[]>`
      select id, code from ${sql(table)} where code in ${
      sql(Object.keys(shares))
    }
    `;
    return rows.map(({ id, code }) => ({ id, weight: shares[code]! }));
  };
  return {
    publishing_status: await read(
      "publishing_statuses",
      SHARES.publishing_status,
    ),
    availability: await read("product_availabilities", SHARES.availability),
    lifecycle_status: await read("lifecycle_statuses", SHARES.lifecycle_status),
  };
}

/** Runs a file of `dataset/`. Each statement uses the first parameters, as many as it has placeholders. */
async function run(
  sql: postgres.Sql,
  file: string,
  parameters: (string | number)[],
): Promise<void> {
  const text = await Deno.readTextFile(
    new URL(`dataset/${file}`, import.meta.url),
  );
  for (const statement of statementsOf(text)) {
    const named = [...statement.matchAll(/\$(\d)/g)].map(([, n]) => Number(n));
    await sql.unsafe(statement, parameters.slice(0, Math.max(...named)), {
      prepare: true,
    });
  }
}
