import * as v from "valibot";
import {
  choices,
  embeds,
  limit,
  Term,
  Time,
  Uuids,
  wholeNumber,
} from "./parameters.ts";
import { PRODUCT_TYPES } from "./product.ts";
import { described, heading, Isbn10, Isbn13, oneOf } from "./values.ts";

/** The filters of the specification (4.2). `product_counts` stores a count for each of their values. */
const COUNTED = {
  publishing_status_id: ids("Products with one of these publishing statuses."),
  lifecycle_status_id: ids("Products with one of these lifecycle statuses."),
  product_availability_id: ids("Products with one of these availabilities."),
  format_id: ids("Products in one of these formats."),
};

/** Filters on other reference columns of `products`. */
const BY_REFERENCE = {
  publisher_id: ids("Products of one of these publishers."),
  imprint_id: ids("Products of one of these imprints."),
  division_id: ids("Products of one of these divisions."),
  season_id: ids("Products of one of these seasons."),
  license_id: ids("Products under one of these licenses."),
  title_id: ids("Products of one of these parent titles."),
  series_id: ids("Products of one of these series."),
};

/** Filters on references in arrays of a product. */
const BY_LINK = {
  collection_id: ids("Products in one of these collections."),
  contributor_id: ids("Products with one of these contributors."),
};

/** Filters that match at most a few products, by exact value. */
const EXACT = {
  isbn13: described("Products with this ISBN-13.", v.optional(Isbn13)),
  isbn10: described("Products with this ISBN-10.", v.optional(Isbn10)),
  product_code: described(
    "The product with this code.",
    v.optional(heading()),
  ),
};

export const COUNTED_FILTERS = names(COUNTED);
export const REFERENCE_FILTERS = names(BY_REFERENCE);
export const LINK_FILTERS = names(BY_LINK);
export const EXACT_FILTERS = names(EXACT);

/** The orders of a list. `-` means descending. */
export const SORTS = [
  "-created_at",
  "created_at",
  "-updated_at",
  "updated_at",
  "title",
  "-title",
  "publication_date",
  "-publication_date",
] as const;

export type Sort = typeof SORTS[number];

/** The order of a list without `sort` (specification, 4.2). */
export const DEFAULT_SORT: Sort = "-created_at";

/** The arrays that a list embeds in its products. */
export const Include = described(
  "Arrays to embed in each product. `product_territories` includes only the markets.",
  v.optional(
    embeds({
      product_territories: "product_territories",
      product_sales_rights: "product_sales_rights",
      sales_rights: "product_sales_rights",
      product_prices: "product_prices",
      packing_configurations: "packing_configurations",
      contributors: "contributors",
      custom_fields: "custom_fields",
      collateral: "collateral",
    }),
    "",
  ),
);

/** The parameters of `GET /products`. */
export const ProductParameters = v.object({
  page: described(
    "The page, counted from 1.",
    v.optional(wholeNumber(Number.MAX_SAFE_INTEGER), "1"),
  ),
  limit: described(
    "The size of a page. A limit above 100 counts as 100. A page over 16 MiB is refused (`too_large`).",
    v.optional(limit(100), "50"),
  ),
  search: described(
    "Words in the title, ISBNs or product code, in any order, ignoring case and accents. Double quotes enclose a phrase. ISBNs match with or without hyphens.",
    v.optional(Term, ""),
  ),
  include: Include,
  sort: described(
    "The order. `-` means descending.",
    v.optional(oneOf(...SORTS), DEFAULT_SORT),
  ),
  updated_since: described(
    "Products updated at this time or later: a day, or a time with its offset (ISO 8601). Deletions are not listed, and a poll can miss a product whose transaction committed late. `GET /products/changes` misses none.",
    v.optional(Time),
  ),
  ...EXACT,
  ...COUNTED,
  ...BY_REFERENCE,
  ...BY_LINK,
  product_type: described(
    "Products of one of these types.",
    v.optional(choices(PRODUCT_TYPES)),
  ),
});

export type ListQuery = v.InferOutput<typeof ProductParameters>;

/** The parameters that narrow a list. */
export const NARROWING = names(ProductParameters.entries).filter((name) =>
  !["page", "limit", "include", "sort"].includes(name)
);

function ids(description: string) {
  return described(description, v.optional(Uuids));
}

function names<const E extends object>(entries: E) {
  return Object.keys(entries) as (keyof E)[];
}
