import { createHash } from "node:crypto";
import { idOfCode } from "../schema/code_ids.ts";
import { CODE_LISTS } from "../schema/onix_codes.ts";

/* Reads the files of `sql/`: migrations, functions, code lists, demo and checks. */

const SQL = new URL("../sql/", import.meta.url);

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

/** Reads a file of `sql/`. */
export async function readSqlFile(file: URL): Promise<SqlFile> {
  const name = file.pathname.split("/").at(-1)!;
  return sqlFile(name, await Deno.readTextFile(file));
}

/**
 * The statements of a file of `sql/`, with the comments before them: an empty line ends
 * one. Lines that follow empty ones within a function are indented. Citus accepts one
 * statement per message.
 */
export function statementsOf(text: string): string[] {
  return text.split(/(?<=;\n)\n(?=\S)/);
}

/**
 * Reads the files that make the schema, of a folder such as `sql/`: the migrations in
 * order, then the functions. Throws if the number of a migration is missing.
 */
export async function readSchema(folder = SQL): Promise<SqlFile[]> {
  const migrations = new URL("migrations/", folder);
  const names = Array.from(Deno.readDirSync(migrations), ({ name }) => name)
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
  const files = names.map((name) => new URL(name, migrations));
  const functions = new URL("functions.sql", folder);
  return await Promise.all([...files, functions].map(readSqlFile));
}

/** The ONIX lists with a table of their own, whose rows have ids. */
const LISTS_WITH_IDS = ["17", "64", "65", "150"];

/** Reads `seed.sql`, after a statement that passes the ONIX code lists to it. */
export async function readSeed(): Promise<SqlFile> {
  const { name, text } = await readSqlFile(new URL("seed.sql", SQL));
  const codes = Object.entries(CODE_LISTS).flatMap(([list, { codes }]) =>
    codes.map(({ code, label, ...rest }) => ({
      id: LISTS_WITH_IDS.includes(list) ? idOfCode(list, code) : undefined,
      list: Number(list),
      code,
      label,
      deprecated: "deprecated" in rest,
    }))
  );
  const literal = `'${JSON.stringify(codes).replaceAll("'", "''")}'`;
  return sqlFile(name, `set local catalogue.codes = ${literal};\n\n${text}`);
}

function sqlFile(name: string, text: string): SqlFile {
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { name, text, sha256 };
}
