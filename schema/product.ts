import * as v from "valibot";
import { Collateral, NewCollateral } from "./collateral.ts";
import * as entries from "./entries.ts";
import {
  changing,
  chosen,
  creating,
  fields,
  isObject,
  list,
} from "./objects.ts";
import { PositiveInteger } from "./numbers.ts";
import { holderOf, shownFields } from "./references.ts";
import {
  Day,
  described,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  oneOf,
  text,
  Timestamp,
  Uuid,
} from "./values.ts";

/** The fields that the service assigns. */
export const IDENTITY = {
  id: Uuid,
  organization_id: Uuid,
  product_code: v.pipe(
    v.string(),
    v.metadata({
      description: "Assigned by the service, unique in the organization.",
      examples: ["P-0DYSSEY1"],
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const PRODUCT_TYPES = [
  "normal",
  "kit",
  "kit_part",
  "indent",
  "charge",
  "special",
  "trade_only",
] as const;

/** The scalar fields that a client writes, in the order of the specification (2.1). */
export const SCALARS = {
  title: heading(500),
  subtitle: v.nullable(text()),
  isbn13: v.nullable(Isbn13),
  isbn10: v.nullable(Isbn10),
  page_count: v.nullable(PositiveInteger),
  publication_date: v.nullable(Day),
  format_id: v.nullable(Uuid),
  title_id: v.nullable(Uuid),
  publishing_status_id: v.nullable(Uuid),
  product_availability_id: v.nullable(Uuid),
  lifecycle_status_id: v.nullable(Uuid),
  license_id: v.nullable(Uuid),
  season_id: v.nullable(Uuid),
  publisher_id: v.nullable(Uuid),
  division_id: v.nullable(Uuid),
  imprint_id: v.nullable(Uuid),
  series_id: described(
    "One of the product's collections.",
    v.nullable(Uuid),
  ),
  product_form_id: described(
    "Stored on the product's format and shared by all its products. Without a format it has no effect.",
    v.nullable(Uuid),
  ),
  product_type: v.nullable(oneOf(...PRODUCT_TYPES)),
  cover_image_url: v.nullable(HttpUrl),
};

/**
 * The columns of `products` that a body writes directly. The format stores the
 * product form. The series follows the link to its collection.
 */
export const COLUMNS = (Object.keys(SCALARS) as (keyof typeof SCALARS)[])
  .filter((field) => field !== "series_id" && !holderOf(field));

/** The response-only fields. A body may repeat them; they are ignored. */
const ANSWERED = [
  ...Object.keys(IDENTITY),
  ...Object.keys(shownFields()),
  "collections",
  "product_territories",
  "product_sales_rights",
];

/** The arrays that a body replaces (specification, 2.2). */
const LINKS = {
  contributors: list(
    entries.ContributorLink,
    "contributor_id",
    "contributor_role_id",
  ),
  product_collections: list(entries.CollectionLink, "collection_id"),
  custom_fields: list(entries.CustomFieldValue, "field_id"),
};

/** The body of `POST /products`. */
export const CreateProduct = fields({
  ...creating(SCALARS),
  ...changing({
    ...LINKS,
    product_prices: list(entries.NewPrice),
    packing_configurations: list(entries.NewPackingConfiguration),
    collateral: list(NewCollateral),
  }),
}, ANSWERED);

/**
 * The body of `PUT /products/{id}`. An absent field keeps its value, and null
 * clears a field.
 */
export const UpdateProduct = fields(
  changing({
    ...SCALARS,
    ...LINKS,
    product_prices: list(merged(entries.ChangedPrice, entries.NewPrice), "id"),
    packing_configurations: list(
      merged(
        entries.ChangedPackingConfiguration,
        entries.NewPackingConfiguration,
      ),
      "id",
    ),
    collateral: list(Collateral, "id"),
  }),
  ANSWERED,
);

export type ProductBody = v.InferOutput<typeof UpdateProduct>;

/** An entry with an `id` changes a row, an entry without one creates a row. */
function merged<C extends object, N extends object>(
  changed: v.GenericSchema<unknown, C>,
  created: v.GenericSchema<unknown, N>,
) {
  return chosen<C | N>(
    [created, changed],
    (entry) => isObject(entry) && "id" in entry ? changed : created,
  );
}
