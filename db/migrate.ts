import type { Queries } from "./database.ts";
import { raw, sql, type Statement, unprepared } from "./connections/sql.ts";
import { noTimeLimits } from "./connections/transaction.ts";
import type { Transaction } from "./connections/transaction.ts";
import { startOriginIfCopied } from "./origin.ts";
import {
  readMigrations,
  readSqlFile,
  SEED,
  type SqlFile,
} from "./sql_files.ts";
import { splitStatements } from "./split_statements.ts";

/** The advisory lock for schema changes. */
const LOCK = 7_305_219;

/**
 * Applies the pending files of `sql/migrations/` in one transaction, and starts a new
 * origin in a copied database. Returns the names of the applied files. Throws if a
 * number is missing, or if an applied file was removed or edited.
 */
export async function migrate(
  database: Queries,
  folder?: URL,
): Promise<string[]> {
  const files = await readMigrations(folder);
  return await database.script(async (tx) => {
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
    const [known] = await tx.send(listApplied);
    const pending = pendingOf(known, files);
    for (const file of pending) await runAndRecord(tx, file);
    await startOriginIfCopied(tx);
    await tx.commit();
    return pending.map(({ name }) => name);
  });
}

/** The names of the files that `migrate` would apply. Throws as `migrate` does. */
export async function pendingMigrations(
  database: Queries,
): Promise<string[]> {
  const known = await appliedFiles(database);
  return pendingOf(known, await readMigrations()).map(({ name }) => name);
}

/** Fills the code lists from `sql/seed.sql` and runs `files`, in one transaction. */
export async function seed(
  database: Queries,
  files: string[] = [],
): Promise<void> {
  const lists = await readSqlFile(SEED);
  const others = await Promise.all(files.map(readSqlFile));
  await database.script(async (tx) => {
    await tx.send(...schemaLock);
    await runAndRecord(tx, lists);
    for (const file of others) await run(tx, file);
    await tx.commit();
  });
}

type AppliedFile = Omit<SqlFile, "text">;

/** The applied files: the migrations in order, then the code lists. */
const listApplied = sql<AppliedFile>`
  select name, sha256 from schema_migrations order by name collate "C"
`;

/** The applied files, none in an empty database. */
export async function appliedFiles(
  database: Queries,
): Promise<AppliedFile[]> {
  const [table] = await database.lookUp(
    sql<{ is_there: boolean }>`
      select to_regclass('schema_migrations') is not null as is_there
    `,
  );
  return table!.is_there ? await database.lookUp(listApplied) : [];
}

/** The files that are not applied yet. Throws if an applied file was removed or edited. */
function pendingOf(known: AppliedFile[], files: SqlFile[]): SqlFile[] {
  const applied = known.filter(({ name }) => /^\d/.test(name));
  applied.forEach(({ name, sha256 }, i) => {
    const file = files[i];
    if (file?.name !== name) {
      throw new Error(
        `sql/migrations: the database has "${name}", which is missing: use the release that applied it`,
      );
    }
    if (file.sha256 !== sha256) {
      throw new Error(
        `sql/migrations: "${name}" was edited after it was applied: restore it, and add a new file`,
      );
    }
  });
  return files.slice(applied.length);
}

/**
 * Serializes schema changes, which wait for the lock without a time limit. The
 * setting lets Citus create a table and its keys in one transaction.
 */
export const schemaLock: readonly Statement[] = [
  ...noTimeLimits,
  sql`set local citus.multi_shard_modify_mode = 'sequential'`,
  raw(`select pg_advisory_xact_lock(${LOCK})`),
];

/** Runs a file and records it as applied. */
async function runAndRecord(tx: Transaction, file: SqlFile): Promise<void> {
  await run(tx, file);
  await tx.send(sql`
    insert into schema_migrations (name, sha256)
    values (${file.name}, ${file.sha256})
    on conflict (name) do update set sha256 = excluded.sha256, applied_at = now()
  `);
}

/**
 * Runs the statements of a file one by one, since Citus accepts only one per message.
 * Each runs once, so the session prepares none.
 */
export async function run(tx: Transaction, { text }: SqlFile): Promise<void> {
  for (const statement of splitStatements(text)) {
    await tx.send(unprepared(raw(statement)));
  }
}
