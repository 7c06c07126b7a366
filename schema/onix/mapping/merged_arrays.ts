import type { Entry } from "../../bodies.ts";
import { elementOf, type Field, type Fields, keysOf, type Rows, type Rule } from "../../fields.ts";
import { type Distinct, objectsIn } from "../../objects.ts";
import { ARRAYS } from "../../product.ts";
import { saysSame } from "../xml/element.ts";
import type { FieldCodec } from "./codec.ts";
import { codecOf } from "./fields.ts";
import { COLLATERAL_TYPES, MAPPING, type Reading } from "./mapping.ts";
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

/** An array whose entries have ids, in composites with this name. */
export interface Entries extends FieldsOfObject, Keys {
  /** What no two entries may share. */
  distinct: readonly Distinct[];
  codec: FieldCodec;
}

/** The arrays whose entries are merged one by one. */
export const MERGED: Readonly<Record<string, Entries>> = {
  ...Object.fromEntries(COLLATERAL_TYPES.map((type) => {
    const array = ARRAYS.collateral.types![type]!;
    return [type, entriesOf(array, array.element, MAPPING[type]!)];
  })),
  product_territories: entriesOf(
    ARRAYS.product_territories,
    "ProductSupply",
    MAPPING.product_territories!,
  ),
  product_sales_rights: entriesOf(
    ARRAYS.product_sales_rights,
    "SalesRights",
    MAPPING.product_sales_rights!,
  ),
};

function entriesOf(
  array:
    & Parameters<typeof keysOf>[0]
    & Pick<Rows, "together" | "rules" | "distinct">,
  composite: string,
  codec: FieldCodec,
): Entries {
  const { fields, together = [], rules = [], distinct = [] } = array;
  const own = { composite, fields, together, rules, distinct, codec };
  return { ...own, ...keysOf(array) };
}

/** The array in this field of a composite, if its entries have ids. */
export function entriesIn(
  name: string,
  field: Field,
  composite: string,
): Entries | undefined {
  if (field.kind !== "rows" || field.isIdHidden) return;
  const codec = codecOf(name, field, composite);
  return codec && entriesOf(field, elementOf(name, field)!, codec);
}

/** The readers of the new record and of the last one of its sender, which know the elements of entries. */
export interface Records {
  now: Reading["reader"];
  last: Reading["reader"] | undefined;
}

/** Pairs the entries of an array, of which those before may have elements in the last record. */
export function pairsOf(
  { codec, composite: _, ...array }: Entries,
  before: readonly Entry[],
  after: readonly Entry[],
  { now, last }: Records,
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
    const form = objectsIn(codec.project([entry]))[0] ?? {};
    const element = haveElements ? elementIn(entry) : undefined;
    if (!element) return traitsOf(form, array);
    const beside = besideFields(element, array.fields);
    return traitsOf(form, array, beside, wholeOf(element));
  }, by);
}
