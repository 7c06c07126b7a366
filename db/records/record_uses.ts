import {
  ApiError,
  invalid,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import { nounOf, type OwnTable } from "../../schema/records.ts";
import { type Reference, REFERENCES } from "../../schema/references.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/errors.ts";
import type { Queries } from "../database.ts";

/** The tables that store a product's arrays. */
const ARRAY_TABLES: Record<NonNullable<Reference["array"]>, string> = {
  contributors: "product_contributors",
  product_collections: "product_collections",
  custom_fields: "custom_field_values",
};

/**
 * The foreign key from products to the table, with the column of the product's id. The
 * key of a series is omitted, since a series is also one of the product's collections.
 */
function referenceTo(table: OwnTable) {
  if (table === "publishing_programs") {
    return {
      from: "publishing_program_products",
      product: "product_id",
      column: "program_id",
      constraint: "publishing_program_products_program",
    };
  }
  const { field, array, constraint } = REFERENCES.find((reference) =>
    reference.table === table && !reference.isSeries
  )!;
  return {
    from: array ? ARRAY_TABLES[array] : "products",
    product: array ? "product_id" : "id",
    column: field,
    constraint,
  };
}

/** An SQL expression that counts the products that reference the record. */
export function countReferencing(table: OwnTable, id: string): Statement {
  const { from, product, column } = referenceTo(table);
  // A product may list a contributor in several roles.
  const select = table === "contributors" ? "select distinct" : "select";
  return sql`(
    select count(*)
    from (
      ${raw(select)} x.${raw(product)}
      from ${raw(from)} x
      where x.organization_id = ${organization} and x.${raw(column)} = ${id}
    ) referencing
  )::int`;
}

/** Translates the error of a failed write: an unknown reference is `VALIDATION_ERROR`. */
export function throwWriteError(error: unknown): never {
  const constraint = brokenConstraint(error);
  const unknown = REFERENCES.find((reference) =>
    reference.heldBy && reference.constraint === constraint
  );
  if (!unknown) throw error;
  throw invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

/**
 * Translates the error of a failed deletion: a record in use is `CONFLICT`, with the
 * number of products that reference it.
 */
export async function throwDeleteError(
  database: Queries,
  table: OwnTable,
  id: string,
  error: unknown,
): Promise<never> {
  if (brokenConstraint(error) !== referenceTo(table).constraint) throw error;
  const [row] = await database.scan(
    sql<{ count: number }>`select ${countReferencing(table, id)} as count`,
  );
  const { count } = row!;
  const noun = nounOf(table);
  // The last reference was removed after the deletion failed.
  if (count === 0) {
    throw unavailable(`The ${noun} is being used by another request`, error);
  }
  const message = count === 1
    ? "1 product refers to it"
    : `${count} products refer to it`;
  throw new ApiError("CONFLICT", `The ${noun} is in use: ${message}`, {
    cause: error,
    details: [{ code: "in_use", count, message }],
  });
}
