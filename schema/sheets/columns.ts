import type * as v from "valibot";
import type { Entry } from "../bodies.ts";
import type { ArrayField, Column as Stored, Field } from "../fields.ts";
import { ExtentValue, Measurement } from "../numbers.ts";
import { objectsIn } from "../objects.ts";
import { type ArrayName, ARRAYS, FIELDS, SCALARS } from "../product.ts";
import { didYouMean, speller } from "../spelling.ts";
import { Day, PartialDate } from "../values.ts";

/*
 * A column of a sheet is a place in the JSON of a product. All columns follow from `product.ts`:
 * `title`, `product_prices[GBP].retail_price`, `contributors[2].contributor_name`.
 */

/** How the cells of a column are written. */
export type Kind =
  | "text"
  | "isbn"
  | "amount"
  | "date"
  | "boolean"
  | "list"
  | "time";

/** A column that a sheet has. */
export interface Column {
  name: string;
  kind: Kind;
  /** The field of the product. */
  field: string;
  /** The entry of an array, and its field. Absent for a field of the product, or a whole array. */
  entry?: EntryPlace;
  /** What a body says if the cell is cleared: the id that a name or code stands for, or the field. */
  clears: string;
  /** Whether bodies cannot have it: it finds the product, or only answers have it. */
  isAssigned: boolean;
}

export interface EntryPlace {
  /** The field of the entry. Absent for a value of a list. */
  field?: string;
  /** The fields that tell the entry, with their values, or its index. */
  key: Entry | number;
}

/** The columns that find a product, the first one first. */
export const MATCHES = ["id", "product_code", "isbn13", "isbn10"] as const;

/** The arrays whose entries are told by what they say. All others have positions. */
const KEYED: Partial<Record<ArrayName, (key: string) => Entry>> = {
  product_prices(key) {
    const [currency = "", from] = key.split(/\s+/);
    return {
      currency_code: currency.toUpperCase(),
      ...from && { valid_from: from },
    };
  },
  packing_configurations: (key) => ({ unit_of_measure: key.toLowerCase() }),
  collateral: (key) => ({ collateral_type: "text_content", text_type: key }),
  custom_fields: (key) => ({ field_name: key }),
  languages: (key) => ({ language_role: key }),
};

/** The arrays that also fit into one cell. */
export const ONE_CELL: readonly string[] = [
  "contributors",
  "product_collections",
  "subjects",
];

/** The most entries of an array. */
const MAX_POSITION = 500;

/** The arrays that have columns: neither rights and supply nor those with arrays in their entries. */
const SHEETED = Object.fromEntries(
  Object.entries<ArrayField>(ARRAYS).filter(([, array]) =>
    array.kind === "list" ||
    !("path" in array) &&
      Object.values(fieldsOf(array)).every(({ kind }) =>
        kind === "column" || kind === "shown"
      )
  ),
);

/** The fields of an entry that have columns: of collateral those of its texts. */
function fieldsOf(array: ArrayField): Readonly<Record<string, Field>> {
  if (array.kind === "list") return {};
  const text = array.kind === "rows" ? array.types?.text_content : undefined;
  return { ...array.fields, ...text?.fields };
}

/** Why a column is not known, as `code: Sentence`. */
export class UnknownColumn extends Error {}

/** What an organization calls its own. */
export interface Known {
  customFields: readonly string[];
}

/** A name with the blanks and breaks of a spreadsheet taken off: case is no difference. */
const NAME = /^(\w+)(?:\[(.*)\](?:\.(\w+))?)?$/s;

/** Reads the name of a column. Throws `UnknownColumn`. */
export function columnOf(given: string, known: Known): Column {
  const name = given.trim();
  const [, base = name, key, field] = NAME.exec(name) ?? [];
  const array = base.toLowerCase();
  if (key === undefined) return wholeColumn(array, name);
  if (!Object.hasOwn(SHEETED, array)) {
    throw unknown(name, meantOf(Object.keys(SHEETED), array));
  }
  return entryColumn(array, key.trim(), field?.toLowerCase(), known);
}

function unknown(name: string, meant: string | undefined): UnknownColumn {
  return new UnknownColumn(
    `unknown_column: No column has the name ${name.slice(0, 100)}${
      didYouMean(meant)
    }`,
  );
}

function meantOf(names: readonly string[], name: string): string | undefined {
  return speller(names)(name);
}

function wholeColumn(field: string, name: string): Column {
  const scalar: Field | undefined = Object.hasOwn(SCALARS, field)
    ? FIELDS[field]
    : undefined;
  if (scalar && scalar.kind !== "linked") {
    return { name: field, field, ...traitsOf(field, scalar, SCALARS) };
  }
  if (ONE_CELL.includes(field)) {
    return {
      name: field,
      field,
      kind: "list",
      clears: field,
      isAssigned: false,
    };
  }
  throw unknown(name, meantOf([...Object.keys(SCALARS), ...ONE_CELL], name));
}

function entryColumn(
  array: string,
  key: string,
  field: string | undefined,
  known: Known,
): Column {
  const fields = fieldsOf(SHEETED[array]!);
  const keyOf = KEYED[array as ArrayName];
  const label = array === "custom_fields" ? customField(key, known) : key;
  const tells: Entry | number = keyOf ? keyOf(label) : positionOf(array, key);
  const shown = typeof tells === "number"
    ? String(tells + 1)
    : Object.values(tells).filter((value) => value !== "text_content").join(
      " ",
    );
  const name = `${array}[${shown}]`;
  if (SHEETED[array]!.kind === "list") {
    if (field) throw unknown(`${name}.${field}`, name);
    return {
      name,
      field: array,
      kind: "text",
      entry: { key: tells },
      clears: array,
      isAssigned: false,
    };
  }
  const names = Object.keys(fields).filter((one) =>
    !isArray(fields[one]!) &&
    (typeof tells === "number" || !(one in tells) && !isKey(one, array))
  );
  if (field === undefined || !names.includes(field)) {
    const near = (field && meantOf(names, field)) ?? names[0];
    throw unknown(field ? `${name}.${field}` : name, `${name}.${near}`);
  }
  return {
    name: `${name}.${field}`,
    field: array,
    entry: { field, key: tells },
    ...traitsOf(field, fields[field]!, fields),
  };
}

/** Whether the key of the array says the field. */
function isKey(field: string, array: string): boolean {
  return field === "valid_from" && array === "product_prices" ||
    field === "field_id" && array === "custom_fields";
}

function isArray(field: Field): boolean {
  return field.kind !== "shown" &&
    (field.kind !== "column" || field.format === "array");
}

function positionOf(array: string, key: string): number {
  if (/^[1-9]\d{0,2}$/.test(key) && Number(key) <= MAX_POSITION) {
    return Number(key) - 1;
  }
  throw new UnknownColumn(
    `unknown_column: An entry of ${array} has a position from 1 to ${MAX_POSITION} in brackets`,
  );
}

function customField(key: string, { customFields }: Known): string {
  const lower = key.toLowerCase();
  const found = customFields.find((name) => name === key) ??
    customFields.find((name) => name.toLowerCase() === lower);
  if (found !== undefined) return found;
  const near = meantOf(customFields, key);
  throw unknown(
    `custom_fields[${key}]`,
    near && `custom_fields[${near}].field_value`,
  );
}

const DATES: readonly unknown[] = [
  Day,
  PartialDate,
  (SCALARS.publication_date as Stored).body,
];

const NUMBERS: readonly unknown[] = [ExtentValue, Measurement];

function traitsOf(
  name: string,
  field: Field,
  fields: Readonly<Record<string, Field>>,
): Pick<Column, "kind" | "clears" | "isAssigned"> {
  if (field.kind === "shown") {
    const { reference, column } = field;
    const stands = column === "name" || column === "code";
    return {
      kind: "text",
      clears: reference,
      isAssigned: !stands || !("body" in (fields[reference] ?? {})),
    };
  }
  const { body, format, fallback } = field as Stored;
  return {
    kind: kindOf(name, body, format, fallback),
    clears: name,
    isAssigned: !body,
  };
}

function kindOf(
  name: string,
  body: v.GenericSchema | undefined,
  format: Stored["format"],
  fallback: unknown,
): Kind {
  if (name === "isbn13" || name === "isbn10") return "isbn";
  if (format === "decimal" || NUMBERS.includes(body)) return "amount";
  if (format === "time") return "time";
  if (DATES.includes(body)) return "date";
  return typeof fallback === "boolean" ? "boolean" : "text";
}

/** What two columns must not say both: the place that they set. */
function placeOf({ field, entry, clears }: Column): string {
  return JSON.stringify(
    entry ? [field, entry.key, entry.field && clears] : clears,
  );
}

/** The columns that a sheet has, by index, and those that nothing is read from. */
export interface Header {
  columns: Map<number, Column>;
  ignored: string[];
}

/** Something wrong with a header, at a name. */
export interface HeaderFault {
  column: string;
  text: string;
}

/** Reads a header. Remarks begin with `#`, and `error` is what the service has said. */
export function readHeader(
  cells: readonly string[],
  known: Known,
): Header & { faults: HeaderFault[] } {
  const columns = new Map<number, Column>();
  const faults: HeaderFault[] = [];
  const taken = new Map<string, { index: number; column: Column }>();
  const ignored: string[] = [];
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim();
    if (name.startsWith("#") || name === "" || name.toLowerCase() === "error") {
      continue;
    }
    try {
      const column = columnOf(name, known);
      const place = placeOf(column);
      const other = taken.get(place);
      const isMatch = MATCHES.some((match) => match === column.name);
      if (other && other.column.name === column.name) {
        faults.push({
          column: column.name,
          text:
            `duplicate: Two columns are ${column.name}: remove one, or begin its name with #`,
        });
      } else if (column.isAssigned && !isMatch && column.kind !== "time") {
        ignored.push(column.name);
      } else if (column.name === "created_at") ignored.push(column.name);
      else if (!other) {
        taken.set(place, { index, column });
        columns.set(index, column);
      } else if (rankOf(column) < rankOf(other.column)) {
        columns.delete(other.index);
        ignored.push(other.column.name);
        taken.set(place, { index, column });
        columns.set(index, column);
      } else ignored.push(column.name);
    } catch (error) {
      if (!(error instanceof UnknownColumn)) throw error;
      faults.push({ column: name.slice(0, 100), text: error.message });
    }
  }
  const all = [...columns.values()];
  for (const { field, entry, name } of all) {
    if (
      entry && all.some((one) => one.field === field && one.kind === "list")
    ) {
      faults.push({
        column: name,
        text:
          `duplicate: The column ${field} has the whole array: remove it, or the columns of its entries`,
      });
    }
  }
  return { columns, ignored, faults };
}

/** Of the id, the code and the name of one record the first counts. */
function rankOf({ field, entry }: Column): number {
  const name = entry?.field ?? field;
  return name.endsWith("_id") ? 0 : name.endsWith("_code") ? 1 : 2;
}

/** The entry of a product that a column means. */
export function entryOf(
  entries: readonly Entry[],
  key: Entry | number,
): Entry | undefined {
  if (typeof key === "number") return entries[key];
  const found = entries.filter((entry) =>
    Object.entries(key).every(([name, value]) => entry[name] === value)
  );
  if (found.length < 2 || !("currency_code" in key)) return found[0];
  return "valid_from" in key
    ? found[0]
    : found.find(({ valid_from }) => valid_from === null);
}

/** The role of the date of publication. */
export const PUBLICATION = "01";

/** The value of a column in the JSON of a product. */
export function valueAt(
  product: Entry,
  { field, entry, name }: Column,
): unknown {
  if (!entry) {
    const value = product[field] ?? null;
    if (name !== "publication_date" || value !== null) return value;
    // A year or a month announces the day.
    return objectsIn(product.publishing_dates).find((one) =>
      one.publishing_date_role === PUBLICATION
    )?.date ?? null;
  }
  const found = entryOf(product[field] as Entry[] ?? [], entry.key);
  if (entry.field === undefined) return found ?? null;
  return found?.[entry.field] ?? null;
}

/** The columns of an export that names none. */
export function defaultColumns(
  currencies: readonly string[],
  { customFields }: Known,
): string[] {
  return [
    ..."updated_at id product_code isbn13 title subtitle contributors publisher_name imprint_name product_collections format_name publishing_status_code product_availability_code publication_date page_count subjects"
      .split(" "),
    ...currencies.map((code) => `product_prices[${code}].retail_price`),
    "collateral[03].text",
    "cover_image_url",
    "season_name",
    ...customFields.map((name) => `custom_fields[${name}].field_value`),
  ];
}

/** Every column without those of later positions and other keys: for tests, and for the guide. */
export function allColumns(keys: Readonly<Record<string, string>>): string[] {
  const arrays = Object.entries(SHEETED).flatMap(([array, described]) => {
    const key = keys[array] ?? "1";
    if (described.kind === "list") return [`${array}[${key}]`];
    return Object.keys(fieldsOf(described)).flatMap((field) => {
      const name = `${array}[${key}].${field}`;
      try {
        return [columnOf(name, { customFields: [key] }).name];
      } catch {
        return [];
      }
    });
  });
  return [
    ...Object.keys(SCALARS).filter((name) => name !== "collections"),
    ...ONE_CELL,
    ...arrays,
  ];
}
