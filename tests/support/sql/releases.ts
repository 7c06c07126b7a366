import { migrate } from "../../../db/migrate.ts";
import type { Queries } from "../../../db/database.ts";
import { ROOT } from "../app/process.ts";
import { script } from "./script.ts";

const SQL = new URL("sql/", ROOT);

/** The names of all migrations, in order. */
export const MIGRATIONS = Array.from(
  Deno.readDirSync(new URL("migrations/", SQL)),
  ({ name }) => name,
).sort();

/** A folder for `migrate` with copies of functions.sql and these migrations. */
export async function copyOfSql(migrations = MIGRATIONS) {
  const path = await Deno.makeTempDir();
  const url = new URL(`file://${path}/`);
  await Deno.mkdir(new URL("migrations/", url));
  const names = migrations.map((name) => `migrations/${name}`);
  for (const name of [...names, "functions.sql"]) {
    await Deno.copyFile(new URL(name, SQL), new URL(name, url));
  }
  return {
    url,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** Creates the schema of an earlier release, whose functions stood in its migrations. */
export async function installRelease(
  database: Queries,
  lastMigration: string,
): Promise<void> {
  await using folder = await copyOfSql(
    MIGRATIONS.filter((name) => name.slice(0, 4) <= lastMigration),
  );
  await Deno.writeTextFile(new URL("functions.sql", folder.url), "");
  await migrate(database, folder.url);
  await script(
    database,
    (sql) => sql`delete from schema_migrations where name = 'functions.sql'`,
  );
}
