import type * as described from "../../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../../schema/product.ts";
import {
  AMOUNT,
  AUDIENCES,
  code,
  codes,
  COUNT,
  CURRENCY,
  DAY,
  FLAG,
  heading,
  HTTP_URL,
  ISBN10,
  ISBN13,
  nullable,
  oneOf,
  PERCENT,
  required,
  same,
  SCALAR,
  text,
  UUID,
  type Values,
  YEAR,
} from "./values.ts";

/*
 * The fields of the bodies of products. Where a field stands, whether it is required and
 * what identifies an entry follow from `schema/product.ts`. What a field takes and refuses,
 * with the error codes, is written here, independently of its schema. The tests of
 * `tests/input/fields_test.ts` follow from both.
 */

const WORDS = text(2000);
const LONG_TEXT = text(100_000);

/**
 * What each field takes and refuses, but for null and ids of records. A field of an array, a
 * type of entry or a group may differ from others of its name: `<array>.<field>`.
 */
const VALUES: Record<string, Values> = {
  title: heading(500),
  subtitle: WORDS,
  isbn13: ISBN13,
  isbn10: ISBN10,
  page_count: COUNT,
  publication_date: DAY,
  product_type: oneOf(
    "normal",
    "kit",
    "kit_part",
    "indent",
    "charge",
    "special",
    "trade_only",
  ),
  cover_image_url: HTTP_URL,

  // Prices
  currency_code: CURRENCY,
  retail_price: AMOUNT,
  retail_price_inc_tax: AMOUNT,
  list_price: AMOUNT,
  tax_rate: PERCENT,
  is_default: { ...FLAG, takes: [...FLAG.takes, [null, false]] },
  valid_from: DAY,
  valid_to: DAY,

  unit_of_measure: oneOf("inner", "outer", "pallet"),
  field_value: SCALAR,

  // Collateral
  collateral_type: oneOf("text_content", "cited_content", "award"),
  text: heading(100_000),
  text_type: code("03", "39"),
  content_audience: AUDIENCES,
  text_format: code("06", "15"),
  text_author: WORDS,
  source_title: WORDS,
  language: WORDS,
  "cited_content.source_title": heading(2000),
  cited_content_type: code("01", "07"),
  citation_note: LONG_TEXT,
  resource_link: HTTP_URL,
  prize_name: heading(2000),
  prize_year: YEAR,
  prize_country: code("GB", "ROW"),
  prize_code: code("01", "07"),
  prize_statement: LONG_TEXT,
  prize_jury: LONG_TEXT,

  // Languages
  language_role: code("01", "02"),
  language_code: code("eng", "gsw"),
  country_code: code("GB", "CH"),
  script_code: code("Latn", "Cyrl"),

  // Territories
  market_reference: WORDS,
  exclusivity: oneOf("exclusive", "non_exclusive", "not_for_sale", "unknown"),
  "markets.name": WORDS,
  countries_included: codes("GB"),
  countries_excluded: codes("ROW"),
  regions_included: codes("GB-NIR"),
  regions_excluded: codes("WORLD"),
  market_publishing_status: code("04"),
  market_date_role: code("01", "10"),
  date: DAY,
  supplier_role: code("01"),
  supplier_name: WORDS,
  product_availability: code("20"),
  supply_date_role: code("02", "08"),
  order_time: COUNT,
  pack_quantity: COUNT,
  unpriced_item_type: code("02"),
  price_type: code("02"),
  price_amount: AMOUNT,
  price_status: code("02"),
  minimum_order_quantity: COUNT,
  tax_type: code("01"),
  tax_rate_code: code("S"),
  tax_rate_percent: PERCENT,
  taxable_amount: AMOUNT,
  tax_amount: AMOUNT,

  // Sales rights
  sales_rights_type: code("01", "08"),
  // Entries of these tests have a territory, which the rest of the world has not.
  is_rest_of_world: { ...FLAG, takes: same(false) },
  publisher_name: WORDS,
};

/** The fields of an object. */
export type Fields = Record<string, Field>;

export type Field = Scalar | Group | Rows;

/** A field with a value of its own. */
export interface Scalar extends Values {
  isRequired?: boolean;
  /** The table of the record whose id it is. */
  refers?: string;
}

/** An object. */
export interface Group {
  fields: Fields;
  isRequired?: boolean;
  /** The code of null. Default: `invalid_type`. */
  ifNull?: string;
}

/** An array of objects. */
export interface Rows {
  rows: Fields;
  /** Whether its entries have ids. */
  hasIds: boolean;
  /** As in `schema/fields.ts`. Absent for values, which have no identity. */
  put?: described.Rows["put"];
  /** The fields that identify an entry without an id. */
  key?: readonly string[];
  /** The fields of each type of entry. `rows` then has the type alone. */
  types?: Record<string, Fields>;
}

const unused = new Set(Object.keys(VALUES));

/** The body of a product. */
export const PRODUCT = writtenFields({ ...SCALARS, ...ARRAYS });

/** A body that is an array of a product. */
export interface Tree {
  /** The name of the array. */
  name: string;
  /** The last segment of its path. */
  path: string;
  array: Rows;
}

/** The arrays of a product that have paths of their own. */
export const TREES = Object.entries<described.Field>(ARRAYS).flatMap(
  ([name, field]): Tree[] =>
    field.kind === "rows" && field.path
      ? [{ name, path: field.path, array: rowsOf(name, field) }]
      : [],
);

if (unused.size > 0) {
  throw new Error(
    `No field of schema/product.ts uses ${[...unused].join(", ")} of VALUES`,
  );
}

/** The fields that bodies have. `owner` is the array, type or group that they are fields of. */
function writtenFields(fields: described.Fields, owner = "product"): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
      switch (field.kind) {
        case "column":
          return field.body ? [[name, scalarOf(owner, name, field)]] : [];
        case "group":
          return [[name, groupOf(name, field)]];
        case "rows":
          return field.path ? [] : [[name, rowsOf(name, field)]];
        case "values":
          return [[name, {
            rows: writtenFields(field.fields, name),
            hasIds: false,
          }]];
        default:
          return [];
      }
    }),
  );
}

function scalarOf(
  owner: string,
  name: string,
  { isRequired, fallback, refers }: described.Column,
): Scalar {
  const values = refers ? UUID : valuesOf(owner, name);
  const isNullable = !isRequired && fallback === undefined;
  return {
    ...isNullable ? nullable(values) : required(values),
    isRequired,
    // A series must also be one of the product's collections: see `series_test.ts`.
    refers: refers?.isSeries ? undefined : refers?.table,
  };
}

function valuesOf(owner: string, name: string): Values {
  const key = [`${owner}.${name}`, name].find((key) =>
    Object.hasOwn(VALUES, key)
  );
  if (key === undefined) {
    throw new Error(
      `Add what ${owner}.${name} takes and refuses to VALUES in tests/support/data/fields.ts`,
    );
  }
  unused.delete(key);
  return VALUES[key]!;
}

function groupOf(
  name: string,
  { fields, unless }: described.Group,
): Group {
  return {
    fields: writtenFields(fields, name),
    ...unless && { isRequired: true, ifNull: "required" },
  };
}

function rowsOf(
  name: string,
  { fields, types, put, key, isIdHidden }: described.Rows,
): Rows {
  return {
    rows: writtenFields(fields, name),
    hasIds: !key && !isIdHidden,
    put,
    key,
    types: types && Object.fromEntries(
      Object.entries(types).map((
        [type, { fields }],
      ) => [type, writtenFields(fields, type)]),
    ),
  };
}
