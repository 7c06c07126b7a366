import {
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Carried } from "./kinds.ts";

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

/** The lines of a kind; `rest` is what follows the condition on the organization. */
export function linesOf(
  kind: string,
  carried: Carried,
  rest: Statement,
): Statement<Line> {
  return sql<Line>`
    select line.id, row_to_json(line)::text as line
    from (
      select '${raw(kind)}' as kind, ${fieldsOf(carried)}
      from ${raw(carried.table)}
      where organization_id = ${organization} ${rest}
    ) line
  `;
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
  // Positions need not be different: the key makes the order one.
  const order = [
    ...columns.filter(({ name }) => name === "position"),
    ...columns.filter(({ isKey }) => isKey),
  ].map(({ name }) => `${table}.${name}`);
  return sql`
    select row_to_json(x)
    from (
      select ${fieldsOf(carried)}
      from ${raw(table)}
      where ${raw(table)}.organization_id = ${organization}
        ${raw(conditions.join(" "))}
      order by ${names(...order)}
    ) x
  `;
}
