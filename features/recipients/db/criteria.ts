import {
  type ApiError,
  type ErrorDetail,
  invalid,
  unknownReference,
  withDetails,
} from "../../../schema/errors.ts";
import { isObject } from "../../../schema/objects.ts";
import { isShared } from "../../../schema/records.ts";
import { isUuid } from "../../../schema/values.ts";
import { organization, raw, sql, unprepared } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { MAX_VALUES, REFERENCES_IN_CRITERIA } from "../schema/recipient.ts";

/*
 * Finds the criteria of a body that refer to unknown records. For example, `selection.publisher_id`
 * has the id of no publisher: `/selection/publisher_id/0` is an `unknown_reference`.
 */

/** Criteria that a body has, with their pointers. */
function criteriaIn(body: unknown): [pointer: string, table: string, id: string][] {
  if (!isObject(body)) return [];
  return ["selection", "except"].flatMap((part) => {
    const criteria = body[part];
    if (!isObject(criteria)) return [];
    return REFERENCES_IN_CRITERIA.flatMap(([name, table]) => {
      const ids = criteria[name];
      if (!Array.isArray(ids) || ids.length > MAX_VALUES) return [];
      return ids.flatMap((id, i): [string, string, string][] =>
        isUuid(id) ? [[`/${part}/${name}/${i}`, table, id.toLowerCase()]] : []
      );
    });
  });
}

/** Returns the errors of unknown ids. */
async function unknownIds(
  database: Pick<Queries, "scan">,
  body: unknown,
): Promise<ErrorDetail[]> {
  const given = criteriaIn(body);
  if (given.length === 0) return [];
  const tables = Map.groupBy(given, ([, table]) => table);
  const parts = Array.from(tables, ([table, all], i) => {
    const own = isShared(table) ? [] : sql`r.organization_id = ${organization} and`;
    const ids = all.map(([, , id]) => id).join();
    return sql`
      ${raw(i > 0 ? "union all" : "")}
      select ${raw(`'${table}'`)} as table_name, r.id
      from ${raw(table)} r where ${own} r.id = any(string_to_array(${ids}, ',')::uuid[])
    `;
  });
  const found = await database.scan(unprepared(sql<{ table_name: string; id: string }>`${parts}`));
  const known = new Set(found.map(({ table_name, id }) => `${table_name} ${id}`));
  return given.filter(([, table, id]) => !known.has(`${table} ${id}`))
    .map(([pointer]) => unknownReference(pointer));
}

/** The error of an invalid body, with the errors of the ids in it. */
export async function completeErrors(database: Queries, error: ApiError): Promise<ApiError> {
  const unknown = await unknownIds(database, error.sent);
  return unknown.length > 0 ? withDetails(error, unknown) : error;
}

/** Throws `VALIDATION_ERROR` if a body has unknown ids. */
export async function assertKnown(database: Queries, body: unknown): Promise<void> {
  const unknown = await unknownIds(database, body);
  if (unknown.length > 0) throw invalid("The body", unknown);
}
