import type { Sql } from "../support/sql/script.ts";
import { bare } from "./text.ts";

/**
 * The rules for tables in a database distributed by organization. They cost nothing in
 * a local database. Each is what breaks it: a condition on a key `k` or a table `t`, of
 * an organization if `is_own`; a key has columns, and refers to those of `target`.
 */
const RULES: Record<string, ["keys k" | "tables t" | "indexes i", string]> = {
  // The names that PostgreSQL gives.
  "names every constraint by hand": [
    "keys k",
    `k.name ~ format('^%s_(\\w+_)?(%s)\\d*$', k."table",
      case k.contype when 'c' then 'check' when 'f' then 'fkey' when 'x' then 'excl' else 'key' end)`,
  ],
  "names constraints with at most 50 characters, and no number at the end": [
    "keys k",
    String.raw`length(k.name) > 50 or k.name ~ '_\d+$'`,
  ],
  "has the organization in whatever is unique": [
    "indexes i",
    "i.is_own and not 'organization_id' = any (i.columns)",
  ],
  "has the organization first in keys to an organization's table": [
    "keys k",
    `k.is_own and k.target_is_own and
      (k.columns[1] <> 'organization_id' or k.referenced[1] <> 'organization_id')`,
  ],
  "has no key from a shared table to an organization's": [
    "keys k",
    // sql/citus.sql drops those to organizations.
    "not k.is_own and k.target_is_own and k.target <> 'organizations'",
  ],
  "has product_id on every row below a product": [
    "keys k",
    `k.is_below_product and k."table" <> 'products' and not 'product_id' = any (k.columns)`,
  ],
  "is an organization's table, or one that sql/citus.sql lists": [
    "tables t",
    "not t.is_own and not t.is_shared",
  ],
  "has no identity columns": ["tables t", "t.counts"],
  "deletes or keeps what refers to a row, and changes none of it": [
    "keys k",
    "k.confdeltype in ('n', 'd') or k.confupdtype in ('c', 'n', 'd')",
  ],
  "checks every rule at once": ["keys k", "k.condeferrable"],
};

/** Functions of generated columns. The first migration creates them, so only a migration replaces one. */
const OF_COLUMNS = ["compared_name"];

/** The rules for the files of later migrations: the texts that break them. */
const TEXTS: Record<string, (text: string, file: string) => boolean> = {
  "distributes a new table in the file that makes it": (text, file) =>
    Array.from(text.matchAll(/\bcreate table (\w+)/g)).some(([, table]) =>
      !new RegExp(`create_(distributed|reference)_table\\('${table}'`)
        .test(file)
    ),
  "adds the keys of a new table after it is distributed": (text) =>
    /\bcreate table \w+ \([^;]*\breferences\b/.test(text),
  "leaves functions and triggers to sql/functions.sql": (_, file) =>
    Array.from(
      file.matchAll(/\bcreate (?:or replace )?(?:constraint )?(?:function|trigger) (\w+)/gi),
    ).some(([, name]) => !OF_COLUMNS.includes(name!)),
  "drops a constraint and adds another to change it": (text) =>
    /\b(rename|alter) constraint\b/.test(text),
  "drops one object per statement": (text) =>
    /\bdrop (?!constraint)\w+ (if exists )?[^ ,;]+ ?,/.test(text),
};

/** The names of the rules for tables, and of those for the files of migrations. */
export const SCHEMA_RULES = Object.keys(RULES);
export const MIGRATION_RULES = Object.keys(TEXTS);

/** The name of a column. The id of an organization is its organization_id. */
const COLUMN = `case
  when a.attrelid = 'organizations'::regclass and a.attname = 'id' then 'organization_id'
  else a.attname::text
end`;

/** What breaks the rules for tables, each with its rule. `shared` are the tables that every node has. */
export async function brokenTables(
  sql: Sql,
  shared: Set<string>,
): Promise<string[][]> {
  const rows = await sql.unsafe(`
    with tables as (
      select
        c.oid, c.relname as name,
        c.relname = any ('{${[...shared]}}') as is_shared,
        c.relname <> all ('{${[
    ...shared,
  ]}}') and ('organization_id' = any (a.names) or c.relname = 'organizations') as is_own,
        'product_id' = any (a.names) or c.relname = 'products' as is_below_product,
        a.counts
      from pg_class c, lateral (
        select
          array_agg(a.attname::text) as names,
          bool_or(a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) ~ 'nextval') as counts
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) a
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations'
    ),
    keys as (
      select
        k.conname::text as name, t.name as "table", t.is_own,
        r.is_own as target_is_own, r.is_below_product, r.name as target,
        k.contype, k.confdeltype, k.confupdtype, k.condeferrable,
        array(
          select ${COLUMN} from unnest(k.conkey) with ordinality as c (number, place)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.number order by c.place
        ) as columns,
        array(
          select ${COLUMN} from unnest(k.confkey) with ordinality as c (number, place)
          join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.number order by c.place
        ) as referenced
      from pg_constraint k
      join tables t on t.oid = k.conrelid
      left join tables r on r.oid = k.confrelid
      where k.contype <> 'n'
    ),
    indexes as (
      select
        i.indexrelid::regclass::text as name, t.is_own,
        array(
          select ${COLUMN} from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        ) as columns
      from pg_index i
      join tables t on t.oid = i.indrelid
      where i.indisunique
    )
    ${
    Object.entries(RULES).map(([rule, [of, broken]]) =>
      `select '${rule.replaceAll("'", "''")}' as rule, name from ${of} where ${broken}`
    ).join("\nunion all\n")
  }
  `) as { rule: string; name: string }[];
  return rows.map(({ rule, name }) => [rule, name]);
}

/** The rules that the file of a migration breaks. */
export function brokenBy(file: string): string[] {
  return Object.entries(TEXTS)
    .filter(([, breaks]) => breaks(bare(file), file))
    .map(([rule]) => rule);
}
