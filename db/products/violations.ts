import {
  ApiError,
  endsTooEarly,
  type ErrorDetail,
  invalid,
  seriesNotAttached,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import { MAX_ENTRIES } from "../../schema/objects.ts";
import { REFERENCES } from "../../schema/references.ts";
import {
  isOneOf,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { brokenConstraint } from "../connections/errors.ts";
import type { Queries } from "../database.ts";
import { notFound } from "./read.ts";
import { type Change, ROWS_FOUND } from "./row.ts";
import { NOTHING, storedRows, unattachedSeries, wrongRows } from "./stored.ts";
import { unknownReferences } from "./unknown_references.ts";

function tooLarge(pointer: string): ErrorDetail {
  return {
    pointer,
    code: "too_large",
    message: `The product would have more than ${MAX_ENTRIES} entries here`,
  };
}

/** The error detail for each violated constraint. */
const RULES: Record<string, ErrorDetail> = {
  ...Object.fromEntries(
    REFERENCES.map(({ constraint, field, array, isSeries }) => [
      constraint,
      isSeries
        ? seriesNotAttached(`/${field}`)
        : unknownReference(`/${array ?? field}`),
    ]),
  ),
  product_prices_validity: endsTooEarly("/product_prices"),
  product_prices_position: tooLarge("/product_prices"),
  packing_configurations_position: tooLarge("/packing_configurations"),
  product_documents_size: {
    pointer: "",
    code: "too_large",
    message: "The product would be larger than 4 MiB",
  },
};

/** The foreign key of a publishing program on its products. */
const IN_PROGRAM = "publishing_program_products_product";

/** The foreign keys of rows on their products. Without a program, SQL has deleted the product meanwhile. */
const OF_PRODUCT = /_product$/;

/** Runs statements of the same type and returns the rows of each. */
export type RunQueries = <Row extends object>(
  statements: readonly Statement<Row>[],
) => Promise<Row[][]>;

/** Whether the body or the operation violated a rule, unlike a failure of the database. */
export function isViolation(error: unknown): boolean {
  const constraint = brokenConstraint(error) ?? "";
  return constraint in RULES || constraint === ROWS_FOUND ||
    OF_PRODUCT.test(constraint);
}

/** The error to throw for a failed transaction: the client's error for a violation. */
export async function explainFailure(
  database: Queries,
  error: unknown,
  change: Change,
): Promise<unknown> {
  if (!isViolation(error)) return error;
  const runQueries: RunQueries = (statements) =>
    Promise.all(statements.map((statement) => database.lookUp(statement)));
  return await explain(runQueries, error, change);
}

/**
 * Translates a violation into the client's error. The database stops at the first
 * violated constraint, so the stored rows are read to report every error in the
 * body (`VALIDATION_ERROR`). Other errors are `NOT_FOUND`, `CONFLICT` for a product
 * in use and `SERVICE_UNAVAILABLE` for a concurrent change.
 */
export async function explain(
  runQueries: RunQueries,
  error: unknown,
  change: Change,
): Promise<ApiError> {
  const constraint = brokenConstraint(error);
  if (constraint === IN_PROGRAM) return inProgram(error);
  const [details] = await findErrors(runQueries, [change]);
  if (!details) return notFound(change.id);
  if (details.length > 0) return invalid("The body", details);
  // A concurrent transaction has changed the rows since the violation.
  const rule = RULES[constraint ?? ""];
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", error);
}

/** The error for deleting a product that is in a publishing program. */
export function inProgram(cause?: unknown): ApiError {
  return new ApiError(
    "CONFLICT",
    "The product is used in a publishing program: remove it there first",
    { cause },
  );
}

/** The ids of the products that are in a publishing program. */
export function idsInPrograms(
  ids: readonly string[],
): Statement<{ product_id: string }> {
  return sql`
    select distinct x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization}
      and x.product_id ${isOneOf(ids)}
  `;
}

/** The errors of each body, or undefined for an update of a missing product. */
export async function findErrors(
  runQueries: RunQueries,
  changes: readonly Change[],
): Promise<(ErrorDetail[] | undefined)[]> {
  const known = await runQueries(changes.map(({ id }) => storedRows(id)));
  const unknown = await runQueries(
    changes.map(({ body }) => unknownReferences(body)),
  );
  return changes.map(({ body, isNew }, i) => {
    const [stored] = isNew ? [NOTHING] : known[i]!;
    return stored && [
      ...unknown[i]!.map(({ pointer }) => unknownReference(pointer)),
      ...unattachedSeries(body, stored),
      ...wrongRows(body, stored),
    ];
  });
}
