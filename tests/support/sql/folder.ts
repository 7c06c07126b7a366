import { ROOT } from "../app/process.ts";

const SQL = new URL("sql/", ROOT);

/** The names of all migrations, in order. */
export const MIGRATIONS = Array.from(
  Deno.readDirSync(new URL("migrations/", SQL)),
  ({ name }) => name,
).sort();

/** A folder for `migrate` with a copy of functions.sql and of all migrations. */
export async function copyOfSql() {
  const path = await Deno.makeTempDir();
  const url = new URL(`file://${path}/`);
  await Deno.mkdir(new URL("migrations/", url));
  const names = MIGRATIONS.map((name) => `migrations/${name}`);
  for (const name of [...names, "functions.sql"]) {
    await Deno.copyFile(new URL(name, SQL), new URL(name, url));
  }
  return {
    url,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
