import * as v from "valibot";
import { Uuid } from "./values.ts";

const NAMED = { name: v.string() };

const CODED = { code: v.string(), name: v.string() };

/**
 * The records that an organization keeps and its products refer to, by table:
 * the columns of each besides `organization_id` and `id`.
 */
const OWN = {
  licenses: { ...NAMED, badge_colour: v.nullable(v.string()) },
  seasons: NAMED,
  publishers: NAMED,
  divisions: NAMED,
  imprints: NAMED,
  collections: { ...NAMED, collection_type: v.nullable(v.string()) },
  formats: { ...NAMED, product_form_id: v.nullable(Uuid) },
  titles: NAMED,
  contributors: NAMED,
  custom_fields: NAMED,
  publishing_programs: NAMED,
};

/** The code lists that all organizations share, by table. */
const SHARED = {
  publishing_statuses: CODED,
  product_availabilities: CODED,
  product_forms: CODED,
  contributor_roles: CODED,
  lifecycle_statuses: CODED,
};

/** Every table of records, with its columns. */
export const RECORDS = { ...OWN, ...SHARED };

export type RecordTable = keyof typeof RECORDS;

/** Whether the records of the table belong to all organizations. */
export function isShared(table: RecordTable): boolean {
  return Object.hasOwn(SHARED, table);
}
