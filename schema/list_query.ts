import * as v from "valibot";
import { type Fault, invalid } from "./errors.ts";
import { toParameterFaults } from "./error_details.ts";
import { embeds, Since, Term, Uuids, wholeNumber } from "./parameters.ts";
import { heading, Isbn10, Isbn13 } from "./values.ts";

/** The columns a list can be filtered by (specification, 4.2). */
export const FILTERS = [
  "publishing_status_id",
  "lifecycle_status_id",
  "product_availability_id",
  "format_id",
] as const;

/** The columns that one product is looked up by. */
export const EXACT = ["isbn13", "isbn10", "product_code"] as const;

/** The parameters that narrow a list down. */
export const NARROWING = [
  ...FILTERS,
  ...EXACT,
  "search",
  "updated_since",
] as const;

/** The orders of a list; `-` is descending. */
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

/** The order of a list that is asked for no other (specification, 4.2). */
export const DEFAULT_SORT: Sort = "-created_at";

/** What a list embeds in its products when it is asked to. */
export const Include = v.optional(
  embeds({
    product_territories: "product_territories",
    product_sales_rights: "product_sales_rights",
    sales_rights: "product_sales_rights",
  }),
  "",
);

/** The parameters of `GET /products`. */
export const Parameters = v.object({
  page: v.optional(wholeNumber(Number.MAX_SAFE_INTEGER), "1"),
  // A limit above the maximum is taken as the maximum (AIP-158).
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
});

export type ListQuery = v.InferOutput<typeof Parameters>;

/**
 * Reads a query by its parameters. Throws `VALIDATION_ERROR` with every parameter
 * that is unknown, sent twice or wrong.
 */
export function readQuery<const E extends v.ObjectEntries>(
  parameters: v.ObjectSchema<E, undefined>,
  query: URLSearchParams,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  const faults: Fault[] = [];
  const given = new Map<string, string>();
  for (const [parameter, value] of query) {
    const known = Object.hasOwn(parameters.entries, parameter);
    if (known && !given.has(parameter)) given.set(parameter, value);
    else if (faults.length <= 100) {
      faults.push({
        parameter: parameter.slice(0, 100).toWellFormed(),
        ...known
          ? { code: "duplicate", message: "This parameter is given twice" }
          : {
            code: "unknown_parameter",
            message: "There is no such parameter",
          },
      });
    }
  }
  const read = v.safeParse(parameters, Object.fromEntries(given));
  if (read.success && faults.length === 0) return read.output;
  throw invalid("The query", [
    ...faults,
    ...toParameterFaults(read.issues ?? []),
  ]);
}
