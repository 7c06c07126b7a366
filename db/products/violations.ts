import {
  ApiError,
  endsTooEarly,
  type ErrorDetail,
  invalid,
  seriesNotAttached,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import { REFERENCES } from "../../schema/references.ts";
import {
  among,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { RowsMissing } from "./nested_rows.ts";
import { notFound } from "./read.ts";
import type { Change } from "./row.ts";
import { NOTHING, storedRows, unattachedSeries, wrongRows } from "./stored.ts";
import { unknownReferences } from "./unknown_references.ts";

function tooLarge(pointer: string): ErrorDetail {
  return {
    pointer,
    code: "too_large",
    message: "The product would have more than 500 entries here",
  };
}

/** The error of a body, by the constraint that it violates. */
const RULES: Record<string, ErrorDetail> = {
  ...Object.fromEntries(
    REFERENCES.map(({ constraint, field, array, isOneOf }) => [
      constraint,
      isOneOf
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

/** The constraint that keeps a product in a publishing programme. */
const IN_PROGRAM = "publishing_program_products_product";

/** Runs statements of one kind, and gives the rows of each. */
export type Ask = <Row extends object>(
  statements: readonly Statement<Row>[],
) => Promise<Row[][]>;

/** Asks outside the transaction that failed. */
export function lookingUp(database: Operations): Ask {
  return (statements) =>
    Promise.all(statements.map((statement) => database.lookUp(statement)));
}

/** Whether the database refused what was written, and not to write. */
export function isRefusal(error: unknown): boolean {
  const constraint = brokenConstraint(error) ?? "";
  return constraint in RULES || constraint === IN_PROGRAM ||
    error instanceof RowsMissing;
}

/**
 * What to tell the client of a write that failed. The database keeps the rules
 * and stops at the first that is broken; the client is told of every one, with
 * its pointer (`VALIDATION_ERROR`), of a product that is not there (`NOT_FOUND`),
 * or of one that is in use (`CONFLICT`).
 */
export async function explain(
  ask: Ask,
  error: unknown,
  change: Change,
): Promise<unknown> {
  if (!isRefusal(error)) return error;
  const constraint = brokenConstraint(error);
  if (constraint === IN_PROGRAM) return inProgram(error);
  const [details] = await errorsOf(ask, [change]);
  if (!details) return notFound(change.id);
  if (details.length > 0) return invalid("The body", details);
  // What was missing has come since, or the other way round.
  const rule = RULES[constraint ?? ""];
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", error);
}

/** The failure to delete a product that is in a publishing programme. */
export function inProgram(cause?: unknown): ApiError {
  return new ApiError(
    "CONFLICT",
    "The product is used in a publishing program: remove it there first",
    { cause },
  );
}

/** Those of the products that are in a publishing programme. */
export function foundInPrograms(
  ids: readonly string[],
): Statement<{ product_id: string }> {
  return sql<{ product_id: string }>`
    select distinct x.product_id
    from publishing_program_products x
    where x.organization_id = ${organization}
      and x.product_id ${among(ids)}
  `;
}

/** What is wrong with each body; undefined where the product it is for is not there. */
export async function errorsOf(
  ask: Ask,
  changes: readonly Change[],
): Promise<(ErrorDetail[] | undefined)[]> {
  const known = await ask(changes.map(({ id }) => storedRows(id)));
  const unknown = await ask(
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
