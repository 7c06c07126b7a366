import { issueKey } from "./api_keys.ts";
import type { Operations } from "./database.ts";
import { unavailable } from "./connections/queue.ts";
import { isCurrent, isMigrated, load, migrate, seed } from "./migrate.ts";
import { DEMO, readSqlFile } from "./sql_files.ts";

/** Brings schema and code lists up to date; safe to run by many processes at once, and again. */
export async function install(database: Operations): Promise<void> {
  if (await isCurrent(database)) return;
  await migrate(database);
  await seed(database);
}

/** Throws `SERVICE_UNAVAILABLE` where the schema is not yet what this release needs. */
export async function checkMigrated(database: Operations): Promise<void> {
  if (await isMigrated(database)) return;
  throw unavailable("Migrations are pending: run deno task migrate");
}

/**
 * Gives a database without organizations the demo organization and a key of it,
 * and returns the key; nothing where there are organizations already.
 */
export async function installDemo(
  database: Operations,
): Promise<string | undefined> {
  const demo = await readSqlFile(DEMO);
  return await database.transaction(async (sql) => {
    const known = await sql`select from organizations limit 1`;
    if (known.length > 0) return undefined;
    await load(sql, demo);
    const [organization] = await sql<
      { id: string }[]
    >`select id from organizations`;
    return await issueKey(sql, {
      organizationId: organization!.id,
      name: "Demo",
      scope: "write",
    });
  });
}
