import type { Entry } from "../bodies.ts";
import type { ArrayField, Column, Field } from "../fields.ts";
import { ExtentValue, Measurement } from "../numbers.ts";
import { ARRAYS, SCALARS } from "../product.ts";
import { Day, PartialDate } from "../values.ts";

/* The places in the JSON of a product that a cell can hold. All follow from `product.ts`. */

/** How the cells of a column are written. */
type CellKind = "text" | "code" | "isbn" | "amount" | "date" | "boolean" | "list" | "time";

/** A place, whatever the key in its brackets is. */
export interface ColumnPlace {
  kind: CellKind;
  /** The field of the product. */
  field: string;
  /** The field of an entry of an array. Absent for fields of the product, arrays, values of lists. */
  inner?: string;
  /** The field of a body that the cell sets: its own, or the id in place of which it has a name or a code. */
  target: string;
  /** Whether bodies cannot have the field: it finds the product, or only responses have it. */
  isAssigned: boolean;
}

/** The arrays whose entries have a key. Those of all others have positions. */
export const KEYS: Readonly<Record<string, (key: string) => Entry>> = {
  product_prices(key) {
    const [currency = "", from] = key.split(/\s+/);
    return { currency_code: currency.toUpperCase(), ...from && { valid_from: from } };
  },
  packing_configurations: (key) => ({ unit_of_measure: key.toLowerCase() }),
  collateral: (key) => ({ text_type: key, collateral_type: "text_content" }),
  custom_fields: (key) => ({ field_name: key }),
  languages: (key) => ({ language_role: key }),
};

/** The fields of entries that the key in brackets decides: they have no column of their own. */
const KEY_FIELDS = Object.values(KEYS).flatMap((keyOf) => Object.keys(keyOf("x x"))).concat(
  "field_id",
);

/** The arrays that also fit into one cell. */
const ONE_CELL = ["contributors", "product_collections", "subjects"];

/** The places by their names: `title`, `product_prices[].retail_price`. */
function* places(): Generator<[string, ColumnPlace]> {
  for (const [name, field] of Object.entries<Field>(SCALARS)) {
    if (field.kind === "linked") continue;
    yield [name, { field: name, ...columnTraits(name, field, SCALARS) }];
  }
  for (const [name, array] of Object.entries<ArrayField>(ARRAYS)) {
    const whole = { field: name, target: name, isAssigned: false };
    if (ONE_CELL.includes(name)) yield [name, { kind: "list", ...whole }];
    if (array.kind === "list") yield [`${name}[]`, { kind: "text", ...whole }];
    // Rights, supply and structures have no columns.
    if (array.kind === "list" || "path" in array) continue;
    // Of entries with types, a cell holds those of text alone.
    const text = array.kind === "rows" ? array.types?.text_content : undefined;
    const fields = { ...array.fields, ...text?.fields };
    const kinds = Object.values<Field>(fields).map(({ kind }) => kind);
    if (!kinds.every((kind) => kind === "column" || kind === "shown")) continue;
    for (const [inner, field] of Object.entries<Field>(fields)) {
      const isArray = "response" in field && field.response.type === "array";
      if (isArray || name in KEYS && KEY_FIELDS.includes(inner)) continue;
      const traits = columnTraits(inner, field, fields);
      yield [`${name}[].${inner}`, { field: name, inner, ...traits }];
    }
  }
}

/** How the cells of a field are written, which field of a body they decide, and whether one can. */
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
  if (list) return "code";
  if (name === "isbn13" || name === "isbn10") return "isbn";
  if (format === "decimal" || AMOUNT_SCHEMAS.includes(body)) return "amount";
  if (format === "time") return "time";
  if (DATE_SCHEMAS.includes(body)) return "date";
  return typeof fallback === "boolean" ? "boolean" : "text";
}

/** All places, by their names. `[]` stands for any key. */
export const COLUMN_PLACES: ReadonlyMap<string, ColumnPlace> = new Map(places());
