import { createHash } from "node:crypto";

/** Where the service's own files of SQL are. */
const SQL = new URL("../sql/", import.meta.url);

const MIGRATIONS = new URL("migrations/", SQL);

/** The code lists. */
export const SEED = new URL("seed.sql", SQL);

/** The demo organization: every part of an answer, on the first day. */
export const DEMO = new URL("demo.sql", SQL);

/** The checks of `deno task doctor`. */
export const DOCTOR_CHECKS = new URL("doctor.sql", SQL);

/** A file of SQL, and what tells whether it was changed. */
export interface SqlFile {
  name: string;
  text: string;
  sha256: string;
}

/** Reads a file that is named from here, or by its address. */
export async function readSqlFile(file: string | URL): Promise<SqlFile> {
  const text = await Deno.readTextFile(file);
  return {
    name: String(file).split("/").at(-1)!,
    text,
    sha256: createHash("sha256").update(text).digest("hex"),
  };
}

/** Reads the migrations in their order. Throws when one is missing in the row of numbers. */
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
