import type { Sql } from "../support/sql/script.ts";

/*
 * What statements read where tables are full and were never analyzed, as after a bulk load
 * without autovacuum. PostgreSQL then expects a two-hundredth of a table for an organization.
 */

/** The tables that grow with the products and the people of an organization. Messages of webhooks are deleted. */
const GROWING =
  "k.relname in ('products', 'contributors', 'collections') or o.attname = 'product_id' and k.relname <> 'webhook_deliveries'";

const ROWS = 20_000;

/** How many rows a statement inserts, within its time limit. */
const PART = 5_000;

/**
 * Fills the growing tables with rows of one organization, and drops what would refuse them.
 * Returns the names of the tables.
 */
export async function fillWithoutStatistics(
  sql: Sql,
): Promise<Set<string>> {
  const tables = (await sql.unsafe(`
    select
      k.relname as name,
      string_agg(quote_ident(a.attname), ', ') as columns,
      string_agg(
        case
          when a.attname = 'organization_id' then format('%L::uuid', '${ORGANIZATION}')
          when t.typname = 'uuid' then 'gen_random_uuid()'
          when t.typname in ('jsonb', 'entries') then '''[]'''
          when t.typname = 'timestamptz' then 'now() + i * interval ''1 second'''
          when t.typname = 'date' then 'current_date'
          when t.typname = 'bool' then 'true'
          when t.typname in ('int2', 'numeric') then '1'
          when t.typname in ('int4', 'int8') then 'i'
          when t.typname = 'text' then '''text '' || i'
          else 'null'
        end,
        ', '
      ) as values
    from pg_class k
    join pg_attribute a on a.attrelid = k.oid and a.attnum > 0 and a.attgenerated = '' and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where k.relnamespace = current_schema()::regnamespace and k.relkind = 'r' and exists (
      select from pg_attribute o where o.attrelid = k.oid and (${GROWING})
    )
    group by k.relname
  `)) as unknown as Record<"name" | "columns" | "values", string>[];
  const constraints = await sql<Record<"name" | "table", string>[]>`
    select conname as name, conrelid::regclass::text as table
    from pg_constraint
    where contype in ('f', 'c') and conrelid <> 0 and connamespace = current_schema()::regnamespace
  `;
  for (const { name, table } of constraints) {
    await sql.unsafe(`alter table ${table} drop constraint ${name}`);
  }
  for (const { name, columns, values } of tables) {
    await sql.unsafe(
      `alter table ${name} set (autovacuum_enabled = false), disable trigger user`,
    );
    for (let last = PART; last <= ROWS; last += PART) {
      await sql.unsafe(`
        insert into ${name} (${columns})
        select ${values} from generate_series(${last - PART + 1}, ${last}) i
      `);
    }
  }
  return new Set(tables.map(({ name }) => name));
}

const ORGANIZATION = "00000000-0000-0000-0000-000000000001";

/** A node of a plan, as EXPLAIN has it in JSON. */
interface Node {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Cond"?: string;
  Plans?: Node[];
}

/** What the statement's plan reads of all of an organization, apart from the beginning of an order. */
export async function readsOfOrganization(
  sql: Sql,
  statement: string,
  tables: Set<string>,
): Promise<string[]> {
  await sql.unsafe(`prepare statement as ${statement}`);
  const [row] = await sql<{ number: number }[]>`
    select cardinality(parameter_types) as number
    from pg_prepared_statements
    where name = 'statement'
  `;
  const nulls = Array(row!.number).fill("null").join();
  const [explained] = await sql.unsafe(
    `explain (format json) execute statement${nulls && `(${nulls})`}`,
  );
  await sql.unsafe("deallocate statement");
  const [[{ Plan }]] = Object.values(explained!) as [[{ Plan: Node }]];
  return readsOf(Plan).filter((table) => tables.has(table));
}

/** Nodes that pass on rows as they get them: below a limit, they read no more than it takes. */
const PASSING =
  /^(?:Limit|LockRows|Nested Loop|Subquery Scan|Result|Append|Merge Append|Incremental Sort|Index (?:Only )?Scan)$/;

function readsOf(node: Node, table?: string, isLimited = false): string[] {
  const type = node["Node Type"];
  const name = node["Relation Name"] ?? table;
  const limited = type === "Limit" || isLimited && PASSING.test(type);
  const conditions = (node["Index Cond"] ?? "").split(" AND ")
    .filter((one) => one && !/\borganization_id = /.test(one));
  const reads = /^(?:Seq|Index|Index Only|Bitmap Index) Scan$/.test(type) &&
    conditions.length === 0 && !limited;
  return [
    ...reads && name ? [name] : [],
    ...(node.Plans ?? []).flatMap((plan) => readsOf(plan, name, limited)),
  ];
}
