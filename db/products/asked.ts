import { MAX_TOGETHER } from "../connections/gathering.ts";
import { names, type Sql } from "../connections/sql.ts";

const mostTogether = names(String(MAX_TOGETHER));

/**
 * The table `asked` of these ids, for a `from`. In a statement that says `$1` for
 * the organization it comes before every other parameter. What is asked of each is
 * found in a `lateral` with `limit 1`, so that the planner counts on as many rows,
 * and on one for each, whatever is asked: else it may plan anew each time.
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
