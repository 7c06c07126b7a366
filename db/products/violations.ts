import {
  endsTooEarly,
  type ErrorDetail,
  invalid,
  seriesNotAttached,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import type { ProductBody } from "../../schema/product.ts";
import { REFERENCES } from "../../schema/references.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { RowsMissing } from "./nested_rows.ts";
import { notFound } from "./read.ts";
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

/**
 * The error for the client after a failed write. The database reports only the first
 * violated rule. The client gets all of them with their pointers
 * (`VALIDATION_ERROR`), or `NOT_FOUND`. `id` is absent for a new product.
 */
export async function explain(
  database: Operations,
  error: unknown,
  write: { id?: string; body: ProductBody },
): Promise<unknown> {
  const rule = RULES[brokenConstraint(error) ?? ""];
  if (!rule && !(error instanceof RowsMissing)) return error;
  const details = await violationsOf(database, write);
  if (details.length > 0) return invalid("The body", details);
  // A concurrent write has removed the cause.
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", error);
}

async function violationsOf(
  database: Operations,
  { id, body }: { id?: string; body: ProductBody },
): Promise<ErrorDetail[]> {
  const [stored] = id === undefined
    ? [NOTHING]
    : await database.lookUp(storedRows(id));
  if (!stored) throw notFound(id!);
  const unknown = await database.lookUp(unknownReferences(body));
  return [
    ...unknown.map(({ pointer }) => unknownReference(pointer)),
    ...unattachedSeries(body, stored),
    ...wrongRows(body, stored),
  ];
}
