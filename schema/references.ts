import type { Entry, ProductBody } from "./bodies.ts";
import type { Fields, Reference } from "./fields.ts";
import { Named } from "./named.ts";
import { ROWS, SCALARS } from "./product.ts";
import type { RecordTable } from "./records.ts";

/*
 * The references of products to other records, and where a body has them. For example,
 * `contributors/0/contributor_id`.
 */

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

/** A reference in a body that is given by a name or a code instead of an id. */
export type NamedReference = GivenReference & { value: Named };

/** The table of the record that a name or a code stands for. */
export function tableOf({ reference }: NamedReference): RecordTable {
  return reference.table as RecordTable;
}

/** The references in a body that are given by names and codes. */
export function namedReferences(body: ProductBody): NamedReference[] {
  return givenReferences(body).filter((given): given is NamedReference =>
    given.value instanceof Named
  );
}

/** The body with these ids in place of names and codes. */
export function withIds(
  body: ProductBody,
  ids: Iterable<readonly [NamedReference, string | null]>,
): ProductBody {
  const changed: ProductBody = { ...body };
  const arrays = new Map<string, Entry[]>();
  for (const [{ reference: { field, array }, index }, id] of ids) {
    if (!array) {
      changed[field] = id;
      continue;
    }
    const entries = arrays.getOrInsertComputed(
      array.name,
      (name) => changed[name] = [...body[name] as Entry[]],
    );
    entries[index] = { ...entries[index], [field]: id };
  }
  return changed;
}
