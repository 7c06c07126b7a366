import type { Entry } from "../bodies.ts";
import { printable } from "../errors.ts";
import type { ArrayField, Column as Stored, Field } from "../fields.ts";
import { ExtentValue, Measurement } from "../numbers.ts";
import { objectsIn } from "../objects.ts";
import { ARRAYS, SCALARS } from "../product.ts";
import { didYouMean, speller } from "../spelling.ts";
import { Day, PartialDate } from "../values.ts";

/*
 * A column of a sheet is a place in the JSON of a product. All columns follow from `product.ts`:
 * `title`, `product_prices[GBP].retail_price`, `contributors[2].contributor_name`.
 */

/** How the cells of a column are written. */
type Kind = "text" | "code" | "isbn" | "amount" | "date" | "boolean" | "list" | "time";

/** What of a place does not depend on the key in brackets. */
interface Place {
  kind: Kind;
  /** The field of the product. */
  field: string;
  /** The field of an entry of an array. Absent for a field of the product, an array or a value of a list. */
  inner?: string;
  /** What a body says if the cell is cleared: the id that a name or code stands for, or the field. */
  clears: string;
  /** Whether bodies cannot have it: it finds the product, or only answers have it. */
  isAssigned: boolean;
}

/** A column that a sheet has. */
export interface Column extends Place {
  name: string;
  /** The fields that tell the entry, with their values, or its index. */
  key?: Entry | number;
}

/** The columns that find a product, the first one first. */
export const MATCHES = ["id", "product_code", "isbn13", "isbn10"];

/** The arrays whose entries are told by what they say. All others have positions. */
const KEYS: Readonly<Record<string, (key: string) => Entry>> = {
  product_prices(key) {
    const [currency = "", from] = key.split(/\s+/);
    return { currency_code: currency.toUpperCase(), ...from && { valid_from: from } };
  },
  packing_configurations: (key) => ({ unit_of_measure: key.toLowerCase() }),
  collateral: (key) => ({ text_type: key, collateral_type: "text_content" }),
  custom_fields: (key) => ({ field_name: key }),
  languages: (key) => ({ language_role: key }),
};

/** What the brackets say of an entry, which no column says again. */
const TOLD = Object.values(KEYS).flatMap((keyOf) => Object.keys(keyOf("x x"))).concat("field_id");

/** The arrays that also fit into one cell. */
const ONE_CELL = ["contributors", "product_collections", "subjects"];

/** The most entries of an array. */
const MAX_POSITION = 500;

function* places(): Generator<[string, Place]> {
  for (const [name, field] of Object.entries<Field>(SCALARS)) {
    if (field.kind === "linked") continue;
    yield [name, { field: name, ...traitsOf(name, field, SCALARS) }];
  }
  for (const [name, array] of Object.entries<ArrayField>(ARRAYS)) {
    const whole = { field: name, clears: name, isAssigned: false };
    if (ONE_CELL.includes(name)) yield [name, { kind: "list", ...whole }];
    if (array.kind === "list") yield [`${name}[]`, { kind: "text", ...whole }];
    // Rights, supply and structures have no columns.
    if (array.kind === "list" || "path" in array) continue;
    const text = array.kind === "rows" ? array.types?.text_content : undefined;
    const fields = { ...array.fields, ...text?.fields };
    const kinds = Object.values<Field>(fields).map(({ kind }) => kind);
    if (!kinds.every((kind) => kind === "column" || kind === "shown")) continue;
    for (const [inner, field] of Object.entries<Field>(fields)) {
      const isArray = "response" in field && field.response.type === "array";
      if (isArray || name in KEYS && TOLD.includes(inner)) continue;
      const traits = traitsOf(inner, field, fields);
      yield [`${name}[].${inner}`, { field: name, inner, ...traits }];
    }
  }
}

function traitsOf(
  name: string,
  field: Field,
  fields: Readonly<Record<string, Field>>,
): Pick<Place, "kind" | "clears" | "isAssigned"> {
  if (field.kind === "shown") {
    const { reference, column } = field;
    const stands = column === "name" || column === "code";
    const isAssigned = !stands || !("body" in (fields[reference] ?? {}));
    const kind = column === "code" ? "code" : "text";
    return { kind, clears: reference, isAssigned };
  }
  const stored = field as Stored;
  return { kind: kindOf(name, stored), clears: name, isAssigned: !stored.body };
}

const DATES: readonly unknown[] = [Day, PartialDate, SCALARS.publication_date.body];
const NUMBERS: readonly unknown[] = [ExtentValue, Measurement];

function kindOf(name: string, field: Stored): Kind {
  const { body, format, fallback, list } = field;
  if (list) return "code";
  if (name === "isbn13" || name === "isbn10") return "isbn";
  if (format === "decimal" || NUMBERS.includes(body)) return "amount";
  if (format === "time") return "time";
  if (DATES.includes(body)) return "date";
  return typeof fallback === "boolean" ? "boolean" : "text";
}

/** All places, by their names. `[]` stands for any key. */
export const PLACES: ReadonlyMap<string, Place> = new Map(places());

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
