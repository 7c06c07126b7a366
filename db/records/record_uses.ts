import type { OwnTable } from "../../schema/records.ts";
import { type Reference, REFERENCES } from "../../schema/references.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";

/** A foreign key by which products use records of a table. */
interface Use {
  table: string;
  /** The column with the product's id. */
  product: string;
  column: string;
  constraint: string;
  /** Whether one product may use a record more than once. */
  isRepeated?: true;
}

/** Where the entries of a product's arrays are. A contributor may have several roles. */
const LINKS: Record<
  NonNullable<Reference["array"]>,
  Pick<Use, "table" | "isRepeated">
> = {
  contributors: { table: "product_contributors", isRepeated: true },
  product_collections: { table: "product_collections" },
  custom_fields: { table: "custom_field_values" },
};

const IN_PROGRAM: Use = {
  table: "publishing_program_products",
  product: "product_id",
  column: "program_id",
  constraint: "publishing_program_products_program",
};

/** The uses of the records of a table. A series is used as one of the product's collections. */
function usesOf(table: OwnTable): Use[] {
  if (table === "publishing_programs") return [IN_PROGRAM];
  return REFERENCES
    .filter((reference) => reference.table === table && !reference.isOneOf)
    .map(({ field: column, array, constraint }) =>
      array
        ? { ...LINKS[array], product: "product_id", column, constraint }
        : { table: "products", product: "id", column, constraint }
    );
}

/** Whether a record cannot be deleted because this constraint is broken. */
export function isUse(table: OwnTable, constraint?: string): boolean {
  return usesOf(table).some((use) => use.constraint === constraint);
}

/** How many products use the record, as an expression: one that uses it twice is counted once. */
export function productsOf(table: OwnTable, id: string): Statement {
  const using = usesOf(table).map((use, i) =>
    sql`${raw(i > 0 ? "union" : "")}
      select ${raw(use.isRepeated ? "distinct" : "")} x.${raw(use.product)}
      from ${raw(use.table)} x
      where x.organization_id = ${organization} and x.${raw(use.column)} = ${id}
    `
  );
  if (using.length === 0) return sql`0`;
  return sql`(select count(*) from (${using}) using_it)::int`;
}
