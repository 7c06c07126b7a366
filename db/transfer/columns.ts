import { sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { KINDS, type Table } from "./kinds.ts";

/** A column that lines carry. */
export interface Column {
  name: string;
  type: string;
  isKey: boolean;
  /** What stands in for a column that a file of an earlier release lacks: an SQL expression. */
  fallback: string | null;
}

/** A table above another one, and the other one's column with the id of its row. */
export interface Parent {
  table: string;
  link: string;
}

/** A table with the columns that lines carry, and the tables below it. */
export interface Carried {
  table: string;
  /** The record that a row belongs to, and the row right above it. */
  parents: readonly Parent[];
  columns: readonly Column[];
  rows: readonly Carried[];
}

/**
 * The columns of the tables, in their order, so that a column of a later migration
 * is carried too. Drawn values, ids and product codes, have no fallback.
 */
function columnsOf(
  tables: readonly string[],
): Statement<Column & { table: string }> {
  return sql<Column & { table: string }>`
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
    from unnest(string_to_array(${tables.join()}, ',')) t (name)
    join pg_attribute a on a.attrelid = to_regclass(t.name)
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by t.name, a.attnum
  `;
}

/** Every kind with the columns that this database has. */
export async function readKinds(
  tx: Transaction,
): Promise<Map<string, Carried>> {
  const [columns] = await tx.send(columnsOf(tablesOf(Object.values(KINDS))));
  const byTable = Map.groupBy(columns, ({ table }) => table);

  function carried(
    { table, omit = [], rows = [] }: Table,
    parents: readonly Parent[] = [],
  ): Carried {
    const links = parents.map(({ link }) => link);
    const implied = ["organization_id", ...links, ...omit];
    const [record] = parents;
    return {
      table,
      parents,
      columns: byTable.get(table)!.filter(({ name }) =>
        !implied.includes(name)
      ),
      rows: rows.map((row) =>
        carried(row, [...record ? [record] : [], { table, link: row.link }])
      ),
    };
  }

  return new Map(
    Object.entries(KINDS).map(([kind, table]) => [kind, carried(table)]),
  );
}

/** The names of the tables, and of those below them. */
export function tablesOf(tables: readonly Table[]): string[] {
  return tables.flatMap(({ table, rows = [] }) => [table, ...tablesOf(rows)]);
}
