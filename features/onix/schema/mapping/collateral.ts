import type { Entry } from "../../../../schema/bodies.ts";
import { MAX_ENTRIES, objectsIn } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { compositesOf } from "../codecs/entries.ts";
import { entryCodec, projectionOf } from "../codecs/fields.ts";
import type { MappedField } from "./mapped.ts";
import type { RecordReader } from "../codecs/record_reader.ts";

/*
 * Collateral, such as texts and awards. A record has a composite for each type, and a product has
 * one array.
 */

/** The types of collateral in the order in which a record has them. */
export const COLLATERAL_TYPES = [
  "text_content",
  "cited_content",
  "award",
] as const;

/** The collateral of one type, whose entries have `collateral_type` in bodies. */
export function collateralOf(type: typeof COLLATERAL_TYPES[number]): MappedField {
  const { fields, element, same, together } = ARRAYS.collateral.types![type]!;
  const entry = entryCodec(element, { fields, same, ...together && { together } });
  return {
    field: "collateral",
    block: "CollateralDetail",
    path: element,
    ...compositesOf(element, {
      ...entry,
      read: (each, reader) => ({
        collateral_type: type,
        ...entry.read(each, reader),
      }),
    }),
    project: projectionOf(element, { kind: "rows", fields }),
    valueIn: ({ product }) =>
      objectsIn(product.collateral).filter(({ collateral_type }) => collateral_type === type),
  };
}

/** Removes entries beyond the limit of the product's single array. */
export function limitCollateral(values: Entry, reader: RecordReader): void {
  const all = COLLATERAL_TYPES.flatMap((type) => objectsIn(values[type]));
  const over = new Set(all.slice(MAX_ENTRIES));
  if (over.size === 0 || reader.isLenient) return;
  const elements = Array.from(over, (entry) => reader.elementOf(entry)!);
  reader.warn("too_many", `At most ${MAX_ENTRIES} entries`, elements[0]!);
  for (const found of elements) reader.release(found);
  for (const type of COLLATERAL_TYPES) {
    values[type] = objectsIn(values[type]).filter((entry) => !over.has(entry));
  }
}
