import { issueKey } from "./access.ts";
import type { Operations } from "./database.ts";
import { DEMO, migrate, seed } from "./migrate.ts";

/** Brings schema and code lists up to date; safe to run by many processes at once, and again. */
export async function install(database: Operations): Promise<void> {
  await migrate(database);
  await seed(database);
}

/**
 * Gives a database without organizations the demo organization and a key of it,
 * and returns the key; nothing where there are organizations already.
 */
export async function installDemo(
  database: Operations,
): Promise<string | undefined> {
  const [row] = await database.read((sql) =>
    sql<
      { empty: boolean }[]
    >`select not exists (select from organizations) as empty`
  );
  if (!row?.empty) return undefined;
  await seed(database, [DEMO]);
  return await database.transaction(async (sql) => {
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
