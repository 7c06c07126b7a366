import {
  ApiError,
  detailAt,
  type ErrorDetail,
  refusedBy,
  seriesNotAttached,
  unknownReference,
  withHint,
} from "../../../schema/errors.ts";
import { MAX_ENTRIES } from "../../../schema/objects.ts";
import { ROWS } from "../../../schema/product.ts";
import { REFERENCES } from "../../../schema/references.ts";
import { brokenConstraint } from "../../connections/errors.ts";
import { ROWS_FOUND } from "../change/change.ts";

/*
 * The errors of products. A body alone cannot show every fault, so constraints of the database
 * refuse the others. `RULES` maps each constraint to its error. PostgreSQL reports only the first
 * violation; `find_errors.ts` finds all.
 */

/** The error detail of a product whose JSON is larger than 4 MiB. */
export const TOO_LARGE = detailAt(
  "",
  "too_large: The product would be larger than 4 MiB",
);

/** The error for a product that is too large to be shown. */
export function tooLargeToShow(id: string, bytes: number): ApiError {
  const mib = (bytes / 2 ** 20).toFixed(1);
  return new ApiError(
    "CONFLICT",
    `The product "${id}" has ${mib} MiB of JSON, and at most 4 MiB can be shown: SQL has stored it. Remove rows by PUT`,
  );
}

/** The error for a product that the organization does not have. */
export function productNotFound(id: string): ApiError {
  return new ApiError("NOT_FOUND", `No product with id "${id}"`);
}

/** The error detail for each constraint that a body may violate. */
const RULES: Record<string, ErrorDetail> = {
  ...Object.fromEntries(
    REFERENCES.map(({ constraint, field, array, isSeries }) => [
      constraint,
      isSeries ? seriesNotAttached(`/${field}`) : unknownReference(`/${array?.name ?? field}`),
    ]),
  ),
  ...Object.fromEntries(
    ROWS.flatMap(([name, { table, put, rules = [] }]) => [
      ...put === "patch" ? [[`${table}_position`, tooManyEntries(name)]] : [],
      ...rules.flatMap(({ constraint }) =>
        constraint
          ? [[
            `${table}_${constraint.name}`,
            detailAt(`/${name}`, constraint.message),
          ]]
          : []
      ),
    ]),
  ),
  product_documents_size: TOO_LARGE,
  products_announcement: contradictoryDates("/publishing_dates"),
};

/** The error detail of a product with a day of publication and a year or month as well. */
export function contradictoryDates(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "contradictory: A year or month of publication (role 01) requires that publication_date is null",
  );
}

/** The error detail of an array that would have too many entries. */
export function tooManyEntries(array: string): ErrorDetail {
  return detailAt(
    `/${array}`,
    `too_large: The product would have more than ${MAX_ENTRIES} entries here`,
  );
}

/** The error details of restored values that another product has. */
const RESTORED: Record<string, ErrorDetail> = {
  products_code: detailAt(
    "/product_code",
    "duplicate: Another product has this code",
  ),
  onix_aliases_pkey: inUse("/stored/onix_aliases"),
  onix_records_by_reference: inUse("/stored/onix_records"),
};

function inUse(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "duplicate: Another product has such a reference, or an earlier entry",
  );
}

/** The error detail of a write that the database refuses although its body is valid. */
export function refusal(error: unknown): ErrorDetail {
  return RESTORED[brokenConstraint(error) ?? ""] ?? refusedBy(error, "product");
}

/** The error detail of the rule that a body has violated, if any. */
export function ruleOf(error: unknown): ErrorDetail | undefined {
  return RULES[brokenConstraint(error) ?? ""];
}

/** The foreign key of a publishing program on its products. */
export const IN_PROGRAM = "publishing_program_products_product";

/**
 * The foreign keys of rows on their products, such as `IN_PROGRAM`. A write violates any other one
 * if SQL has deleted its product meanwhile.
 */
const OF_PRODUCT = /_product$/;

/**
 * Whether the error is that of a request: its body or operation violates a rule, or another request
 * has created or deleted the product meanwhile. Any other error is a failure of the database.
 */
export function isViolation(error: unknown): boolean {
  const constraint = brokenConstraint(error) ?? "";
  return constraint in RULES || constraint === ROWS_FOUND ||
    constraint === "products_pkey" || OF_PRODUCT.test(constraint);
}

/** The error for deleting a product that is in a publishing program. */
export function inProgram(cause?: unknown): ApiError {
  return new ApiError(
    "CONFLICT",
    withHint("The product is used in a publishing program", "remove it there first"),
    { cause },
  );
}
