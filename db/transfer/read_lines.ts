import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { noTimeLimits } from "../connections/transaction.ts";
import type { TableFormat } from "./kinds.ts";

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
  ...noTimeLimits,
  // For an organization without statistics, a custom plan could use any index. Citus
  // has no generic plans.
  sql`
    select set_config('plan_cache_mode', 'force_generic_plan', true)
    where to_regclass('pg_dist_partition') is null
  `,
  // The planner overestimates the size of arrays: JIT would take longer than the query.
  sql`set local jit = off`,
  // The reader of an export may pause.
  sql`set local idle_in_transaction_session_timeout = 0`,
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
  // Positions may repeat. The key makes the order unique.
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
      order by ${names(...order)}
    ) x
  `;
}
