import * as v from "valibot";
import { type Fault, invalid } from "./error.ts";
import { toParameterFaults } from "./fault.ts";
import { codePoints, Uuid } from "./values.ts";

/** The columns a list can be filtered by (specification, 4.2). */
export const FILTERS = [
  "publishing_status_id",
  "lifecycle_status_id",
  "product_availability_id",
  "format_id",
] as const;

const WholeNumber = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d*$/, "invalid_number: Expected a whole number from 1"),
);

const EMBEDS: Record<string, "product_territories" | "product_sales_rights"> = {
  product_territories: "product_territories",
  product_sales_rights: "product_sales_rights",
  sales_rights: "product_sales_rights",
};

/** The parameters of `GET /products`. */
const Parameters = v.object({
  page: v.optional(
    v.pipe(
      WholeNumber,
      v.check(
        (page) => Number(page) <= Number.MAX_SAFE_INTEGER,
        `out_of_range: At most ${Number.MAX_SAFE_INTEGER}`,
      ),
      v.transform(Number),
    ),
    "1",
  ),
  // A limit above the maximum is taken as the maximum (AIP-158).
  limit: v.optional(
    v.pipe(WholeNumber, v.transform((limit) => Math.min(Number(limit), 100))),
    "50",
  ),
  search: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.check(
        (term) => codePoints(term) <= 200,
        "too_long: At most 200 characters",
      ),
      v.check(
        (term) => !term.includes("\0"),
        "invalid_character: The character U+0000 cannot be searched for",
      ),
    ),
    "",
  ),
  include: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (names) =>
          names === "" ||
          names.split(",").every((name) => Object.hasOwn(EMBEDS, name.trim())),
        `invalid_value: Expected a comma list of product_territories and sales_rights`,
      ),
      v.transform((names) =>
        new Set(names.split(",").map((name) => EMBEDS[name.trim()]))
      ),
    ),
    "",
  ),
  publishing_status_id: v.optional(Uuid),
  lifecycle_status_id: v.optional(Uuid),
  product_availability_id: v.optional(Uuid),
  format_id: v.optional(Uuid),
});

export type ListQuery = v.InferOutput<typeof Parameters>;

/**
 * Reads the query of a list. Throws `VALIDATION_ERROR` with a fault for every
 * parameter that is unknown, sent twice or wrong.
 */
export function readListQuery(query: URLSearchParams): ListQuery {
  const faults: Fault[] = [];
  const given = new Map<string, string>();
  for (const [parameter, value] of query) {
    const known = Object.hasOwn(Parameters.entries, parameter);
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
  const read = v.safeParse(Parameters, Object.fromEntries(given));
  if (read.success && faults.length === 0) return read.output;
  throw invalid("The query", [
    ...faults,
    ...toParameterFaults(read.issues ?? []),
  ]);
}
