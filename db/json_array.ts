import { sql, type Statement } from "./connections/sql.ts";

/**
 * The rows of a select as a JSON array of objects, without white space: `json_agg` and
 * `json_build_object` would add some.
 */
export function jsonArray(rows: Statement): Statement {
  return sql`array_to_json(array(select row_to_json(x) from (${rows}) x))`;
}
