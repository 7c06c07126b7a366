import {
  endsTooEarly,
  seriesNotAttached,
  unknownReference,
} from "../../schema/error_details.ts";
import { type Fault, invalid, unavailable } from "../../schema/errors.ts";
import type { ProductBody } from "../../schema/product.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";
import { RowsMissing } from "./nested_rows.ts";
import { notFound } from "./read.ts";
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

/**
 * What to tell the client of a write that failed. The database keeps the rules
 * and stops at the first that is broken; the client is told of every one, with
 * its pointer (`VALIDATION_ERROR`), or of a product that is not there
 * (`NOT_FOUND`). `id` is absent for a product that is created.
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
  // What was missing has come since, or the other way round.
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", error);
}

async function violationsOf(
  database: Operations,
  { id, body }: { id?: string; body: ProductBody },
): Promise<Fault[]> {
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
