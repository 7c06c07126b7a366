import type { Entry } from "../../../schema/bodies.ts";
import { printable } from "../../../schema/errors.ts";
import { MAX_ENTRIES, objectsIn } from "../../../schema/objects.ts";
import { didYouMean, speller } from "../../../schema/spelling.ts";
import { likelyCode } from "../../../schema/onix_codes.ts";
import { sameLines } from "./cells.ts";
import { columnOfEntry, columnOfField, innerFields, withoutCurrency } from "./hints.ts";
import { COLUMN_PLACES, type ColumnPlace, isKeyValue, KEY_LISTS, KEYS } from "./places.ts";
import { SUPPLY_PRICES, type SupplyPriceKey, SupplyPrices } from "./supply_prices.ts";

/*
 * A column of a sheet is a place in the JSON of a product: `title`. In an array it has the key or
 * the position of an entry: `product_prices[GBP].retail_price`, `contributors[2].contributor_name`.
 */

/** A column that a sheet has. */
export interface SheetColumn extends ColumnPlace {
  name: string;
  /** The fields that identify the entry, with their values, or its index. */
  key?: Entry | number;
  /** The index in a list of the entry. */
  index?: number;
}

/** The columns that find a product, in order of precedence. */
export const MATCHES = ["id", "product_code", "isbn13", "isbn10"];

/** The parts of a name. A bracket ends at the last `]`. */
const COLUMN_NAME = /^(\w+)(?:\[(.*)\](?:\.(\w+))?)?$/s;

/** The parts of the name of a value in a list of an entry: both have positions. */
const IN_LIST = /^(\w+)\[(\d{1,5})\]\.(\w+)\[(\d{1,5})\]$/;

/**
 * The maximum number of known names that are compared with the unknown ones of a sheet. A
 * comparison takes a microsecond, and an organization may have any number of custom fields.
 */
const MAX_COMPARED = 5_000;

/** The cost of finding the code that a wrong key means, in comparisons. */
const KEY_COST = 50;

/** Reads the names of columns, given the custom fields of the organization. */
export class ColumnReader {
  readonly #customFields: ReadonlySet<string>;
  /** The custom fields by their names as `labelOf` compares them. */
  readonly #byLabel = new Map<string, string>();
  readonly #nearCustomField: (name: string) => string | undefined;
  #compared = 0;

  constructor(customFields: readonly string[]) {
    this.#customFields = new Set(customFields);
    for (const name of customFields) this.#byLabel.getOrInsert(labelOf(name), name);
    this.#nearCustomField = speller(customFields);
  }

  /** The column with a name. */
  find(name: string): SheetColumn | undefined {
    const inList = IN_LIST.exec(name.toLowerCase());
    const list = inList && COLUMN_PLACES.get(`${inList[1]}[].${inList[3]}[]`);
    if (list) return listedColumn(list, inList[2]!, inList[4]!);
    const [, word = name, brackets, end = ""] = COLUMN_NAME.exec(name) ?? [];
    const field = word.toLowerCase();
    if (brackets === undefined) {
      const place = COLUMN_PLACES.get(field);
      return place && { name: field, ...place };
    }
    const [label, inner] = [brackets.trim(), end.toLowerCase()];
    const place = COLUMN_PLACES.get(nameOf(field, "", inner));
    if (!place) return;
    const keyOf = KEYS[field];
    if (!keyOf) return positionedColumn(place, label);
    if (field === "custom_fields") {
      const customField = this.#customFieldOf(brackets);
      return customField === undefined ? undefined : keyedColumn(place, keyOf(customField));
    }
    const key = keyOf(label);
    const isKey = Object.entries(key).every((one) => isKeyValue(field, ...one));
    return isKey ? keyedColumn(place, key) : undefined;
  }

  /**
   * Returns the fault of an unknown name as `code: Sentence`. It suggests the nearest column, if
   * the sheet may have that one.
   */
  explain(name: string, isFree: (column: SheetColumn) => boolean = () => true): string {
    const [, field = "", label = "", inner = ""] = COLUMN_NAME.exec(name) ?? [];
    const place = COLUMN_PLACES.get(nameOf(field.toLowerCase(), "", inner.toLowerCase()));
    if (place && label && !KEYS[place.field]) {
      return `unknown_column: An entry of ${place.field} has a position from 1 to ${MAX_ENTRIES} in brackets`;
    }
    const near = this.#near(name);
    const column = near === undefined ? undefined : this.find(near);
    const hint = column && isFree(column) ? column.name : undefined;
    return `unknown_column: No column has the name ${printable(name)}${didYouMean(hint)}`;
  }

  /**
   * Returns the name of the probable column. There may be none with that name, as with an unknown
   * key.
   */
  #near(name: string): string | undefined {
    const [, word = name, brackets, end = ""] = COLUMN_NAME.exec(name) ?? [];
    const field = word.toLowerCase();
    if (brackets === undefined) {
      const { currency, rest } = withoutCurrency(name);
      // A currency alone is that of the price.
      const near = this.#nearField(rest.toLowerCase() || "product_prices");
      if (!near) return;
      const [customField] = near === "custom_fields" ? this.#customFields : [];
      const keys: Record<string, string | undefined> = {
        product_prices: currency,
        [SUPPLY_PRICES]: currency && `${currency} ${RETAIL_PRICE}`,
        custom_fields: customField,
      };
      return columnOfField(near, keys[near]);
    }
    const [label, inner] = [brackets.trim(), end.toLowerCase()];
    const place = COLUMN_PLACES.get(nameOf(field, "", inner));
    if (!place) {
      const nearInner = this.#nearInner(field, inner);
      if (nearInner) {
        const isLabel = KEYS[field] || isPosition(label);
        const near = columnOfEntry(field, isLabel ? label : "1", nearInner);
        return this.find(near) ? near : this.#near(near);
      }
      const near = this.#nearField(field);
      return near && columnOfField(near);
    }
    if (field !== "custom_fields") {
      return this.#mayCompare(KEY_COST) ? nearKey(place, label) : undefined;
    }
    const near = this.#mayCompare(this.#customFields.size)
      ? this.#nearCustomField(label)
      : undefined;
    return near && nameOf(field, near, inner);
  }

  /** Finds the custom field with this name, or with one that `labelOf` takes for the same. */
  #customFieldOf(name: string): string | undefined {
    return this.#customFields.has(name) ? name : this.#byLabel.get(labelOf(name));
  }

  #nearField(field: string): string | undefined {
    return this.#mayCompare(FIELDS.length) ? nearField(field) : undefined;
  }

  /** The nearest field of the same entry. Undefined if the entries of the array have no columns. */
  #nearInner(field: string, inner: string): string | undefined {
    const fields = innerFields(field);
    const [first] = fields;
    if (!first || !this.#mayCompare(COLUMN_PLACES.size)) return;
    return speller(fields)(inner) ?? first;
  }

  /** Counts a comparison with so many names. */
  #mayCompare(names: number): boolean {
    this.#compared += names;
    return this.#compared <= MAX_COMPARED;
  }
}

/** The name of a custom field without what programs change in a header: case, blanks and line ends. */
function labelOf(name: string): string {
  return sameLines(name).trim().toLowerCase();
}

/** The fields of a product that have columns. */
const FIELDS = [...new Set([...COLUMN_PLACES.values()].map((one) => one.field))];

const nearField = speller(FIELDS);

/** The column of the entry at a position. */
function positionedColumn(place: ColumnPlace, label: string): SheetColumn | undefined {
  const { field, inner = "" } = place;
  if (!isPosition(label)) return;
  return { name: nameOf(field, label, inner), ...place, key: Number(label) - 1 };
}

/** The column of the value at a position in a list of an entry. */
function listedColumn(
  place: ColumnPlace,
  label: string,
  position: string,
): SheetColumn | undefined {
  const entry = positionedColumn(place, label);
  if (!entry || !isPosition(position)) return;
  return { ...entry, name: `${entry.name}[${position}]`, index: Number(position) - 1 };
}

/** Whether a label is the position of an entry, from 1. */
function isPosition(label: string): boolean {
  return /^[1-9]\d{0,4}$/.test(label) && Number(label) <= MAX_ENTRIES;
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

/** Returns the column with the code that a wrong key probably means. */
function nearKey({ field, inner }: ColumnPlace, label: string): string | undefined {
  const [list, ...others] = KEY_LISTS[field] ?? [];
  if (!list) return;
  const words = others.length > 0 ? label.split(/\s+/) : [label];
  const codes = [list, ...others].map((list, i) =>
    likelyCode(words[i], list) ?? (i === 1 ? RETAIL_PRICE : "")
  );
  return codes[0] && nameOf(field, codes.join(" ").trim(), inner ?? "");
}

/** The type of most prices (List 58): a recommended one with tax. */
const RETAIL_PRICE = "02";

/** The entries of an array by their keys. Each array of keys is read once. */
export class KeyedEntries {
  readonly #entries: readonly Entry[];
  readonly #groups = new Map<string, Map<string, Entry[]>>();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /** Finds the entry of a column. Of several prices in one currency, it is the one without a period. */
  find(key: Entry | number): Entry | undefined {
    if (typeof key === "number") return this.#entries[key];
    const names = Object.keys(key);
    const groups = this.#groups.getOrInsertComputed(
      names.join(),
      () => Map.groupBy(this.#entries, (entry) => keyText(entry, names)),
    );
    const found = groups.get(keyText(key, names)) ?? [];
    return found.length > 1 && "currency_code" in key && !("valid_from" in key)
      ? found.find(({ valid_from = null }) => valid_from === null)
      : found[0];
  }
}

function keyText(entry: Entry, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => entry[name]));
}

/** The role of the date of publication. */
export const PUBLICATION = "01";

/** The values of columns in the JSON of a product. */
export class ProductValues {
  readonly #product: Entry;
  readonly #arrays = new Map<string, KeyedEntries>();
  readonly supply: SupplyPrices;

  constructor(product: Entry) {
    this.#product = product;
    this.supply = new SupplyPrices(product);
  }

  of({ field, key, inner, index, name }: SheetColumn): unknown {
    if (field === SUPPLY_PRICES) return this.supply.amountOf(key as SupplyPriceKey);
    const value = this.#product[field] ?? null;
    if (key !== undefined) {
      const entries = this.#arrays.getOrInsertComputed(
        field,
        () => new KeyedEntries(value as Entry[] ?? []),
      );
      const entry = entries.find(key);
      const own = inner ? entry?.[inner] : entry;
      return (index === undefined ? own : (own as unknown[] | undefined)?.[index]) ?? null;
    }
    if (name !== "publication_date" || value !== null) return value;
    // A year or a month announces the day.
    return objectsIn(this.#product.publishing_dates)
      .find((one) => one.publishing_date_role === PUBLICATION)?.date ?? null;
  }
}

// deno-fmt-ignore
const DEFAULTS = [
  "updated_at", "id", "product_code", "isbn13", "title", "subtitle", "contributors", "publisher_name",
  "imprint_name", "product_collections", "format_name", "publishing_status_code",
  "product_availability_code", "publication_date", "page_count", "subjects",
];

/** The most columns of a sheet. */
export const MAX_COLUMNS = 1_000;

/**
 * Returns the columns of an export that names none. If there are many custom fields, only the first
 * ones have columns.
 */
export function defaultColumns(
  prices: readonly string[],
  customFields: readonly string[],
): string[] {
  return [
    ...DEFAULTS,
    ...prices,
    "collateral[03].text",
    "cover_image_url",
    "season_name",
    ...customFields.map((name) => `custom_fields[${name}].field_value`),
  ].slice(0, MAX_COLUMNS);
}
