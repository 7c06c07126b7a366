import * as v from "valibot";
import {
  about,
  assigned,
  column,
  type Fields,
  identifiers,
  isTrueOrNull,
  refers,
  required,
  shown,
  time,
  words,
} from "./fields.ts";
import type { OnixList } from "./onix_codes.ts";
import { heading, Isni, Orcid, text, Uuid } from "./values.ts";

/*
 * The records that products refer to. A new resource needs a row here and a migration.
 * Its routes, statements, validation and OpenAPI follow from the row.
 */

/** The most characters of a name. */
export const MAX_NAME = 500;

const Name = heading(MAX_NAME);

/** Whether a record can have the name. */
export function isRecordName(name: string): boolean {
  return v.is(Name, name);
}

const Colour = v.pipe(
  v.string("invalid_type: Expected a string"),
  v.regex(
    /^#[0-9a-fA-F]{6}$/,
    "invalid_colour: Expected a colour as # and six hexadecimal digits",
  ),
);

const id = about("The id of the record.", assigned(Uuid), null);

/** The records of an organization, by table. */
// deno-fmt-ignore
const OWN = {
  licenses: own("License", null, {
    badge_colour: about("The colour of the badge that marks products under the license, as `#rrggbb`.", column(Colour, v.string()), null),
  }),
  seasons: own("Season", null),
  publishers: own("Publisher", "PublisherName", {
    identifiers: about("The numbers that identify the publisher, such as its GLN.",
      identifiers("PublisherIdentifier", "name_id_type", 44, {}, "PublisherIDType"), "PublisherIdentifier"),
  }),
  divisions: own("Division", null),
  imprints: own("Imprint", "ImprintName", {
    identifiers: about("The numbers that identify the imprint, such as the publisher's own.",
      identifiers("ImprintIdentifier", "name_id_type", 44, {}, "ImprintIDType"), "ImprintIdentifier"),
  }),
  collections: own("Collection", "TitleText", {
    collection_type: about("The kind of collection, such as a series.", column(text(), v.string()), null),
  }),
  formats: own("Format", null, {
    product_form_id: about("The id of the product form of all products with the format, from `/product-forms`.",
      refers("product_forms"), "ProductForm"),
    product_form_code: about("The code of the product form in ONIX List 150.", shown("product_form_id", "code", { isForBodies: true }), "ProductForm"),
  }),
  titles: own("Title", null),
  contributors: own("Contributor", "PersonName", {
    names_before_key: about("The part of a person's name before the key names, such as `Ursula K.`.", words),
    key_names: about("The part of a person's name by which it is sorted, such as `Le Guin`.", words),
    person_name_inverted: about("The name of a person with the key names first, such as `Le Guin, Ursula K.`.", words),
    is_organization: about("Whether the contributor is an organization instead of a person.", isTrueOrNull, null),
    isni: about("The International Standard Name Identifier of the contributor.", column(Isni, v.string()),
      "NameIdentifier[NameIDType=16]/IDValue"),
    orcid: about("The ORCID of the contributor.", column(Orcid, v.string()),
      "NameIdentifier[NameIDType=21]/IDValue"),
    biographical_note: about("Who the contributor is, for readers.", column(text(100_000), v.string())),
  }),
  custom_fields: own("CustomField", null),
  publishing_programs: own("PublishingProgram", null),
};

/** The code lists that all organizations share, by table. */
// deno-fmt-ignore
const SHARED_FIELDS = {
  publishing_statuses: shared("PublishingStatus"),
  product_availabilities: shared("ProductAvailability"),
  product_forms: shared("ProductForm"),
  contributor_roles: shared("ContributorRole"),
  lifecycle_statuses: shared("LifecycleStatus", null),
};

/** Describes a type of records by its own fields. `element` is the ONIX element of the name. */
function own<const T extends string>(
  type: T,
  element: string | null,
  fields: Fields = {},
) {
  const name = required(column(Name, v.string()));
  const all: Fields = {
    id,
    name: about("The name, as products show it.", name, element),
    ...fields,
    created_at: about("The time at which the record was created.", time, null),
    updated_at: about("The time of its last change.", time, null),
  };
  return { type, fields: all };
}

/** Describes a type of codes. `element` is the ONIX element of the code. */
function shared<const T extends string>(
  type: T,
  element: string | null = type,
) {
  const text = assigned(v.string());
  const all: Fields = {
    id,
    code: about("The code, the same in every installation.", text, element),
    name: about("The name of the code.", text, null),
  };
  return { type, fields: all };
}

export type OwnTable = keyof typeof OWN;

export type SharedTable = keyof typeof SHARED_FIELDS;

export type RecordTable = OwnTable | SharedTable;

/** Every table of records, with the type of its records and its fields. */
export const RECORDS = { ...OWN, ...SHARED_FIELDS };

export const OWN_TABLES = Object.keys(OWN) as OwnTable[];

export const SHARED_TABLES = Object.keys(SHARED_FIELDS) as SharedTable[];

/** Whether all organizations share the records of the table. */
export function isShared(table: string): table is SharedTable {
  return Object.hasOwn(SHARED_FIELDS, table);
}

/** The ONIX lists of the codes in shared tables. */
const ONIX_LISTS: Partial<Record<string, OnixList>> = {
  publishing_statuses: 64,
  product_availabilities: 65,
  product_forms: 150,
  contributor_roles: 17,
};

/** The ONIX list whose codes the table has, if it is one. */
export function codeListOf(table: RecordTable): OnixList | undefined {
  return ONIX_LISTS[table];
}

/** The codes of `lifecycle_statuses`, in chronological order. */
export const LIFECYCLE_CODES = [
  "in_development",
  "forthcoming",
  "active",
  "out_of_print",
  "archived",
] as const;

/** The path of a table, such as `/custom-fields`. */
export function pathOfTable(table: RecordTable): string {
  return `/${table.replaceAll("_", "-")}`;
}

/** The tables by their paths. */
export const TABLES_BY_PATH = new Map<string, RecordTable>(
  [...OWN_TABLES, ...SHARED_TABLES].map((table) => [pathOfTable(table), table]),
);

/** The noun for a record of the table, such as `custom field`. */
export function nounOf(table: RecordTable): string {
  return RECORDS[table].type.replace(/\B[A-Z]/g, " $&").toLowerCase();
}

/** The number of products that refer to a record, in responses to `GET` of one record. */
export const PRODUCTS = about(
  "The number of products that refer to the record. Only in responses to `GET` of one record. `If-None-Match` notices a change of it, `If-Match` does not.",
  assigned(v.optional(v.pipe(v.number(), v.integer()))),
  null,
);
