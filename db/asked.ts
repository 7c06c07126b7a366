import { MAX_TOGETHER } from "./gathering.ts";
import { names, type Sql } from "./sql.ts";

const mostTogether = names(String(MAX_TOGETHER));

/**
 * The table `asked` of these ids, for a `from`. What is asked of each is found in
 * a `lateral` with `limit 1`. So the planner counts on as many rows, and on one
 * for each, whatever is asked: else it may find it better to plan anew each time,
 * or to read a table that was small when it made its plan.
 */
export function asked(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
) {
  return sql`
    (
      select ${organizationId}::uuid, id::uuid
      from string_to_table(${ids.join()}, ',') id
      limit ${mostTogether(sql)}
    ) asked (organization_id, id)
  `;
}
