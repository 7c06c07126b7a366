import * as v from "valibot";
import { RECORDS, type RecordTable } from "./records.ts";

/** A field of a body that holds the id of a record. */
export interface Reference {
  field: string;
  /** The array whose entries have the field; absent for a field of the product itself. */
  array?: "contributors" | "product_collections" | "custom_fields";
  table: RecordTable;
  /** The foreign key that refuses an unknown id. */
  constraint: string;
  /** What answers show of the record: the columns by the fields of the answer. */
  shows?: Record<string, string>;
  /** Whether answers show it without a record too, as null. */
  isAlwaysShown?: true;
  /** The array in which the record must be as well. */
  isOneOf?: "product_collections";
  /** The reference whose record holds this field in place of the product. */
  heldBy?: "format_id";
}

/** Everything that a product refers to, in the order in which answers show it. */
export const REFERENCES: readonly Reference[] = [
  {
    field: "license_id",
    table: "licenses",
    constraint: "products_license",
    shows: { license_name: "name", license_badge_colour: "badge_colour" },
    isAlwaysShown: true,
  },
  {
    field: "season_id",
    table: "seasons",
    constraint: "products_season",
    shows: { season_name: "name" },
  },
  {
    field: "publisher_id",
    table: "publishers",
    constraint: "products_publisher",
    shows: { publisher_name: "name" },
  },
  {
    field: "division_id",
    table: "divisions",
    constraint: "products_division",
    shows: { division_name: "name" },
  },
  {
    field: "imprint_id",
    table: "imprints",
    constraint: "products_imprint",
    shows: { imprint_name: "name" },
  },
  {
    field: "series_id",
    table: "collections",
    constraint: "products_series",
    shows: { series_name: "name" },
    isOneOf: "product_collections",
  },
  {
    field: "format_id",
    table: "formats",
    constraint: "products_format",
    shows: { format_name: "name" },
  },
  {
    field: "product_form_id",
    table: "product_forms",
    constraint: "formats_product_form",
    heldBy: "format_id",
  },
  {
    field: "title_id",
    table: "titles",
    constraint: "products_parent_title",
    shows: { title_name: "name" },
  },
  {
    field: "publishing_status_id",
    table: "publishing_statuses",
    constraint: "products_publishing_status",
    shows: { publishing_status_name: "name", publishing_status_code: "code" },
  },
  {
    field: "product_availability_id",
    table: "product_availabilities",
    constraint: "products_availability",
    shows: {
      product_availability_name: "name",
      product_availability_code: "code",
    },
  },
  {
    field: "lifecycle_status_id",
    table: "lifecycle_statuses",
    constraint: "products_lifecycle_status",
    shows: { lifecycle_status_name: "name" },
  },
  {
    field: "contributor_id",
    array: "contributors",
    table: "contributors",
    constraint: "product_contributors_contributor",
    shows: { contributor_name: "name" },
  },
  {
    field: "contributor_role_id",
    array: "contributors",
    table: "contributor_roles",
    constraint: "product_contributors_role",
    shows: { contributor_role_name: "name", contributor_role_code: "code" },
  },
  {
    field: "collection_id",
    array: "product_collections",
    table: "collections",
    constraint: "product_collections_collection",
  },
  {
    field: "field_id",
    array: "custom_fields",
    table: "custom_fields",
    constraint: "custom_field_values_field",
    shows: { field_name: "name" },
  },
];

/** The references of a product itself, or those of the entries of one of its arrays. */
export function referencesOf(array?: Reference["array"]): Reference[] {
  return REFERENCES.filter((reference) => reference.array === array);
}

/** The reference whose record holds the field in place of the product. */
export function holderOf(field: string): Reference | undefined {
  const held = REFERENCES.find((reference) => reference.field === field);
  return held && REFERENCES.find(({ field }) => field === held.heldBy);
}

/** The fields in which answers show the records of these references. */
export function shownFields(array?: Reference["array"]): v.ObjectEntries {
  return Object.fromEntries(
    referencesOf(array).flatMap(({ table, shows, isAlwaysShown }) =>
      Object.entries(shows ?? {}).map(([field, column]) => {
        const columns: v.ObjectEntries = RECORDS[table].columns;
        const schema = columns[column]!;
        if (array) return [field, schema];
        if (!isAlwaysShown) return [field, v.optional(schema)];
        return [field, v.is(schema, null) ? schema : v.nullable(schema)];
      })
    ),
  );
}
