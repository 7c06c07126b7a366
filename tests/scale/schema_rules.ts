import { columnsOf, type Definition, isTenant, type Schema } from "./schema.ts";
import { bare, inside, items } from "./text.ts";

/** Whether the statement (`text`, and `bare` without literals) breaks the rule. */
type Breaks = (
  text: string,
  schema: Schema,
  definition: Definition,
  migrations: Definition[],
) => boolean;

/** The last migration from before the database could be distributed. */
const LAST_BEFORE_CITUS = "0007";

/** The last migration from before functions and triggers got a file of their own. */
const LAST_WITH_FUNCTIONS = "0023";

/**
 * The rules for tables and migrations in a database distributed by organization.
 * They cost nothing in a local database.
 */
const RULES = {
  "names every constraint by hand": (text) =>
    /^(create|alter) table /.test(text) &&
    keysOf(text).some((key) => !/^(add )?constraint \w+ /.test(key)),

  "names constraints with at most 50 characters, and no number at the end": (
    text,
  ) =>
    Array.from(text.matchAll(/\bconstraint (\w+)/g))
      .some(([, name]) => name!.length > 50 || /_\d+$/.test(name!)),

  "has the organization first in primary keys": (text, schema) =>
    isTenant(schema, tableOf(text)) &&
    /primary key \( (?!organization_id\b)/.test(text),

  "has the organization in whatever is unique": (text, schema) =>
    isTenant(schema, tableOf(text)) &&
    Array.from(text.matchAll(/\bunique(?: index .*?)? \( (.*?) \)/g))
      .some(([, columns]) => !/\borganization_id\b/.test(columns!)),

  "has the organization first in keys to an organization's table": (
    text,
    schema,
  ) =>
    isTenant(schema, tableOf(text)) &&
    foreignKeys(text).some(({ columns, table, referenced }) =>
      isTenant(schema, table) &&
      (columns[0] !== "organization_id" || referenced[0] !== "organization_id")
    ),

  "has no key from a shared table to an organization's": (text, schema) =>
    schema.shared.has(tableOf(text)) &&
    foreignKeys(text).some(({ table }) => isTenant(schema, table)),

  "has product_id on every row below a product": (text, schema) =>
    foreignKeys(text).some(({ table, columns }) =>
      (table === "products" && tableOf(text) !== "products" ||
        schema.columns.get(table)?.has("product_id") === true &&
          tableOf(text) !== "products") &&
      !columns.includes("product_id")
    ),

  "is an organization's table, or one that sql/citus.sql lists": (
    text,
    schema,
  ) =>
    /^create table /.test(text) && !isTenant(schema, tableOf(text)) &&
    !schema.shared.has(tableOf(text)),

  "distributes a new table in the file that makes it": (
    text,
    _schema,
    { file },
    migrations,
  ) =>
    file > LAST_BEFORE_CITUS + "_~" && /^create table /.test(text) &&
    !migrations.some((other) =>
      other.file === file && /^do /.test(bare(other.statement)) &&
      new RegExp(
        `create_(distributed|reference)_table\\('${tableOf(text)}'`,
      ).test(other.statement)
    ),

  "adds the keys of a new table after it is distributed": (
    text,
    _schema,
    { file },
  ) =>
    file > LAST_BEFORE_CITUS + "_~" && /^create table /.test(text) &&
    /\breferences\b/.test(text),

  "leaves functions and triggers to sql/functions.sql": (
    _text,
    _schema,
    { file, statement },
  ) =>
    file > LAST_WITH_FUNCTIONS + "_~" &&
    /\bcreate (or replace )?(constraint )?(function|trigger)\b/i
      .test(statement),

  "has no identity columns": (text) =>
    /\bas identity\b|\b(small|big)?serial\b/.test(text),

  "deletes or keeps what refers to a row, and changes none of it": (text) =>
    /\bon delete set (null|default)\b|\bon update (cascade|set)\b/.test(text),

  "checks every rule at once": (text) =>
    /(?<!not )\bdeferrable\b|\binitially deferred\b/.test(text),

  "drops a constraint and adds another to change it": (text) =>
    /\b(rename|alter) constraint\b/.test(text),

  "drops one object per statement": (text) =>
    /^drop \w+ (if exists )?[^ ,]+ ?,/.test(text),
} satisfies Record<string, Breaks>;

/** The names of the rules for the schema. */
export const SCHEMA_RULES = Object.keys(RULES);

/** The rules that the migrations break, each with the statement. */
export function brokenIn(
  migrations: Definition[],
  known: Omit<Schema, "columns">,
): { rule: string; file: string; statement: string }[] {
  const schema = { ...known, columns: columnsOf(migrations) };
  return migrations.flatMap((definition) =>
    Object.entries<Breaks>(RULES)
      .filter(([, breaks]) =>
        breaks(bare(definition.statement), schema, definition, migrations)
      )
      .map(([rule]) => ({ rule, ...definition }))
  );
}

/** The table that the statement creates or alters. */
function tableOf(text: string): string {
  return /^(?:create|alter) table (\w+)/.exec(text)?.[1] ??
    /^create (?:unique )?index (?:concurrently )?\w+ on (\w+)/.exec(text)
      ?.[1] ??
    "";
}

/** The parts of the statement that are or contain constraints. */
function keysOf(text: string): string[] {
  const parts = text.startsWith("create")
    ? items(inside(text))
    : items(text.replace(/^alter table \w+ /, ""))
      .filter((part) => part.startsWith("add "));
  return parts.filter((part) =>
    /\b(primary key|foreign key|references|unique|check|exclude)\b/.test(part)
  );
}

function foreignKeys(text: string) {
  return Array.from(
    text.matchAll(/foreign key \((.*?) \) references (\w+) \((.*?) \)/g),
    ([, columns, table, referenced]) => ({
      columns: items(columns!),
      table: table!,
      referenced: items(referenced!),
    }),
  );
}
