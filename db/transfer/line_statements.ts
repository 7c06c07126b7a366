import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Carried, Column } from "./columns.ts";

/** A record as its line, without the line break. */
export interface Line {
  id: string;
  line: string;
}

/** The settings under which every database writes the same line, however long it takes. */
export const unhurried: readonly Statement[] = [
  sql`set local timezone = 'UTC'`,
  sql`set local statement_timeout = 0`,
  sql`set local lock_timeout = 0`,
  // The planner has seen no row of an organization that was imported just now, and would take any index for it.
  sql`set local plan_cache_mode = force_generic_plan`,
  // How many elements an array has is overestimated: compiling would take longer than all else.
  sql`set local jit = off`,
  // A reader of the lines may pause.
  sql`set local idle_in_transaction_session_timeout = 0`,
];

/** The statements that read the lines of a kind. */
export function lineStatements(kind: string, carried: Carried) {
  const { table } = carried;
  const fields = fieldsOf(carried);
  const lines = (rows: Statement) =>
    sql<Line>`
      select line.id, row_to_json(line)::text as line
      from (
        select '${raw(kind)}' as kind, ${fields}
        from ${raw(table)}
        where ${raw(table)}.organization_id = ${organization} ${rows}
      ) line
    `;
  return {
    /** The next lines by id, at most `limit`. */
    page: (after: string | undefined, limit: number) =>
      lines(sql`
        ${after ? sql`and ${raw(table)}.id > ${after}` : sql``}
        order by ${raw(table)}.id
        limit ${limit}
      `),
    /** The lines of the records that are there. */
    byIds: (ids: readonly string[]) =>
      lines(sql`
        and ${raw(table)}.id = any(string_to_array(${ids.join()}, ',')::uuid[])
      `),
    /** How many lines there are. */
    count: sql<{ count: number }>`
      select count(*)::float8 as count
      from ${raw(table)} x
      where x.organization_id = ${organization}
    `,
  };
}

function fieldsOf({ table, columns, rows }: Carried): Statement {
  const own = columns.map(({ name, type }) =>
    type === "numeric"
      ? `trim_scale(${table}.${name}) as ${name}`
      : `${table}.${name}`
  );
  const below = rows.map((row) =>
    sql`, array_to_json(array(${rowsOf(row)})) as ${raw(row.table)}`
  );
  return sql`${names(...own)}${below}`;
}

/** The rows that belong to a row of the table above. */
function rowsOf(carried: Carried): Statement {
  const { table, columns, parents } = carried;
  const conditions = parents.map((parent) =>
    `and ${table}.${parent.link} = ${parent.table}.id`
  );
  return sql`
    select row_to_json(x)
    from (
      select ${fieldsOf(carried)}
      from ${raw(table)}
      where ${raw(table)}.organization_id = ${organization}
        ${raw(conditions.join(" "))}
      order by ${names(...orderOf(table, columns))}
    ) x
  `;
}

/** Positions need not be different: the key makes the order one. */
function orderOf(table: string, columns: readonly Column[]): string[] {
  const positions = columns.filter(({ name }) => name === "position");
  const keys = columns.filter(({ isKey }) => isKey);
  return [...positions, ...keys].map(({ name }) => `${table}.${name}`);
}
