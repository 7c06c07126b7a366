import { ApiError, type Fault, invalid } from "../../schema/errors.ts";
import {
  endsTooEarly,
  seriesNotAttached,
  unknownReference,
} from "../../schema/error_details.ts";
import type { ProductBody } from "../../schema/product.ts";
import { unavailable } from "../connections/queue.ts";
import type { Operations } from "../database.ts";
import type { Sql } from "../connections/sql.ts";
import { brokenConstraint, RowsMissing } from "../connections/sqlstate.ts";
import { unknownReferences } from "./unknown_references.ts";
import { NOTHING, storedRows, unattachedSeries, wrongRows } from "./stored.ts";

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
};

/**
 * Runs the write. The database keeps the rules and stops at the first that is
 * broken; the client is told of all: every reference of the body that is not
 * the organization's, with its pointer (`VALIDATION_ERROR`), or `NOT_FOUND` for
 * a product that is not there. `id` is absent for a product that is created.
 */
export async function explained<T>(
  database: Operations,
  { organizationId, id, body }: {
    organizationId: string;
    id?: string;
    body: ProductBody;
  },
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const rule = RULES[brokenConstraint(error) ?? ""];
    if (!rule && !(error instanceof RowsMissing)) throw error;
    const faults = await database.run((sql) =>
      findFaults(sql, organizationId, id, body)
    );
    if (faults.length > 0) throw invalid("The body", faults);
    // What was missing has come since, or the other way round.
    if (rule) throw invalid("The body", [rule]);
    throw unavailable("The product is being changed by another request", error);
  }
}

async function findFaults(
  sql: Sql,
  organizationId: string,
  id: string | undefined,
  body: ProductBody,
): Promise<Fault[]> {
  const stored = id === undefined
    ? NOTHING
    : await storedRows(sql, organizationId, id);
  if (!stored) throw new ApiError("NOT_FOUND", `No product with id "${id}"`);
  return [
    ...await unknownReferences(sql, organizationId, body),
    ...unattachedSeries(body, stored),
    ...wrongRows(body, stored),
  ];
}
