import type { Entry } from "../../bodies.ts";
import { MAX_ENTRIES, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { compositesOf } from "./entries.ts";
import { entryCodec, projectionOf } from "./fields.ts";
import type { MappedField } from "./mapped.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Collateral, such as a text or an award: a composite of its own for each type in a record, and
 * one array in a product.
 */

/** The types of collateral in the order in which a record has them. */
export const COLLATERAL_TYPES = [
  "text_content",
  "cited_content",
  "award",
] as const;

/** The collateral of one type, whose entries have `collateral_type` in bodies. */
export function collateralOf(type: typeof COLLATERAL_TYPES[number]): MappedField {
  const { fields, element, same } = ARRAYS.collateral.types![type]!;
  const entry = entryCodec(element, { fields, same });
  return {
    block: "CollateralDetail",
    place: element,
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

/** Takes out of the values what the one array of a product has no room for. */
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
