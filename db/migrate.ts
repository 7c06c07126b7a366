import { createHash } from "node:crypto";
import { countLoaded } from "./counts.ts";
import type { Operations } from "./database.ts";
import type { Sql, Tx } from "./sql.ts";
import { statementsOf } from "./statements.ts";

/** Where the service's own files of SQL are. */
const SQL = new URL("../sql/", import.meta.url);

const MIGRATIONS = new URL("migrations/", SQL);

/** The key of the lock under which one process at a time changes the schema. */
const LOCK = 7_305_219;

/**
 * Applies what is pending in `sql/migrations/`, each file once and all of them
 * in one transaction, and counts the products that were loaded by SQL. Returns
 * the names applied. Throws when a file is missing in the row of numbers, or
 * one that was applied is gone or has been edited.
 */
export async function migrate(
  database: Operations,
  folder = MIGRATIONS,
): Promise<string[]> {
  const files = await migrationsIn(folder);
  return await database.transaction(async (sql) => {
    await alone(sql);
    await sql`
      create table if not exists schema_migrations (
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now(),
        constraint schema_migrations_pkey primary key (name)
      )
    `;
    const pending = await pendingOf(sql, files);
    for (const { name, text, sha256 } of pending) {
      await run(sql, text);
      await sql`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`;
    }
    await countLoaded(sql);
    return pending.map(({ name }) => name);
  });
}

/**
 * The names of the files that `migrate` would apply, without applying them.
 * Throws as it does.
 */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const files = await migrationsIn(MIGRATIONS);
  const [row] = await sql<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists
  `;
  const pending = row!.exists ? await pendingOf(sql, files) : files;
  return pending.map(({ name }) => name);
}

/** Fills the code lists from `sql/seed.sql`, then runs these files too, in one transaction. */
export async function seed(
  database: Operations,
  files: (string | URL)[] = [],
): Promise<void> {
  const texts = await Promise.all(
    [new URL("seed.sql", SQL), ...files].map((file) => Deno.readTextFile(file)),
  );
  await database.transaction(async (sql) => {
    await alone(sql);
    for (const text of texts) await run(sql, text);
    await countLoaded(sql);
  });
}

/** The demo organization: every part of an answer, on the first day. */
export const DEMO = new URL("demo.sql", SQL);

interface Migration {
  name: string;
  text: string;
  sha256: string;
}

async function migrationsIn(folder: URL): Promise<Migration[]> {
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  names.forEach((name, i) => {
    const number = String(i + 1).padStart(4, "0");
    if (!name.startsWith(`${number}_`)) {
      throw new Error(
        `sql/migrations: expected "${number}_….sql", found "${name}": numbers have no gaps`,
      );
    }
  });
  return await Promise.all(names.map(async (name) => {
    const text = await Deno.readTextFile(new URL(name, folder));
    const sha256 = createHash("sha256").update(text).digest("hex");
    return { name, text, sha256 };
  }));
}

async function pendingOf(sql: Sql, files: Migration[]): Promise<Migration[]> {
  const applied = await sql<{ name: string; sha256: string }[]>`
    select name, sha256 from schema_migrations order by name
  `;
  refuseOtherHistory(applied, files);
  return files.slice(applied.length);
}

function refuseOtherHistory(
  applied: readonly { name: string; sha256: string }[],
  files: Migration[],
): void {
  applied.forEach(({ name, sha256 }, i) => {
    const file = files[i];
    if (file?.name !== name) {
      throw new Error(
        `sql/migrations: the database has "${name}", which is not there: use the release that made it`,
      );
    }
    if (file.sha256 !== sha256) {
      throw new Error(
        `sql/migrations: "${name}" was edited after it was applied: restore it, and make a new file`,
      );
    }
  });
}

/** Waits for its turn, however long: a change of the schema is not a request. */
export async function alone(sql: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`;
  await sql`set local lock_timeout = 0`;
  // Citus: a table and its keys in one transaction. To PostgreSQL it is a name like any other.
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`;
  await sql`select pg_advisory_xact_lock(${LOCK})`;
}

async function run(sql: Tx, text: string): Promise<void> {
  for (const statement of statementsOf(text)) await sql.unsafe(statement);
}
