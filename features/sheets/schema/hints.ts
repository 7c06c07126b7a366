import { codesIn } from "../../../schema/onix_codes.ts";
import { COLUMN_PLACES, type ColumnPlace } from "./places.ts";

/*
 * Suggests a column for a field of the JSON that has none: the name or code in place of an id, and
 * one entry of an array. For `publisher_id` it suggests `publisher_name`, for `languages` it
 * suggests `languages[01].language_code`.
 */

/** Examples of keys for the brackets of arrays. */
const KEY_EXAMPLES: Readonly<Record<string, string>> = {
  product_prices: "GBP",
  supply_prices: "GBP 02",
  packing_configurations: "pallet",
  collateral: "03",
  languages: "01",
};

/** The usual field of an array's entries. Default: the first. */
const MAIN_FIELDS: Readonly<Record<string, string>> = {
  product_prices: "retail_price",
  packing_configurations: "quantity",
  languages: "language_code",
  subjects: "subject_code",
  product_identifiers: "id_value",
  measures: "measurement",
  extents: "extent_value",
  audiences: "audience_code_value",
  publishing_dates: "date",
};

/** Records that are usually referred to by code. */
const BY_CODE =
  /^(?:publishing_status|product_availability|product_form|contributor_role|lifecycle_status)_id$/;

/** The column of a field. `key` stands in the brackets of an array, if it has any. */
export function columnOfField(field: string, key?: string): string {
  const ofProduct = placeOf("", field);
  if (ofProduct) return ofProduct;
  const [main] = innerFields(field);
  const label = key ?? KEY_EXAMPLES[field] ?? "1";
  return main ? columnOfEntry(field, label, main) : `${field}[${label}]`;
}

/** The column of a field of an entry. */
export function columnOfEntry(field: string, label: string, inner: string): string {
  const place = placeOf(`${field}[].`, inner) ?? `${field}[].${inner}`;
  const column = place.replace("[]", `[${label}]`);
  return COLUMN_PLACES.has(`${place}[]`) ? `${column}[1]` : column;
}

/**
 * Returns the name of the column of a field, or of the name or code for an id. Undefined if there
 * is none.
 */
function placeOf(above: string, field: string): string | undefined {
  const record = field.replace(/_id$/, "");
  const names = record === field
    ? [field]
    : BY_CODE.test(field)
    ? [`${record}_code`, `${record}_name`]
    : [`${record}_name`, `${record}_code`, field];
  return names.map((name) => above + name).find((name) => COLUMN_PLACES.has(name));
}

/** The fields of the entries of an array that have columns: the usual one, those that bodies have, the others. */
export function innerFields(field: string): string[] {
  const rank = ({ inner, isAssigned }: ColumnPlace) =>
    inner === MAIN_FIELDS[field] ? 0 : isAssigned ? 2 : 1;
  return [...COLUMN_PLACES.values()].filter((one) => one.field === field && one.inner)
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ inner }) => inner!);
}

const CURRENCIES = new Set(codesIn(96));

/** A header such as `GBP Price`: the currency in it, and the other words. */
export function withoutCurrency(name: string): { currency?: string; rest: string } {
  const words = name.slice(0, 100).split(/[^A-Za-z]+/);
  const currency = words.find((word) => CURRENCIES.has(word));
  return currency
    ? { currency, rest: words.filter((word) => word !== currency).join("") }
    : { rest: name };
}
