import { unavailable } from "../schema/errors.ts";
import { newKey } from "./access.ts";
import { sql } from "./connections/sql.ts";
import type { Queries } from "./database.ts";
import { appliedFiles, migrate, run, seed } from "./migrate.ts";
import { isAtOrigin } from "./origin.ts";
import {
  DEMO,
  readMigrations,
  readSqlFile,
  SEED,
  type SqlFile,
} from "./sql_files.ts";

/**
 * Brings the schema and the code lists up to date; if they are, it takes no lock and
 * writes nothing. Several processes may run it at once.
 */
export async function install(database: Queries): Promise<void> {
  const textOf = (files: Omit<SqlFile, "text">[]) =>
    files.map(({ name, sha256 }) => `${name} ${sha256}`).join();
  const files = [...await readMigrations(), await readSqlFile(SEED)];
  const isCurrent = textOf(await appliedFiles(database)) === textOf(files) &&
    await isAtOrigin(database);
  if (isCurrent) return;
  await migrate(database);
  await seed(database);
}

/**
 * Throws `SERVICE_UNAVAILABLE` while migrations of this release are pending. Migrations
 * of a later release are permitted.
 */
export async function checkMigrated(database: Queries): Promise<void> {
  const known = await appliedFiles(database);
  const names = new Set(known.map(({ name }) => name));
  const files = await readMigrations();
  const isMigrated = files.every(({ name }) => names.has(name)) &&
    await isAtOrigin(database);
  if (!isMigrated) {
    throw unavailable("Migrations are pending: run deno task migrate");
  }
}

/**
 * Creates the demo organization in a database without organizations, and returns an
 * API key for it. Returns undefined otherwise.
 */
export async function installDemo(
  database: Queries,
): Promise<string | undefined> {
  const demo = await readSqlFile(DEMO);
  return await database.script(async (tx) => {
    const [known] = await tx.send(sql`select from organizations limit 1`);
    if (known.length > 0) {
      await tx.commit();
      return;
    }
    await run(tx, demo);
    const [[organization]] = await tx.send(
      sql<{ id: string }>`select id from organizations`,
    );
    const { key, statement } = newKey({
      organizationId: organization!.id,
      name: "Demo",
      scope: "write",
    });
    await tx.commit(statement);
    return key;
  });
}
