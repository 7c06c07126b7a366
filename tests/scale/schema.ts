import type { Session } from "../support/sql/script.ts";

/** The schema as the rules for statements need it. */
export interface Schema {
  /** The tables copied to every node, as listed in `sql/citus.sql`. */
  shared: Set<string>;
  /** The columns of every table, with their defaults. */
  columns: Map<string, Map<string, string>>;
  /** The volatile functions. */
  volatile: Set<string>;
}

/** The schema of the database. */
export async function readSchema(sql: Session): Promise<Schema> {
  const text = await Deno.readTextFile(
    new URL("../../sql/citus.sql", import.meta.url),
  );
  const [, list] = /reference_tables\b[^;]*?array\[([^\]]+)\]/.exec(text) ?? [];
  const rows = await sql<Record<"table" | "column" | "fallback", string>[]>`
    select table_name as table, column_name as column, coalesce(column_default, '') as fallback
    from information_schema.columns
    where table_schema = 'public'
  `;
  const functions = await sql<{ name: string }[]>`
    select distinct proname as name from pg_proc where provolatile = 'v'
  `;
  const columns: Schema["columns"] = new Map();
  for (const { table, column, fallback } of rows) {
    const known = columns.get(table) ?? new Map<string, string>();
    columns.set(table, known.set(column, fallback));
  }
  return {
    shared: new Set(
      Array.from(list!.matchAll(/'(\w+)'/g), ([, name]) => name!),
    ),
    columns,
    volatile: new Set(functions.map(({ name }) => name)),
  };
}

/** The column by which a table is sharded, or undefined for a table that every node has. */
export function shardedBy({ columns, shared }: Schema, table: string): string | undefined {
  if (table === "organizations") return "id";
  const isSharded = !shared.has(table) && columns.get(table)?.has("organization_id");
  return isSharded ? "organization_id" : undefined;
}

/** Whether the text calls a volatile function. */
export function callsVolatile({ volatile }: Schema, text: string): boolean {
  return Array.from(text.matchAll(/([a-z_]\w*) ?\(/g), ([, name]) => name!)
    .some((name) => volatile.has(name));
}
