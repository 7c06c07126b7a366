import * as v from "valibot";
import { Collateral, NewCollateral } from "./collateral.ts";
import { ANSWERED } from "./response_fields.ts";
import {
  ChangedPacking,
  ChangedPrice,
  Collection,
  Contributor,
  CustomField,
  NewPacking,
  NewPrice,
} from "./entries.ts";
import { chosen, fields, isObject, list } from "./objects.ts";
import { PositiveInteger } from "./numbers.ts";
import {
  Day,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  oneOf,
  text,
  Uuid,
} from "./values.ts";

export const PRODUCT_TYPES = [
  "normal",
  "kit",
  "kit_part",
  "indent",
  "charge",
  "special",
  "trade_only",
] as const;

/** The columns of a product that a client may write (specification, 2.1). */
export const CORE = {
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
  series_id: v.pipe(
    v.nullable(Uuid),
    v.description("One of the product's collections."),
  ),
  product_form_id: v.pipe(
    v.nullable(Uuid),
    v.description(
      "Written to the product's format, and so to every product on that format; without a format it has no effect.",
    ),
  ),
  product_type: v.nullable(oneOf(...PRODUCT_TYPES)),
  cover_image_url: v.nullable(HttpUrl),
};

/** The arrays of a product (specification, 2.2), of which all but two are given whole. */
const LINKS = {
  contributors: list(Contributor, "contributor_id", "contributor_role_id"),
  product_collections: list(Collection, "collection_id"),
  custom_fields: list(CustomField, "field_id"),
};

const { title, ...optionalCore } = CORE;

/** A body of `POST /products`. */
export const CreateProduct = fields({
  title,
  ...v.partial(v.object({
    ...optionalCore,
    ...LINKS,
    product_prices: list(NewPrice),
    packing_configurations: list(NewPacking),
    collateral: list(NewCollateral),
  })).entries,
}, ANSWERED);

/**
 * A body of `PUT /products/{id}`: any part of a product. An absent field
 * leaves the product alone; a null clears it.
 */
export const UpdateProduct = fields(
  v.partial(v.object({
    title,
    ...optionalCore,
    ...LINKS,
    product_prices: list(merged(ChangedPrice, NewPrice), "id"),
    packing_configurations: list(merged(ChangedPacking, NewPacking), "id"),
    collateral: list(Collateral, "id"),
  })).entries,
  ANSWERED,
);

/** What a client may write of a product; what is absent is not to be touched. */
export type ProductBody = v.InferOutput<typeof UpdateProduct>;

/** A row to be changed where the entry has an `id`, else one to be created. */
function merged<
  const C extends v.GenericSchema<unknown, object>,
  const N extends v.GenericSchema<unknown, object>,
>(changed: C, created: N) {
  return chosen<v.InferOutput<C> | v.InferOutput<N>>(
    [created, changed],
    (entry) => isObject(entry) && "id" in entry ? changed : created,
  );
}
