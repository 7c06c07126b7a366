import type { Entry } from "../../bodies.ts";
import { elementOf, type Field, type Fields, keysOf, type Rows, type Rule } from "../../fields.ts";
import type { Distinct } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { saysSame } from "../xml/element.ts";
import { projectFields } from "./fields.ts";
import { COLLATERAL_TYPES } from "./collateral.ts";
import type { Reading } from "./reading.ts";
import { besideFields, type Keys, pairEntries, traitsOf, wholeOf } from "./pairing.ts";

/*
 * The arrays whose entries are merged one by one: those that are rows with ids. In: their
 * descriptions. Out: what merging needs of them, and which entry of one record is which of
 * another, by all that their elements say.
 */

/** The fields of an object in a composite. */
export interface FieldsOfObject {
  composite: string;
  fields: Fields;
  /** The fields that are one value. */
  together: readonly string[];
  /** What joins fields: where both sides have changed some, they are one value, too. */
  rules: readonly Rule[];
}

/** An array whose entries are merged one by one: its composite, its fields and what tells entries apart. */
export interface MergedArray extends FieldsOfObject, Keys {
  /** What no two entries may share. */
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
  const place = elementOf(name, field);
  return place === null ? undefined : mergedArray(field, place);
}

/** What an element says of an entry. */
export function formOf({ fields, composite }: FieldsOfObject, entry: Entry): Entry {
  return projectFields(fields, composite, entry) ?? {};
}

/** The readers of the new record and of the last one of its sender, which know the elements of entries. */
export interface Readers {
  now: Reading["reader"];
  last: Reading["reader"] | undefined;
}

/** Pairs the entries of an array, of which those before may have elements in the last record. */
export function pairsOf(
  array: MergedArray,
  before: readonly Entry[],
  after: readonly Entry[],
  { now, last }: Readers,
  by: "same" | "place",
): Map<Entry, Entry> {
  const elementIn = (entry: Entry) => last?.elementOf(entry) ?? now.elementOf(entry);
  const haveElements = before.every(elementIn);
  const isSame = (one: Entry, i: number) =>
    haveElements && saysSame(elementIn(before[i]!)!, elementIn(one)!);
  if (before.length === after.length && after.every(isSame)) {
    return new Map(after.map((one, i) => [one, before[i]!]));
  }
  return pairEntries(before, after, (entry) => {
    const form = formOf(array, entry);
    const element = haveElements ? elementIn(entry) : undefined;
    if (!element) return traitsOf(form, array);
    const beside = besideFields(element, array.fields);
    return traitsOf(form, array, beside, wholeOf(element));
  }, by);
}
