import type { Entry, ProductBody } from "./bodies.ts";
import type { Fields, Reference } from "./fields.ts";
import { ROWS, SCALARS } from "./product.ts";

/** A reference of a product, and where it stands. */
export interface ProductReference extends Reference {
  /** The field of the product, or of the entries of an array. */
  field: `${string}_id`;
  /** The array, and the table that stores it. Absent for a field of the product. */
  array?: { name: string; table: string };
  /** The foreign key that refuses an unknown id. */
  constraint: string;
}

/** All references of a product, in the order of its fields. */
export const REFERENCES: readonly ProductReference[] = [
  ...referencesIn("products", SCALARS),
  ...ROWS.flatMap(([name, { table, fields }]) =>
    referencesIn(table, fields).map((reference) => (
      { ...reference, array: { name, table } }
    ))
  ),
];

/** The references in columns of this table. */
export function referencesIn(
  table: string,
  fields: Fields,
): ProductReference[] {
  return Object.entries(fields).flatMap(([name, column]) => {
    if (column.kind !== "column" || !column.refers) return [];
    const constraint = `${table}_${name.replace(/_id$/, "")}`;
    const field = name as ProductReference["field"];
    return [{ constraint, ...column.refers, field }];
  });
}

/** The value of a reference in a body. */
export interface GivenReference {
  reference: ProductReference;
  /** The index of the entry that has it, and a JSON Pointer to that. The body itself has the pointer "". */
  index: number;
  entry: string;
  value: unknown;
}

/** The references in a body, in the order of their fields. */
export function givenReferences(body: ProductBody): GivenReference[] {
  return REFERENCES.flatMap((reference) => {
    const { array, field } = reference;
    const entries = array ? body[array.name] as Entry[] ?? [] : [body];
    return entries.map((given, index) => ({
      reference,
      index,
      entry: array ? `/${array.name}/${index}` : "",
      value: given[field],
    }));
  });
}
