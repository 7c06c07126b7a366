import { sql, type Statement } from "../connections/sql.ts";

/**
 * The rows of a select as an array of compact JSON objects, `[]` without any.
 * `json_agg` and `json_build_object` would put spaces into the text.
 */
export function jsonArray(rows: Statement): Statement {
  return sql`array(select row_to_json(x) from (${rows}) x)`;
}
