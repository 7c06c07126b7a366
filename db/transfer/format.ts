import { LINE_KINDS, type LineTable } from "../../schema/lines.ts";
import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { readerSettings } from "../connections/transaction.ts";

/*
 * The file format: one JSON object per line. The first line is the header, of kind
 * `catalogue`: the version of the format, the name of the organization and the number of
 * records. Files of earlier releases lack the number. The others are records, as
 * `schema/lines.ts` describes them.
 */

/** The kind and the version in the header. */
export const CATALOGUE = { kind: "catalogue", version: 1 } as const;

interface NestedTable {
  table: string;
  rows: readonly NestedTable[];
}

/** The names of the tables and of the tables below them. */
export function tablesOf(tables: readonly NestedTable[]): string[] {
  return tables.flatMap(({ table, rows }) => [table, ...tablesOf(rows)]);
}

/** Every table of the format. */
const TRANSFER_TABLES = tablesOf(Object.values(LINE_KINDS));

/** A column of the format. */
interface TransferColumn {
  table: string;
  name: string;
  type: string;
  isKey: boolean;
  /** The SQL expression for a column that files of earlier releases lack. */
  fallback: string | null;
}

/**
 * The columns of all tables, in order, from the system catalogue: a new column needs
 * no change here. Generated ids and product codes have no fallback.
 */
export const listColumns = sql<TransferColumn>`
  select
    t.name as table,
    a.attname as name,
    a.atttypid::regtype::text as type,
    exists (
      select from pg_index i
      where i.indrelid = a.attrelid and i.indisprimary and a.attnum = any(i.indkey)
    ) as "isKey",
    case when a.attnotnull and pg_get_expr(d.adbin, d.adrelid) ~ '^(now\\(\\)|[^(]+)$'
      then pg_get_expr(d.adbin, d.adrelid)
    end as fallback
  from unnest(string_to_array(${TRANSFER_TABLES.join()}, ',')) t (name)
  join pg_attribute a on a.attrelid = t.name::regclass
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  order by t.name, a.attnum
`;

/** A table of the format, with its columns. */
export interface TableFormat {
  table: string;
  columns: readonly TransferColumn[];
  /**
   * The table of the record and the parent table, with the columns that reference them.
   */
  parents: readonly { table: string; link: string }[];
  rows: readonly TableFormat[];
}

/** The formats of the kinds, with these columns. */
export function formatsByKind(
  columns: readonly TransferColumn[],
): Map<string, TableFormat> {
  const byTable = Map.groupBy(columns, ({ table }) => table);

  function formatOf(
    { table, omit = [], link = "", rows }: LineTable,
    parents: TableFormat["parents"],
  ): TableFormat {
    const links = parents.map(({ link }) => link);
    const implied = ["organization_id", ...links, ...omit];
    const own = byTable.get(table)!
      .filter(({ name }) => !implied.includes(name));
    const parentsOfRows = [...parents.slice(0, 1), { table, link }];
    return {
      table,
      columns: own,
      parents,
      rows: rows.map((row) => formatOf(row, parentsOfRows)),
    };
  }

  const kinds = Object.entries(LINE_KINDS);
  return new Map(kinds.map(([kind, table]) => [kind, formatOf(table, [])]));
}

/** A record and its line, without the line break. */
export interface Line {
  id: string;
  line: string;
}

/**
 * The settings of a transfer: UTC, so that every database writes the same lines, and no
 * time limits.
 */
export const transferSettings: readonly Statement[] = [
  sql`set local timezone = 'UTC'`,
  ...readerSettings,
  // For an organization without statistics, a custom plan could use any index. Citus
  // has no generic plans.
  sql`
    select set_config('plan_cache_mode', 'force_generic_plan', true)
    where to_regclass('pg_dist_partition') is null
  `,
  // The planner overestimates the size of arrays: JIT would take longer than the query.
  sql`set local jit = off`,
];

/** Selects the lines of a kind. `rest` follows the condition on the organization. */
export function selectLines(
  kind: string,
  format: TableFormat,
  rest: Statement,
): Statement<Line> {
  return sql`
    select line.id, row_to_json(line)::text as line
    from (
      select '${raw(kind)}' as kind, ${fieldsOf(format)}
      from ${raw(format.table)}
      where organization_id = ${organization} ${rest}
    ) line
  `;
}

function fieldsOf({ table, columns, rows }: TableFormat): Statement {
  const own = columns.map(({ name, type }) =>
    type === "numeric"
      ? `trim_scale(${table}.${name}) as ${name}`
      : `${table}.${name}`
  );
  const arrays = rows.map((row) =>
    sql`, array_to_json(array(${childRows(row)})) as ${raw(row.table)}`
  );
  return sql`${names(...own)}${arrays}`;
}

/** Selects the child rows of a parent row. */
function childRows(format: TableFormat): Statement {
  const { table, columns, parents } = format;
  const conditions = parents.map((parent) =>
    `and ${table}.${parent.link} = ${parent.table}.id`
  );
  // Positions may repeat. The key makes the order unique, if there are several rows.
  const order = [
    ...columns.filter(({ name }) => name === "position"),
    ...columns.filter(({ isKey }) => isKey),
  ].map(({ name }) => `${table}.${name}`);
  return sql`
    select row_to_json(x)
    from (
      select ${fieldsOf(format)}
      from ${raw(table)}
      where ${raw(table)}.organization_id = ${organization}
        ${raw(conditions.join(" "))}
      ${order.length > 0 ? sql`order by ${names(...order)}` : []}
    ) x
  `;
}
