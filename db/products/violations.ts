import {
  endsTooEarly,
  seriesNotAttached,
  unknownReference,
} from "../../schema/error_details.ts";
import {
  ApiError,
  type Fault,
  invalid,
  unavailable,
} from "../../schema/errors.ts";
import {
  among,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import { RowsMissing } from "./nested_rows.ts";
import { notFound } from "./read.ts";
import type { Change } from "./row.ts";
import { NOTHING, storedRows, unattachedSeries, wrongRows } from "./stored.ts";
import { unknownReferences } from "./unknown_references.ts";

function tooLarge(pointer: string): Fault {
  return {
    pointer,
    code: "too_large",
    message: "The product would have more than 500 entries here",
  };
}

/** The constraints that a body can break, and what it has done then. */
const RULES: Record<string, Fault> = {
  products_publishing_status: unknownReference("/publishing_status_id"),
  products_availability: unknownReference("/product_availability_id"),
  products_lifecycle_status: unknownReference("/lifecycle_status_id"),
  products_format: unknownReference("/format_id"),
  products_parent_title: unknownReference("/title_id"),
  products_license: unknownReference("/license_id"),
  products_season: unknownReference("/season_id"),
  products_publisher: unknownReference("/publisher_id"),
  products_division: unknownReference("/division_id"),
  products_imprint: unknownReference("/imprint_id"),
  products_series: seriesNotAttached("/series_id"),
  formats_product_form: unknownReference("/product_form_id"),
  product_contributors_contributor: unknownReference("/contributors"),
  product_contributors_role: unknownReference("/contributors"),
  product_collections_collection: unknownReference("/product_collections"),
  custom_field_values_field: unknownReference("/custom_fields"),
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
  const [faults] = await faultsOf(ask, [change]);
  if (!faults) return notFound(change.id);
  if (faults.length > 0) return invalid("The body", faults);
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

/** The faults of each body; undefined where the product it is for is not there. */
export async function faultsOf(
  ask: Ask,
  changes: readonly Change[],
): Promise<(Fault[] | undefined)[]> {
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
