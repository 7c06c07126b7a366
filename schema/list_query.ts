import * as v from "valibot";
import { type ErrorDetail, invalid, queryDetails } from "./errors.ts";
import {
  choices,
  embeds,
  Since,
  Term,
  Uuids,
  wholeNumber,
} from "./parameters.ts";
import { PRODUCT_TYPES } from "./product.ts";
import { heading, Isbn10, Isbn13 } from "./values.ts";

/** The filters of the specification (4.2). The service keeps a count for each of their values. */
export const FILTERS = [
  "publishing_status_id",
  "lifecycle_status_id",
  "product_availability_id",
  "format_id",
] as const;

/** Filters on other reference columns of `products`. */
export const REFERENCE_FILTERS = [
  "publisher_id",
  "imprint_id",
  "division_id",
  "season_id",
  "license_id",
  "title_id",
  "series_id",
] as const;

/** Filters on references in arrays of a product. */
export const LINK_FILTERS = ["collection_id", "contributor_id"] as const;

/** Filters that match at most a few products. */
export const EXACT = ["isbn13", "isbn10", "product_code"] as const;

/** The parameters that narrow a list. */
export const NARROWING = [
  ...FILTERS,
  ...REFERENCE_FILTERS,
  ...LINK_FILTERS,
  "product_type",
  ...EXACT,
  "search",
  "updated_since",
] as const;

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
export const Include = v.optional(
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
);

/** The parameters of `GET /products`. */
export const Parameters = v.object({
  page: v.optional(wholeNumber(Number.MAX_SAFE_INTEGER), "1"),
  // A limit above the maximum counts as the maximum (AIP-158).
  limit: v.optional(
    v.pipe(wholeNumber(), v.transform((limit) => Math.min(limit, 100))),
    "50",
  ),
  search: v.optional(Term, ""),
  include: Include,
  sort: v.optional(
    v.picklist(SORTS, `invalid_value: Expected one of ${SORTS.join(", ")}`),
    DEFAULT_SORT,
  ),
  updated_since: v.optional(Since),
  isbn13: v.optional(Isbn13),
  isbn10: v.optional(Isbn10),
  product_code: v.optional(heading()),
  publishing_status_id: v.optional(Uuids),
  lifecycle_status_id: v.optional(Uuids),
  product_availability_id: v.optional(Uuids),
  format_id: v.optional(Uuids),
  publisher_id: v.optional(Uuids),
  imprint_id: v.optional(Uuids),
  division_id: v.optional(Uuids),
  season_id: v.optional(Uuids),
  license_id: v.optional(Uuids),
  title_id: v.optional(Uuids),
  series_id: v.optional(Uuids),
  collection_id: v.optional(Uuids),
  contributor_id: v.optional(Uuids),
  product_type: v.optional(choices(PRODUCT_TYPES)),
});

export type ListQuery = v.InferOutput<typeof Parameters>;

/**
 * Reads a query. Throws `VALIDATION_ERROR` with a detail for every unknown,
 * repeated or invalid parameter.
 */
export function readQuery<
  const S extends v.GenericSchema & { entries: v.ObjectEntries },
>(parameters: S, query: URLSearchParams): v.InferOutput<S> {
  const details: ErrorDetail[] = [];
  const given = new Map<string, string>();
  for (const [parameter, value] of query) {
    const known = Object.hasOwn(parameters.entries, parameter);
    if (known && !given.has(parameter)) given.set(parameter, value);
    else if (details.length <= 100) {
      details.push({
        parameter: parameter.slice(0, 100).toWellFormed(),
        ...known
          ? { code: "duplicate", message: "This parameter occurs twice" }
          : {
            code: "unknown_parameter",
            message: "Unknown parameter",
          },
      });
    }
  }
  const read = v.safeParse(parameters, Object.fromEntries(given));
  if (read.success && details.length === 0) return read.output;
  throw invalid("The query", [
    ...details,
    ...queryDetails(read.issues ?? []),
  ]);
}
