import { createHash } from "node:crypto";

const SQL = new URL("../sql/", import.meta.url);

const MIGRATIONS = new URL("migrations/", SQL);

/** The code lists. */
export const SEED = new URL("seed.sql", SQL);

/** The demo organization, whose products show every field. */
export const DEMO = new URL("demo.sql", SQL);

/** The checks of `deno task doctor`. */
export const DOCTOR_CHECKS = new URL("doctor.sql", SQL);

/** An SQL file. Its hash reveals changes. */
export interface SqlFile {
  name: string;
  text: string;
  sha256: string;
}

/** Reads an SQL file by its path or URL. */
export async function readSqlFile(file: string | URL): Promise<SqlFile> {
  const text = await Deno.readTextFile(file);
  return {
    name: String(file).split("/").at(-1)!,
    text,
    sha256: createHash("sha256").update(text).digest("hex"),
  };
}

/** Reads the migrations in order. Throws if a number is missing. */
export async function readMigrations(folder = MIGRATIONS): Promise<SqlFile[]> {
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
  return await Promise.all(
    names.map((name) => readSqlFile(new URL(name, folder))),
  );
}
