import type { Entry } from "../../../../schema/bodies.ts";
import {
  elementOf,
  type Field,
  type Fields,
  keysOf,
  type Rows,
  type Rule,
} from "../../../../schema/fields.ts";
import { type Distinct, isEqual } from "../../../../schema/objects.ts";
import { ARRAYS } from "../../../../schema/product.ts";
import { hasSameContent } from "../xml/element.ts";
import { valueAt } from "../codecs/codec.ts";
import { projectFields } from "../codecs/fields.ts";
import { COLLATERAL_TYPES } from "../mapping/collateral.ts";
import type { Reading } from "../mapping/reading.ts";
import {
  contentOutsideFields,
  fullContentOf,
  type Keys,
  matchEntries,
  matchKeysOf,
} from "../codecs/matching.ts";

/*
 * Describes the arrays that are merged entry by entry, which are those whose rows have ids, and
 * matches their entries (`matchRows`).
 */

/** The fields of an object in a composite. */
export interface FieldsOfObject {
  composite: string;
  fields: Fields;
  /** The fields that are one value. */
  together: readonly string[];
  /** Rules about several fields. Merged fields that break one are all taken from one side. */
  rules: readonly Rule[];
}

/** An array whose entries are merged one by one: its composite, its fields and its match keys. */
export interface MergedArray extends FieldsOfObject, Keys {
  /** Keys that no two entries may share. */
  distinct: readonly Distinct[];
}

/** The arrays whose entries are merged one by one. */
export const MERGED_ARRAYS: Readonly<Record<string, MergedArray>> = {
  ...Object.fromEntries(COLLATERAL_TYPES.map((type) => {
    const array = ARRAYS.collateral.types![type]!;
    return [type, mergedArray(array, array.element)];
  })),
  product_territories: mergedArray(ARRAYS.product_territories, "ProductSupply"),
  product_sales_rights: mergedArray(ARRAYS.product_sales_rights, "SalesRights"),
};

function mergedArray(
  array:
    & Parameters<typeof keysOf>[0]
    & Pick<Rows, "together" | "rules" | "distinct">,
  composite: string,
): MergedArray {
  const { fields, together = [], rules = [], distinct = [] } = array;
  return { composite, fields, together, rules, distinct, ...keysOf(array) };
}

/** The array in this field of a composite, if its entries have ids. */
export function mergedArrayIn(name: string, field: Field): MergedArray | undefined {
  if (field.kind !== "rows" || field.isIdHidden) return;
  const path = elementOf(name, field);
  return path === null ? undefined : mergedArray(field, path);
}

/** The part of an entry that its element can contain. */
export function projectEntry({ fields, composite }: FieldsOfObject, entry: Entry): Entry {
  return projectFields(fields, composite, entry) ?? {};
}

/** Whether both entries have the same subject, such as a territory, and different types. */
export function isReplacement(
  { key, type, ...array }: MergedArray,
  base: Entry,
  entry: Entry,
): boolean {
  if (type === undefined) return false;
  const [was, is] = [projectEntry(array, base), projectEntry(array, entry)];
  return key.every((path) => {
    const segments = path.split(".");
    return path === type || isEqual(valueAt(was, segments), valueAt(is, segments));
  });
}

/** The readers of the incoming record and of the base, which know the elements of entries. */
export interface Readers {
  incoming: Reading["reader"];
  base: Reading["reader"] | undefined;
}

/** Pairs the incoming entries of an array with those of the base, or with local ones. */
export function matchRows(
  array: MergedArray,
  base: readonly Entry[],
  incoming: readonly Entry[],
  readers: Readers,
  by: "same" | "position",
): Map<Entry, Entry> {
  const elementIn = (entry: Entry) =>
    readers.base?.elementOf(entry) ?? readers.incoming.elementOf(entry);
  const haveElements = base.every(elementIn);
  const isSame = (one: Entry, i: number) =>
    haveElements && hasSameContent(elementIn(base[i]!)!, elementIn(one)!);
  if (base.length === incoming.length && incoming.every(isSame)) {
    return new Map(incoming.map((one, i) => [one, base[i]!]));
  }
  return matchEntries(base, incoming, (entry) => {
    const form = projectEntry(array, entry);
    const element = haveElements ? elementIn(entry) : undefined;
    if (!element) return matchKeysOf(form, array);
    const outside = contentOutsideFields(element, array.fields);
    return matchKeysOf(form, array, outside, fullContentOf(element));
  }, by);
}
