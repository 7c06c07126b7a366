import {
  ApiError,
  invalid,
  unavailable,
  unknownReference,
} from "../../schema/errors.ts";
import { nounOf, type OwnTable } from "../../schema/records.ts";
import { type Reference, REFERENCES } from "../../schema/references.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Operations } from "../database.ts";

/** The tables with the entries of a product's arrays. */
const LINKS: Record<NonNullable<Reference["array"]>, string> = {
  contributors: "product_contributors",
  product_collections: "product_collections",
  custom_fields: "custom_field_values",
};

/**
 * The foreign keys by which products use the records of a table, and where the
 * product's id is. A series is used as one of the product's collections.
 */
function usesOf(table: OwnTable) {
  if (table === "publishing_programs") {
    return [{
      from: "publishing_program_products",
      product: "product_id",
      column: "program_id",
      constraint: "publishing_program_products_program",
    }];
  }
  return REFERENCES
    .filter((reference) => reference.table === table && !reference.isOneOf)
    .map(({ field: column, array, constraint }) => ({
      from: array ? LINKS[array] : "products",
      product: array ? "product_id" : "id",
      column,
      constraint,
    }));
}

/** How many products use the record, as an expression: one that uses it twice is counted once. */
export function productsOf(table: OwnTable, id: string): Statement {
  // A contributor may have several roles.
  const select = table === "contributors" ? "select distinct" : "select";
  const using = usesOf(table).map(({ from, product, column }, i) =>
    sql`${raw(i > 0 ? "union" : "")}
      ${raw(select)} x.${raw(product)}
      from ${raw(from)} x
      where x.organization_id = ${organization} and x.${raw(column)} = ${id}
    `
  );
  if (using.length === 0) return sql`0`;
  return sql`(select count(*) from (${using}) using_it)::int`;
}

/** Throws what the client is told of a write that failed: `VALIDATION_ERROR` for an unknown reference. */
export function refuseWrite(error: unknown): never {
  const constraint = brokenConstraint(error);
  const unknown = REFERENCES.find((reference) =>
    reference.heldBy && reference.constraint === constraint
  );
  if (!unknown) throw error;
  throw invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

/** Throws what the client is told of a deletion that failed: `CONFLICT` with the number of products that refer to the record. */
export async function refuseDelete(
  database: Operations,
  table: OwnTable,
  id: string,
  error: unknown,
): Promise<never> {
  const broken = brokenConstraint(error);
  const isUsed = usesOf(table).some(({ constraint }) => constraint === broken);
  if (!isUsed) throw error;
  const [row] = await database.scan(
    sql<{ count: number }>`select ${productsOf(table, id)} as count`,
  );
  const { count } = row!;
  const noun = nounOf(table);
  // It was used a moment ago.
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
