import * as v from "valibot";
import type { Fields } from "./entry.ts";
import { RECORDS, type RecordTable } from "./records.ts";

/** A field of a body that holds the id of a record. */
export interface Reference {
  field: string;
  /** The array whose entries have the field. Absent for a field of the product. */
  array?: "contributors" | "product_collections" | "custom_fields";
  table: RecordTable;
  /** The foreign key that refuses an unknown id. */
  constraint: string;
  /** The columns of the record that responses show, by the name of the field. */
  shows?: Record<string, string>;
  /** Whether responses show these fields as null without a record. */
  isAlwaysShown?: true;
  /** Whether the record must also be one of the product's collections. */
  isSeries?: true;
  /** The reference whose record stores this field instead of the product. */
  heldBy?: "format_id";
}

/** All references of a product, in the order of its response. */
export const REFERENCES: readonly Reference[] = [
  named("license", "licenses", {
    shows: { license_name: "name", license_badge_colour: "badge_colour" },
    isAlwaysShown: true,
  }),
  named("season", "seasons"),
  named("publisher", "publishers"),
  named("division", "divisions"),
  named("imprint", "imprints"),
  named("series", "collections", { isSeries: true }),
  named("format", "formats"),
  {
    field: "product_form_id",
    table: "product_forms",
    constraint: "formats_product_form",
    heldBy: "format_id",
  },
  named("title", "titles", { constraint: "products_parent_title" }),
  named("publishing_status", "publishing_statuses", {
    shows: { publishing_status_name: "name", publishing_status_code: "code" },
  }),
  named("product_availability", "product_availabilities", {
    constraint: "products_availability",
    shows: {
      product_availability_name: "name",
      product_availability_code: "code",
    },
  }),
  named("lifecycle_status", "lifecycle_statuses"),
  named("contributor", "contributors", {
    array: "contributors",
    constraint: "product_contributors_contributor",
  }),
  named("contributor_role", "contributor_roles", {
    array: "contributors",
    constraint: "product_contributors_role",
    shows: { contributor_role_name: "name", contributor_role_code: "code" },
  }),
  {
    field: "collection_id",
    array: "product_collections",
    table: "collections",
    constraint: "product_collections_collection",
  },
  named("field", "custom_fields", {
    array: "custom_fields",
    constraint: "custom_field_values_field",
  }),
];

/** A reference such as `season_id`, shown as `season_name`, with the foreign key `products_season`. */
function named(
  name: string,
  table: RecordTable,
  other: Partial<Reference> = {},
): Reference {
  return {
    field: `${name}_id`,
    table,
    constraint: `products_${name}`,
    shows: { [`${name}_name`]: "name" },
    ...other,
  };
}

/** The references in fields of the product, or in the entries of one of its arrays. */
export function referencesOf(array?: Reference["array"]): Reference[] {
  return REFERENCES.filter((reference) => reference.array === array);
}

/** The reference whose record stores the field instead of the product. */
export function holderOf(field: string): Reference | undefined {
  const held = REFERENCES.find((reference) => reference.field === field);
  return held && REFERENCES.find(({ field }) => field === held.heldBy);
}

/** The response fields that show the records of these references. */
export function shownFields(
  array?: Reference["array"],
): Record<string, { answer: v.GenericSchema }> {
  return Object.fromEntries(
    referencesOf(array).flatMap(({ table, shows, isAlwaysShown }) =>
      Object.entries(shows ?? {}).map(([field, column]) => {
        const columns: Fields = RECORDS[table].columns;
        const { answer } = columns[column]!;
        if (array) return [field, { answer }];
        if (!isAlwaysShown) return [field, { answer: v.optional(answer) }];
        const isNullable = v.is(answer, null);
        return [field, { answer: isNullable ? answer : v.nullable(answer) }];
      })
    ),
  );
}
