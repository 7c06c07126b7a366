import { countLoaded } from "./products/counts.ts";
import type { Operations } from "./database.ts";
import type { Sql, Tx } from "./connections/sql.ts";
import {
  readMigrations,
  readSqlFile,
  SEED,
  type SqlFile,
} from "./sql_files.ts";
import { splitStatements } from "./split_statements.ts";

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
  folder?: URL,
): Promise<string[]> {
  const files = await readMigrations(folder);
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
    for (const file of pending) await runAsKnown(sql, file);
    await countLoaded(sql);
    return pending.map(({ name }) => name);
  });
}

/**
 * The names of the files that `migrate` would apply, without applying them.
 * Throws as it does.
 */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const files = await readMigrations();
  const pending = await isInstalled(sql) ? await pendingOf(sql, files) : files;
  return pending.map(({ name }) => name);
}

/** Fills the code lists from `sql/seed.sql`, then runs these files too, in one transaction. */
export async function seed(
  database: Operations,
  files: string[] = [],
): Promise<void> {
  const lists = await readSqlFile(SEED);
  const others = await Promise.all(files.map(readSqlFile));
  await database.transaction(async (sql) => {
    await alone(sql);
    await runAsKnown(sql, lists);
    for (const file of others) await load(sql, file);
  });
}

/** Runs a file of records, and counts the products in it. */
export async function load(sql: Tx, file: SqlFile): Promise<void> {
  await run(sql, file);
  await countLoaded(sql);
}

/**
 * Whether nothing is to be applied, filled or counted: then a start takes no
 * lock and writes nothing.
 */
export async function isCurrent(database: Operations): Promise<boolean> {
  const files = [...await readMigrations(), await readSqlFile(SEED)];
  return await database.run(async (sql) => {
    if (!await isInstalled(sql)) return false;
    const known = await filesOf(sql);
    const isKnown = ({ name, sha256 }: SqlFile, i: number) =>
      known[i]?.name === name && known[i].sha256 === sha256;
    if (known.length !== files.length || !files.every(isKnown)) return false;
    const uncounted = await sql`select from products where not counted limit 1`;
    return uncounted.length === 0;
  });
}

/** Whether all migrations of this release are applied; there may be more, of a later one. */
export async function isMigrated(database: Operations): Promise<boolean> {
  const files = await readMigrations();
  return await database.run(async (sql) => {
    if (!await isInstalled(sql)) return false;
    const known = new Set((await filesOf(sql)).map(({ name }) => name));
    return files.every(({ name }) => known.has(name));
  });
}

async function isInstalled(sql: Sql): Promise<boolean> {
  const [table] = await sql`select to_regclass('schema_migrations') as name`;
  return table?.name !== null;
}

async function pendingOf(sql: Sql, files: SqlFile[]): Promise<SqlFile[]> {
  const applied = (await filesOf(sql)).filter(isMigration);
  refuseOtherHistory(applied, files);
  return files.slice(applied.length);
}

type KnownFile = Omit<SqlFile, "text">;

/** The files that the database has: the migrations in their order, then the code lists. */
async function filesOf(sql: Sql): Promise<KnownFile[]> {
  return await sql<KnownFile[]>`
    select name, sha256 from schema_migrations order by name collate "C"
  `;
}

function isMigration({ name }: KnownFile): boolean {
  return /^\d/.test(name);
}

function refuseOtherHistory(applied: KnownFile[], files: KnownFile[]): void {
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

/** Runs a file that the database is to know by its name. */
async function runAsKnown(sql: Tx, file: SqlFile): Promise<void> {
  await run(sql, file);
  await sql`
    insert into schema_migrations (name, sha256)
    values (${file.name}, ${file.sha256})
    on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()
  `;
}

async function run(sql: Tx, { text }: SqlFile): Promise<void> {
  for (const statement of splitStatements(text)) await sql.unsafe(statement);
}
