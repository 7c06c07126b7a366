import type { Entry } from "../../schema/bodies.ts";
import { ORGANIZATION } from "../../schema/organization.ts";
import { json, names, organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { assertPrecondition, etagOf, type Precondition } from "../entity_tag.ts";
import { selectFields } from "../row_json.ts";

/* Reads and updates the organization of the caller. */

/** The columns that a body writes. */
export const ORGANIZATION_COLUMNS = Object.keys(ORGANIZATION)
  .filter((name) => name !== "id");

/** The organization as JSON text. */
export const selectOrganization = sql<{ record: string }>`
  select (
    select row_to_json(x)
    from (select ${selectFields(ORGANIZATION, { alias: "r" })}) x
  )::text as record
  from organizations r
  where r.id = ${organization}
`;

/** Gets the organization as JSON text. */
export async function getOrganization(database: Queries): Promise<string> {
  const [found] = await database.lookUp(selectOrganization);
  return found!.record;
}

/**
 * Updates the fields that the body contains, and returns the organization as JSON text.
 * Throws the error of the precondition.
 */
export async function updateOrganization(
  database: Queries,
  body: Entry,
  precondition?: Precondition,
): Promise<string> {
  const columns = names(...ORGANIZATION_COLUMNS);
  const update = sql`
    update organizations r
    set (${columns}) = (
      select ${columns} from jsonb_populate_record(r, ${json(body)})
    )
    where r.id = ${organization}
  `;
  const updates = Object.keys(body).length > 0 ? [update] : [];
  const results = await database.transaction(async (tx) => {
    if (precondition) {
      const [, [current]] = await tx.send(
        sql`select from organizations r where r.id = ${organization} for no key update`,
        selectOrganization,
      );
      assertPrecondition(precondition, etagOf(current!.record));
    }
    return await tx.commit(...updates, selectOrganization);
  });
  const [updated] = results.at(-1) as { record: string }[];
  return updated!.record;
}
