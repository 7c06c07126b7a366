import * as v from "valibot";
import { field, type Fields, same } from "./entry.ts";
import { heading, text, Uuid } from "./values.ts";

/*
 * The records that products refer to. A new resource needs a row here and a
 * migration. Its routes, statements, validation and OpenAPI follow from the row.
 */

const Colour = v.pipe(
  v.string("invalid_type: Expected a string"),
  v.regex(
    /^#[0-9a-fA-F]{6}$/,
    "invalid_colour: Expected a colour as # and six hexadecimal digits",
  ),
);

const nullableText = v.nullable(v.string());

/** The records of an organization, by table. Every table also has `id` and times. */
const OWN = {
  licenses: own("License", {
    badge_colour: field(v.nullable(Colour), nullableText),
  }),
  seasons: own("Season", {}),
  publishers: own("Publisher", {}),
  divisions: own("Division", {}),
  imprints: own("Imprint", {}),
  collections: own("Collection", {
    collection_type: field(v.nullable(text()), nullableText),
  }),
  formats: own("Format", { product_form_id: same(v.nullable(Uuid)) }),
  titles: own("Title", {}),
  contributors: own("Contributor", {}),
  custom_fields: own("CustomField", {}),
  publishing_programs: own("PublishingProgram", {}),
};

function own<const T extends string, const C extends Fields>(
  type: T,
  columns: C,
) {
  return {
    type,
    columns: { name: field(heading(500), v.string()), ...columns },
  };
}

/** The code lists that all organizations share, by table. */
const SHARED = {
  publishing_statuses: shared("PublishingStatus"),
  product_availabilities: shared("ProductAvailability"),
  product_forms: shared("ProductForm"),
  contributor_roles: shared("ContributorRole"),
  lifecycle_statuses: shared("LifecycleStatus"),
};

function shared<const T extends string>(type: T) {
  const column = { answer: v.string() };
  return { type, columns: { code: column, name: column } };
}

/** Every table of records, with the type of its records and its columns. */
export const RECORDS = { ...OWN, ...SHARED };

export type OwnTable = keyof typeof OWN;

export type SharedTable = keyof typeof SHARED;

export type RecordTable = keyof typeof RECORDS;

export const OWN_TABLES = Object.keys(OWN) as OwnTable[];

export const SHARED_TABLES = Object.keys(SHARED) as SharedTable[];

/** Whether all organizations share the records of the table. */
export function isShared(table: RecordTable): table is SharedTable {
  return Object.hasOwn(SHARED, table);
}

/** The path of a table, such as `/custom-fields`. */
export function pathOfTable(table: RecordTable): string {
  return `/${table.replaceAll("_", "-")}`;
}

/** The noun for a record of the table, such as `custom field`. */
export function nounOf(table: RecordTable): string {
  return RECORDS[table].type.replace(/\B[A-Z]/g, " $&").toLowerCase();
}
