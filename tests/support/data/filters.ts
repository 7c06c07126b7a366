import { uuidv7 } from "../../../db/uuid.ts";
import { COUNTED_FILTERS } from "../../../schema/list_query.ts";
import type { App } from "../app/harness.ts";
import { idOfCode, type Organization } from "../app/organization.ts";

/** The filters of lists, with two values each. */
export type Values = Record<
  | "publishing_status_id"
  | "lifecycle_status_id"
  | "product_availability_id"
  | "format_id",
  string[]
>;

/** The filters whose totals are stored (specification, 4.2). */
export const COUNTED = COUNTED_FILTERS as (keyof Values)[];

/** Two values for each filter. The formats belong to the organization. */
export async function valuesOf(app: App, org: Organization): Promise<Values> {
  const format = uuidv7();
  await app
    .sql`insert into formats (organization_id, id, name) values (${org.id}, ${format}, 'Ebook')`;
  const ids = (table: string, ...codes: string[]) =>
    Promise.all(codes.map((code) => idOfCode(app, table, code)));
  return {
    publishing_status_id: await ids("publishing_statuses", "02", "04"),
    lifecycle_status_id: await ids("lifecycle_statuses", "active", "archived"),
    product_availability_id: await ids("product_availabilities", "20", "21"),
    format_id: [org.format, format],
  };
}
