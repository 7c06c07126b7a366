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

/** A foreign key by which products use records of a table. */
interface Use {
  table: string;
  /** The column with the product's id; `distinct` where one product may use a record more than once. */
  product: string;
  column: string;
  constraint: string;
}

/** Where the entries of a product's arrays are. A contributor may have several roles. */
const LINKS: Record<
  NonNullable<Reference["array"]>,
  Pick<Use, "table" | "product">
> = {
  contributors: {
    table: "product_contributors",
    product: "distinct x.product_id",
  },
  product_collections: {
    table: "product_collections",
    product: "x.product_id",
  },
  custom_fields: { table: "custom_field_values", product: "x.product_id" },
};

/** The uses of the records of a table. A series is used as one of the product's collections. */
function usesOf(table: OwnTable): Use[] {
  if (table === "publishing_programs") {
    return [{
      table: "publishing_program_products",
      product: "x.product_id",
      column: "program_id",
      constraint: "publishing_program_products_program",
    }];
  }
  return REFERENCES
    .filter((reference) => reference.table === table && !reference.isOneOf)
    .map(({ field: column, array, constraint }) => ({
      ...array ? LINKS[array] : { table: "products", product: "x.id" },
      column,
      constraint,
    }));
}

/** How many products use the record, as an expression: one that uses it twice is counted once. */
export function productsOf(table: OwnTable, id: string): Statement {
  const using = usesOf(table).map((use, i) =>
    sql`${raw(i > 0 ? "union" : "")}
      select ${raw(use.product)}
      from ${raw(use.table)} x
      where x.organization_id = ${organization} and x.${raw(use.column)} = ${id}
    `
  );
  if (using.length === 0) return sql`0`;
  return sql`(select count(*) from (${using}) using_it)::int`;
}

/** What to tell the client of a write that failed: `VALIDATION_ERROR` for a reference that is unknown. */
export function explainWrite(error: unknown): unknown {
  const constraint = brokenConstraint(error);
  const unknown = REFERENCES.find((reference) =>
    reference.heldBy && reference.constraint === constraint
  );
  if (!unknown) return error;
  return invalid("The body", [unknownReference(`/${unknown.field}`)]);
}

/** What to tell the client of a deletion that failed: `CONFLICT` with the number of products that refer to the record. */
export async function explainDelete(
  database: Operations,
  error: unknown,
  { table, id }: { table: OwnTable; id: string },
): Promise<unknown> {
  const broken = brokenConstraint(error);
  if (!usesOf(table).some(({ constraint }) => constraint === broken)) {
    return error;
  }
  const [row] = await database.scan(
    sql<{ count: number }>`select ${productsOf(table, id)} as count`,
  );
  const { count } = row!;
  const noun = nounOf(table);
  // It was used a moment ago.
  if (count === 0) {
    return unavailable(`The ${noun} is being used by another request`, error);
  }
  const message = count === 1
    ? "1 product refers to it"
    : `${count} products refer to it`;
  return new ApiError("CONFLICT", `The ${noun} is in use: ${message}`, {
    cause: error,
    details: [{ code: "in_use", count, message }],
  });
}
