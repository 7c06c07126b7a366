import { statementsOf } from "../../db/sql_files.ts";
import { bare, inside, items } from "./text.ts";

const SQL = new URL("../../sql/", import.meta.url);

/** The schema as the rules need it. */
export interface Schema {
  /** The tables copied to every node, as listed in `sql/citus.sql`. */
  shared: Set<string>;
  /** The columns of every table, with their definitions. */
  columns: Map<string, Map<string, string>>;
  /** The volatile functions. */
  volatile: Set<string>;
}

/** A statement of a migration, unchanged. */
export interface Definition {
  file: string;
  statement: string;
}

/** All statements of the migrations, in order. */
export async function readMigrations(): Promise<Definition[]> {
  const folder = new URL("migrations/", SQL);
  const files = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  const read = async (file: string) =>
    statementsOf(await Deno.readTextFile(new URL(file, folder)))
      .map((statement) => ({ file, statement }));
  return (await Promise.all(files.map(read))).flat();
}

/** The tables that `sql/citus.sql` copies to every node. */
export async function readShared(): Promise<Set<string>> {
  const text = await Deno.readTextFile(new URL("citus.sql", SQL));
  const [, list] = /reference_tables\b[^;]*?array\[([^\]]+)\]/.exec(text) ?? [];
  return new Set(Array.from(list!.matchAll(/'(\w+)'/g), ([, name]) => name!));
}

/** The tables with their columns after all statements. */
export function columnsOf(definitions: Definition[]): Schema["columns"] {
  const tables: Schema["columns"] = new Map();
  for (const { statement } of definitions) {
    const text = bare(statement);
    const [, table] = /^create table (\w+)/.exec(text) ?? [];
    if (table) {
      const columns = items(inside(text)).filter((item) =>
        !/^(constraint|primary|foreign|unique|check|exclude) /.test(item)
      );
      tables.set(table, new Map(columns.map(named)));
    }
    const [, altered, column] =
      /^alter table (\w+) add column (.+)/.exec(text) ?? [];
    if (altered) tables.get(altered)?.set(...named(column!));
  }
  return tables;
}

function named(column: string): [string, string] {
  const [name, ...definition] = column.split(" ");
  return [name!, definition.join(" ")];
}

/** Whether the table has rows per organization, and so is sharded. */
export function isTenant({ columns, shared }: Schema, table: string): boolean {
  return !shared.has(table) &&
    columns.get(table)?.has("organization_id") === true;
}

/** Whether the text calls a volatile function. */
export function callsVolatile({ volatile }: Schema, text: string): boolean {
  return Array.from(text.matchAll(/([a-z_]\w*) \(/g), ([, name]) => name!)
    .some((name) => volatile.has(name));
}
