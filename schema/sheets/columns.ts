import type { Entry } from "../bodies.ts";
import { printable } from "../errors.ts";
import { objectsIn } from "../objects.ts";
import { didYouMean, speller } from "../spelling.ts";
import { COLUMN_PLACES, type ColumnPlace, KEYS } from "./places.ts";

/*
 * A column of a sheet is a place in the JSON of a product: `title`. In an array it has the key or
 * the position of an entry: `product_prices[GBP].retail_price`, `contributors[2].contributor_name`.
 */

/** A column that a sheet has. */
export interface SheetColumn extends ColumnPlace {
  name: string;
  /** The fields that identify the entry, with their values, or its index. */
  key?: Entry | number;
}

/** The columns that find a product, the first one first. */
export const MATCHES = ["id", "product_code", "isbn13", "isbn10"];

/** The most entries of an array. */
const MAX_POSITION = 500;

/** The parts of a name. A bracket ends at the last `]`. */
const COLUMN_NAME = /^(\w+)(?:\[(.*)\](?:\.(\w+))?)?$/s;

/** Reads the name of a column. Returns what is wrong with it as `code: Sentence`. */
export function columnOf(name: string, customFields: readonly string[]): SheetColumn | string {
  const [, word = name, brackets, end = ""] = COLUMN_NAME.exec(name) ?? [];
  const field = word.toLowerCase();
  if (brackets === undefined) {
    const place = COLUMN_PLACES.get(field);
    return place ? { name: field, ...place } : unknownColumn(name, nearField(field));
  }
  const [label, inner] = [brackets.trim(), end.toLowerCase()];
  const place = COLUMN_PLACES.get(nameOf(field, "", inner));
  if (!place) return unknownColumn(name, nearInner(field, label, inner) ?? nearField(field));
  const keyOf = KEYS[field];
  if (!keyOf) return positionedColumn(place, label);
  if (field !== "custom_fields") return keyedColumn(place, keyOf(label));
  const customField = customFieldOf(label, customFields);
  if (customField !== undefined) return keyedColumn(place, keyOf(customField));
  const near = speller(customFields)(label);
  return unknownColumn(name, near && nameOf(field, near, inner));
}

/** The column of the entry at a position. */
function positionedColumn(place: ColumnPlace, label: string): SheetColumn | string {
  const { field, inner = "" } = place;
  const position = /^[1-9]\d*$/.test(label) ? Number(label) : Infinity;
  return position <= MAX_POSITION
    ? { name: nameOf(field, label, inner), ...place, key: position - 1 }
    : `unknown_column: An entry of ${field} has a position from 1 to ${MAX_POSITION} in brackets`;
}

/** The column of the entry with a key. */
function keyedColumn(place: ColumnPlace, key: Entry): SheetColumn {
  const { field, inner = "" } = place;
  // A type of text implies that the collateral is text: the name leaves that out.
  const { collateral_type: _, ...named } = key;
  return { name: nameOf(field, Object.values(named).join(" "), inner), ...place, key };
}

function nameOf(field: string, key: string, inner: string): string {
  return `${field}[${key}]${inner && `.${inner}`}`;
}

function unknownColumn(name: string, near: string | undefined): string {
  return `unknown_column: No column has the name ${printable(name)}${didYouMean(near)}`;
}

function nearField(field: string): string | undefined {
  return speller([...COLUMN_PLACES.values()].map((one) => one.field))(field);
}

/** The nearest column of the same entry. Undefined if the entries of the field have no columns. */
function nearInner(field: string, label: string, inner: string): string | undefined {
  const fields = [...COLUMN_PLACES.values()].filter((one) => one.field === field)
    .flatMap((one) => one.inner ?? []);
  const [first] = fields;
  return first && nameOf(field, label, speller(fields)(inner) ?? first);
}

/** The custom field with this name, or with one that differs in case alone. */
function customFieldOf(label: string, customFields: readonly string[]): string | undefined {
  if (customFields.includes(label)) return label;
  return customFields.find((one) => one.toLowerCase() === label.toLowerCase());
}

/** The entry that a column means. Of several prices in one currency, the one without a period. */
export function meantEntry(entries: readonly Entry[], key: Entry | number): Entry | undefined {
  if (typeof key === "number") return entries[key];
  const found = entries.filter((entry) =>
    Object.entries(key).every(([name, value]) => entry[name] === value)
  );
  return found.length > 1 && "currency_code" in key && !("valid_from" in key)
    ? found.find(({ valid_from = null }) => valid_from === null)
    : found[0];
}

/** The role of the date of publication. */
export const PUBLICATION = "01";

/** The value of a column in the JSON of a product. */
export function valueOfColumn(product: Entry, { field, key, inner, name }: SheetColumn): unknown {
  const value = product[field] ?? null;
  if (key !== undefined) {
    const entry = meantEntry(value as Entry[] ?? [], key);
    return (inner ? entry?.[inner] : entry) ?? null;
  }
  if (name !== "publication_date" || value !== null) return value;
  // A year or a month announces the day.
  return objectsIn(product.publishing_dates).find((one) => one.publishing_date_role === PUBLICATION)
    ?.date ?? null;
}

// deno-fmt-ignore
const DEFAULTS = [
  "updated_at", "id", "product_code", "isbn13", "title", "subtitle", "contributors", "publisher_name",
  "imprint_name", "product_collections", "format_name", "publishing_status_code",
  "product_availability_code", "publication_date", "page_count", "subjects",
];

/** The columns of an export that names none. */
export function defaultColumns(
  currencies: readonly string[],
  customFields: readonly string[],
): string[] {
  return [
    ...DEFAULTS,
    ...currencies.map((code) => `product_prices[${code}].retail_price`),
    "collateral[03].text",
    "cover_image_url",
    "season_name",
    ...customFields.map((name) => `custom_fields[${name}].field_value`),
  ];
}
