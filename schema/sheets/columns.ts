import type { Entry } from "../bodies.ts";
import { printable } from "../errors.ts";
import { objectsIn } from "../objects.ts";
import { didYouMean, speller } from "../spelling.ts";
import { KEYS, type Place, PLACES } from "./places.ts";

/*
 * A column of a sheet is a place in the JSON of a product, perhaps with a key: `title`,
 * `product_prices[GBP].retail_price`, `contributors[2].contributor_name`.
 */

/** A column that a sheet has. */
export interface Column extends Place {
  name: string;
  /** The fields that tell the entry, with their values, or its index. */
  key?: Entry | number;
}

/** The columns that find a product, the first one first. */
export const MATCHES = ["id", "product_code", "isbn13", "isbn10"];

/** The most entries of an array. */
const MAX_POSITION = 500;

/** The parts of a name: a bracket ends at the last `]`. */
const NAME = /^(\w+)(?:\[(.*)\](?:\.(\w+))?)?$/s;

/** Reads the name of a column. Returns what is wrong with it as `code: Sentence`. */
export function columnOf(name: string, customFields: readonly string[]): Column | string {
  const [, word = name, brackets, end = ""] = NAME.exec(name.trim()) ?? [];
  const [field, inner] = [word.toLowerCase(), end.toLowerCase()];
  const nameIn = (key: string, inner: string) => `${field}[${key}]${inner && `.${inner}`}`;
  const unknown = (near: string | undefined) =>
    `unknown_column: No column has the name ${printable(name.trim())}${didYouMean(near)}`;

  const place = PLACES.get(brackets === undefined ? field : nameIn("", inner));
  const label = brackets?.trim();
  if (!place) {
    const fields = [...PLACES.values()].filter((one) => one.field === field)
      .flatMap((one) => one.inner ?? []);
    if (label === undefined || fields.length === 0) {
      return unknown(speller([...PLACES.values()].map((one) => one.field))(field));
    }
    return unknown(nameIn(label, speller(fields)(inner) ?? fields[0]!));
  }
  if (label === undefined) return { name: field, ...place };
  if (!(field in KEYS)) {
    if (/^[1-9]\d{0,2}$/.test(label) && +label <= MAX_POSITION) {
      return { name: nameIn(label, inner), ...place, key: Number(label) - 1 };
    }
    return `unknown_column: An entry of ${field} has a position from 1 to ${MAX_POSITION} in brackets`;
  }
  const isNamed = (one: string) => one.toLowerCase() === label.toLowerCase();
  const isCustom = field === "custom_fields" && !customFields.includes(label);
  const meant = isCustom ? customFields.find(isNamed) : label;
  if (meant === undefined) {
    const near = speller(customFields)(label);
    return unknown(near && nameIn(near, inner));
  }
  const key = KEYS[field]!(meant);
  const { collateral_type: _, ...told } = key;
  return { name: nameIn(Object.values(told).join(" "), inner), ...place, key };
}

/** The entry that a column means. Of several prices of one currency it is that without a period. */
export function entryOf(entries: readonly Entry[], key: Entry | number): Entry | undefined {
  if (typeof key === "number") return entries[key];
  const found = entries.filter((entry) =>
    Object.entries(key).every(([name, value]) => entry[name] === value)
  );
  return found.length > 1 && "currency_code" in key && !("valid_from" in key)
    ? found.find(({ valid_from }) => valid_from === null)
    : found[0];
}

/** The role of the date of publication. */
export const PUBLICATION = "01";

/** The value of a column in the JSON of a product. */
export function valueAt(product: Entry, { field, key, inner, name }: Column): unknown {
  const value = product[field] ?? null;
  if (key !== undefined) {
    const entry = entryOf(value as Entry[] ?? [], key);
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
