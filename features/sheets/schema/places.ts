import * as v from "valibot";
import type { Entry } from "../../../schema/bodies.ts";
import type { ArrayField, Column, Field, Fields, Rows, Values } from "../../../schema/fields.ts";
import { ExtentValue, isPositiveInteger, Measurement } from "../../../schema/numbers.ts";
import type { OnixList } from "../../../schema/onix_codes.ts";
import { codeOf } from "../../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../../schema/product.ts";
import { Day, Gtin, PartialDate } from "../../../schema/values.ts";
import { SUPPLY_PRICES } from "./supply_prices.ts";

/* Lists the places in the JSON of a product that can have a column. All follow from `product.ts`. */

/** The kind of a column's cells. */
type CellKind =
  | "text"
  | "code"
  | "isbn"
  | "amount"
  | "whole"
  | "date"
  | "boolean"
  | "list"
  | "time";

/** A place, for any key in its brackets. */
export interface ColumnPlace {
  kind: CellKind;
  /** The field of the product. */
  field: string;
  /** The field of an entry of an array. Absent for fields of the product, arrays, values of lists. */
  inner?: string;
  /** The field of a body that the cell sets: its own, or the id for which it has a name or a code. */
  target: string;
  /** Whether bodies cannot have the field, because it finds the product or is response-only. */
  isAssigned: boolean;
}

/** The arrays whose entries have a key. Those of all others have positions. */
export const KEYS: Readonly<Record<string, (key: string) => Entry>> = {
  product_prices(key) {
    const [currency = "", ...from] = key.split(/\s+/);
    return {
      currency_code: currency.toUpperCase(),
      ...from.length > 0 && { valid_from: from.join(" ") },
    };
  },
  [SUPPLY_PRICES](key) {
    const [currency_code = "", price_type = "", ...country] = key.toUpperCase().split(/\s+/);
    return {
      currency_code,
      price_type,
      ...country.length > 0 && { country: country.join(" ") },
    };
  },
  packing_configurations: (key) => ({ unit_of_measure: key.toLowerCase() }),
  collateral: (key) => ({ text_type: key, collateral_type: "text_content" }),
  custom_fields: (key) => ({ field_name: key }),
  languages: (key) => ({ language_role: key }),
};

/** The code lists of keys, to suggest the code that an unknown key means. */
export const KEY_LISTS: Readonly<Record<string, readonly OnixList[]>> = {
  product_prices: [96],
  [SUPPLY_PRICES]: [96, 58, 91],
  collateral: [153],
  languages: [22],
};

/** The fields of entries that the key sets. They have no column. */
const KEY_FIELDS = Object.values(KEYS).flatMap((keyOf) => Object.keys(keyOf("x x"))).concat(
  "field_id",
);

/** The arrays that also fit into one cell. */
const ONE_CELL = ["contributors", "product_collections", "subjects"];

/**
 * The places by their names: `title`, `product_prices[].retail_price`. A list in an entry has a
 * position of its own: `product_form_features[].product_form_feature_descriptions[]`.
 */
function* places(): Generator<[string, ColumnPlace]> {
  for (const [name, field] of Object.entries<Field>(SCALARS)) {
    if (field.kind === "linked") continue;
    yield [name, { field: name, ...columnTraits(name, field, SCALARS) }];
  }
  for (const [name, array] of Object.entries<ArrayField>(ARRAYS)) {
    const whole = { field: name, target: name, isAssigned: false };
    if (ONE_CELL.includes(name)) yield [name, { kind: "list", ...whole }];
    if (array.kind === "list") yield [`${name}[]`, { kind: "text", ...whole }];
    // Rights and structures have no columns, and supply has those of `SUPPLY_PRICES`.
    if (array.kind === "list" || "path" in array) continue;
    const fields = fieldsInCells(array);
    const kinds = Object.values<Field>(fields).map(({ kind }) => kind);
    if (!kinds.every((kind) => ["column", "shown", "list"].includes(kind))) continue;
    for (const [inner, field] of Object.entries<Field>(fields)) {
      if (field.kind === "list") {
        const traits = { kind: "text", target: inner, isAssigned: false } as const;
        yield [`${name}[].${inner}[]`, { field: name, inner, ...traits }];
        continue;
      }
      const isArray = "response" in field && field.response.type === "array";
      if (isArray || name in KEYS && KEY_FIELDS.includes(inner)) continue;
      const traits = columnTraits(inner, field, fields);
      yield [`${name}[].${inner}`, { field: name, inner, ...traits }];
    }
  }
  const inner = "price_amount";
  const traits = columnTraits(inner, SUPPLY_PRICE[inner]!, SUPPLY_PRICE);
  yield [`${SUPPLY_PRICES}[].${inner}`, { field: SUPPLY_PRICES, inner, ...traits }];
}

const SUPPLY_DETAILS = ARRAYS.product_territories.fields.supply_details as Rows;
const { fields: SUPPLY_PRICE } = SUPPLY_DETAILS.fields.prices as Rows;

/** Returns the fields of an entry. Of typed entries, cells can have only those of the type text. */
function fieldsInCells(array: Rows | Values): Fields {
  const text = array.kind === "rows" ? array.types?.text_content : undefined;
  return { ...array.fields, ...text?.fields };
}

/** Whether the field of an entry can have a value. True for response-only fields. */
export function isKeyValue(array: string, name: string, value: unknown): boolean {
  const fields: Fields = array === SUPPLY_PRICES
    ? { ...SUPPLY_PRICE, country: codeOf(91) }
    : fieldsInCells(ARRAYS[array as keyof typeof ARRAYS] as Rows | Values);
  const { [name]: field } = fields;
  return field?.kind !== "column" || !field.body || v.is(field.body, value);
}

/**
 * Returns the kind of a field's cells, the field of a body that they set, and whether bodies can
 * have it.
 */
function columnTraits(
  name: string,
  field: Field,
  fields: Readonly<Record<string, Field>>,
): Pick<ColumnPlace, "kind" | "target" | "isAssigned"> {
  if (field.kind === "shown") {
    const { reference, column } = field;
    // A body may have the name or the code of a record in place of its id.
    const isName = column === "name" || column === "code";
    const isAssigned = !isName || !("body" in (fields[reference] ?? {}));
    const kind = column === "code" ? "code" : "text";
    return { kind, target: reference, isAssigned };
  }
  const stored = field as Column;
  return { kind: kindOf(name, stored), target: name, isAssigned: !stored.body };
}

const DATE_SCHEMAS: readonly unknown[] = [Day, PartialDate, SCALARS.publication_date.body];
const AMOUNT_SCHEMAS: readonly unknown[] = [ExtentValue, Measurement];

function kindOf(name: string, field: Column): CellKind {
  const { body, format, fallback, list } = field;
  if (list || body === Gtin) return "code";
  if (isPositiveInteger(body)) return "whole";
  if (name === "isbn13" || name === "isbn10") return "isbn";
  if (format === "decimal" || AMOUNT_SCHEMAS.includes(body)) return "amount";
  if (format === "time") return "time";
  if (DATE_SCHEMAS.includes(body)) return "date";
  return typeof fallback === "boolean" ? "boolean" : "text";
}

/** All places, by their names. `[]` stands for any key. */
export const COLUMN_PLACES: ReadonlyMap<string, ColumnPlace> = new Map(places());
