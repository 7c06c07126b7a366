import { unavailable } from "../schema/errors.ts";
import { raw, sql, type Statement, unprepared } from "./connections/sql.ts";
import { asScript, noTimeLimits, type Transaction } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";
import { type CopiedWebhook, isAtOrigin, startOriginIfCopied } from "./origin.ts";
import { readSchema, readSeed, type SqlFile, statementsOf } from "./sql_files.ts";

/*
 * Brings the schema and the code lists up to date: applies the pending files of `sql/`, and records
 * them in `schema_migrations`. For example, a database of release 1.0 gets the migrations after it.
 */

/** The advisory lock for schema changes. */
const SCHEMA_LOCK = 7_305_219;

/**
 * Serializes schema changes, which wait for the lock without a time limit. The
 * setting lets Citus create a table and its keys in one transaction.
 */
export const schemaLock: readonly Statement[] = [
  ...noTimeLimits,
  sql`set local citus.multi_shard_modify_mode = 'sequential'`,
  raw(`select pg_advisory_xact_lock(${SCHEMA_LOCK})`),
];

/**
 * Brings the schema and the code lists up to date; if they are, it takes no lock and
 * writes nothing. Several processes may run it at once. Returns the webhooks that it disables.
 */
export async function install(database: Queries): Promise<CopiedWebhook[]> {
  const applied = await appliedFiles(database);
  const pending = pendingOf(applied, await readSchema());
  const isCurrent = pending.length === 0 &&
    isApplied(await readSeed(), applied) && await isAtOrigin(database);
  if (isCurrent) return [];
  const { disabled } = await migrate(database);
  await seed(database);
  return disabled;
}

/**
 * Applies the pending files of `sql/` in one transaction, and starts a new origin in a
 * copied database. Returns whether the database was empty, the names of the files, and the
 * webhooks that it disables. Throws if the database is older than 1.0.0 or of a later release,
 * if the number of a migration is missing, or if an applied one was edited.
 */
export async function migrate(
  database: Queries,
  folder?: URL,
): Promise<
  { wasEmpty: boolean; applied: string[]; disabled: CopiedWebhook[] }
> {
  const files = await readSchema(folder);
  return await database.transaction(async (tx) => {
    await checkEncoding(tx);
    await tx.send(
      ...schemaLock,
      sql`
        create table if not exists schema_migrations (
          name text not null,
          sha256 text not null,
          applied_at timestamptz not null default now(),
          constraint schema_migrations_pkey primary key (name)
        )
      `,
    );
    const [applied] = await tx.send(listApplied);
    const pending = pendingOf(applied, files);
    for (const file of pending) await runAndRecord(tx, file);
    const disabled = await startOriginIfCopied(tx);
    await tx.commit();
    return {
      wasEmpty: applied.length === 0,
      applied: pending.map(({ name }) => name),
      disabled,
    };
  }, asScript);
}

/** Throws for a database that cannot store every character. */
async function checkEncoding(tx: Transaction): Promise<void> {
  const [[database]] = await tx.send(sql<{ name: string; encoding: string }>`
    select current_database() as name, current_setting('server_encoding') as encoding
  `);
  const { name, encoding } = database!;
  if (encoding === "UTF8") return;
  throw new Error(
    `The encoding of the database ${name} is ${encoding}: create another with UTF8, and name it in DATABASE_URL: create database catalogue encoding 'UTF8' template template0`,
  );
}

/** The names of the files that `migrate` would apply. Throws as `migrate` does. */
export async function pendingMigrations(database: Queries): Promise<string[]> {
  const applied = await appliedFiles(database);
  return pendingOf(applied, await readSchema()).map(({ name }) => name);
}

/**
 * Throws `SERVICE_UNAVAILABLE` while migrations of this release are pending. The
 * migrations and functions of a later release are permitted.
 */
export async function checkMigrated(database: Queries): Promise<void> {
  const applied = await appliedFiles(database);
  const names = new Set(applied.map(({ name }) => name));
  const files = await readSchema();
  const isMigrated = files.every(({ name }) => names.has(name)) &&
    await isAtOrigin(database);
  if (!isMigrated) {
    throw unavailable("Migrations are pending: run deno task migrate");
  }
}

/**
 * Fills the code lists, and runs the operator's files, in one transaction. The message of
 * an error names the file.
 */
export async function seed(
  database: Queries,
  paths: string[] = [],
): Promise<void> {
  const codeLists = await readSeed();
  const files = await Promise.all(paths.map(async (path) => ({
    path,
    text: await Deno.readTextFile(path),
  })));
  await database.transaction(async (tx) => {
    await checkEncoding(tx);
    await tx.send(...schemaLock);
    await runAndRecord(tx, codeLists);
    if (tx.isDistributed) await tx.send(...followCodeLists);
    for (const { path, text } of files) {
      await runScript(tx, text).catch((error) => {
        throw Object.assign(error, { message: scriptProblem(path, error) });
      });
    }
    await tx.commit();
  }, asScript);
}

/**
 * Invalidates all stored JSON in a distributed database, which has no triggers on the code lists. The
 * lock keeps organizations from being created meanwhile.
 */
const followCodeLists: readonly Statement[] = [
  sql`lock table organizations in share row exclusive mode`,
  sql`update organizations set names_version = names_version + 1`,
];

type AppliedFile = Omit<SqlFile, "text">;

/** The applied files: the migrations in order, then functions and code lists. */
const listApplied = sql<AppliedFile>`
  select name, sha256 from schema_migrations order by name collate "C"
`;

/** The applied files, none in an empty database. */
async function appliedFiles(database: Queries): Promise<AppliedFile[]> {
  const [table] = await database.lookUp(
    sql<{ is_there: boolean }>`
      select to_regclass('schema_migrations') is not null as is_there
    `,
  );
  return table!.is_there ? await database.lookUp(listApplied) : [];
}

/**
 * The first file that is not applied, and those after it: pending migrations and the
 * functions, or changed functions. Throws if the database does not come from these files.
 */
function pendingOf(applied: AppliedFile[], files: SqlFile[]): SqlFile[] {
  const migrations = applied.filter(({ name }) => /^\d/.test(name));
  migrations.forEach(({ name, sha256 }, i) => {
    const file = files[i];
    if (file?.name !== name) {
      throw new Error(
        i === 0
          ? `The database is of a version before 1.0 ("${name}"), which neither this release nor its import reads: name an empty database in DATABASE_URL, or another folder in DATA_DIR`
          : `The database is of a later release, which has applied "${name}": start that release, or restore the backup from before its migration`,
      );
    }
    if (file.sha256 !== sha256 && i === 0) {
      throw new Error(
        `The database was made by a state before 1.0.0 was complete: its "${name}" is another. Export each organization with the checkout that made it, name an empty database in DATABASE_URL, or another folder in DATA_DIR, and import with this release: OPERATORS.md says how, under "Upgrades"`,
      );
    }
    if (file.sha256 !== sha256) {
      throw new Error(
        `sql/migrations: "${name}" was edited after it was applied: restore it, and add a new file`,
      );
    }
  });
  const first = files.findIndex((file) => !isApplied(file, applied));
  return first < 0 ? [] : files.slice(first);
}

function isApplied(file: SqlFile, applied: AppliedFile[]): boolean {
  return applied.some(({ name, sha256 }) => name === file.name && sha256 === file.sha256);
}

/** Runs a file of `sql/` and records it as applied. Each statement runs once, so the session prepares none. */
async function runAndRecord(tx: Transaction, file: SqlFile): Promise<void> {
  for (const statement of statementsOf(file.text)) {
    await tx.send(unprepared(raw(statement)));
  }
  const { name, sha256 } = file;
  await tx.send(sql`
    insert into schema_migrations (name, sha256)
    values (${name}, ${sha256})
    on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()
  `);
}

/**
 * Runs a script of any statements as one of PL/pgSQL, in which PostgreSQL itself refuses
 * those that would end the transaction or wait for the client: COMMIT, COPY FROM STDIN.
 */
export async function runScript(tx: Transaction, script: string): Promise<void> {
  await tx.send(
    sql`select set_config('catalogue.script', ${script}, true)`,
    raw("do $$ begin execute current_setting('catalogue.script'); end $$"),
  );
}

/** The codes of errors in a script: a statement that PL/pgSQL refuses, or unknown syntax. */
const NOT_SUPPORTED = ["0A000", "42601"];

/** Describes the error of an operator's file, with the line if PostgreSQL names one. */
function scriptProblem(
  path: string,
  { code = "", message, detail, internal_position, internal_query }: Error & {
    code?: string;
    detail?: string;
    internal_position?: string;
    internal_query?: string;
  },
): string {
  const place = internal_position && internal_query
    ? `${path}:${internal_query.slice(0, Number(internal_position)).split("\n").length}`
    : path;
  const advice = NOT_SUPPORTED.includes(code)
    ? "files run in one transaction, without COMMIT, ROLLBACK, SAVEPOINT, COPY from or to the client, and commands of psql: run others with psql"
    : detail;
  return [place, message, advice].filter(Boolean).join(": ");
}
