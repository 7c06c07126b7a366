import { unavailable } from "../schema/errors.ts";
import { newKey } from "./api_keys.ts";
import { sql } from "./connections/sql.ts";
import type { Operations } from "./database.ts";
import { isCurrent, isMigrated, migrate, run, seed } from "./migrate.ts";
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
