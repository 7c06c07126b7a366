import type * as described from "../../../schema/fields.ts";
import { ARRAYS, SCALARS } from "../../../schema/product.ts";
import {
  AMOUNT,
  AUDIENCES,
  BY_RULE,
  code,
  codes,
  COUNT,
  CURRENCY,
  DAY,
  each,
  EXTENT_VALUE,
  FLAG,
  given,
  GTIN,
  heading,
  HTTP_URL,
  ISBN10,
  ISBN13,
  list,
  MEASUREMENT,
  nullable,
  oneOf,
  PARTIAL_DATE,
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

/** An array of codes of a product. */
const FEW = { max: 50, isDistinct: true };

const FLAG_OR_NULL: Values = { ...FLAG, takes: [...FLAG.takes, [null, false]] };

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
  is_default: FLAG_OR_NULL,
  valid_from: DAY,
  valid_to: DAY,

  unit_of_measure: oneOf("inner", "outer", "pallet"),
  quantity: COUNT,
  gtin: GTIN,
  part_number: text(50),
  field_value: SCALAR,

  // Collateral
  collateral_type: oneOf("text_content", "cited_content", "award"),
  text: heading(100_000),
  text_type: code("03", "39"),
  content_audience: AUDIENCES,
  text_format: code("06", "15"),
  text_author: WORDS,
  text_source_corporate: WORDS,
  text_source_description: LONG_TEXT,
  source_title: WORDS,
  language: code("eng", "gsw"),
  "cited_content.source_title": heading(2000),
  cited_content_type: code("01", "07"),
  citation_note: LONG_TEXT,
  resource_link: HTTP_URL,
  prize_name: heading(2000),
  prize_year: YEAR,
  prize_country: code("GB", "IE"),
  prize_code: code("01", "07"),
  prize_statement: LONG_TEXT,
  prize_jury: LONG_TEXT,

  // What the trade needs beside the fields of the specification
  edition_number: {
    takes: [...same(1, 999), ["2", 2]],
    refuses: [
      ...each("invalid_type", true, [], {}),
      ...each("out_of_range", "1000", "two", 0, -1, 1.5, 1000),
    ],
  },
  edition_statement: WORDS,
  product_form_description: WORDS,
  primary_content_type: code("10", "01"),
  country_of_publication: code("GB", "CH"),
  city_of_publication: WORDS,
  product_form_details: list(code("B206", "A104"), FEW),
  edition_types: list(code("ABR", "LTE"), FEW),
  // Of a type whose values are texts (`whole_book_test.ts` has the others).
  product_form_feature_type: code("07", "03"),
  product_form_feature_value: given(WORDS),
  product_form_feature_descriptions: list(heading(2000), { max: 100 }),
  epub_technical_protections: list(code("00", "02"), FEW),

  product_id_type: code("06", "22"),
  id_type_name: BY_RULE,
  id_value: heading(2000),

  main_subject: FLAG_OR_NULL,
  // Keywords: a code of most other schemes is one word (`whole_book_test.ts`).
  subject_scheme_identifier: code("20"),
  subject_scheme_name: WORDS,
  subject_scheme_version: WORDS,
  subject_code: WORDS,
  subject_heading_text: given(WORDS),

  extent_type: code("09", "00"),
  extent_value: EXTENT_VALUE,
  extent_unit: code("05", "14"),

  measure_type: code("01", "08"),
  measurement: MEASUREMENT,
  measure_unit_code: code("mm", "gr"),

  audience_code_type: code("22", "18"),
  audience_code_type_name: BY_RULE,
  audience_code_value: heading(2000),

  audience_range_qualifier: code("17", "11"),
  audience_range_exact: { ...given(BY_RULE), takes: same("9") },
  audience_range_from: BY_RULE,
  audience_range_to: BY_RULE,

  publishing_date_role: code("02", "09"),
  "publishing_dates.date": PARTIAL_DATE,

  product_relation_codes: list(code("06", "13"), { isRequired: true }),
  work_relation_code: code("01", "02"),
  work_id_type: code("11", "06"),

  resource_content_type: code("01", "26"),
  "supporting_resources.content_audience": list(code("00", "03"), {
    isRequired: true,
  }),
  resource_mode: code("03", "05"),
  resource_feature_type: code("01", "05"),
  resource_version_feature_type: code("01", "07"),
  feature_value: WORDS,
  feature_note: WORDS,
  resource_form: code("01", "02"),
  resource_links: list(HTTP_URL, { isRequired: true }),

  // Languages
  language_role: code("01", "02"),
  language_code: code("eng", "gsw"),
  country_code: code("GB", "CH"),
  script_code: code("Latn", "Cyrl"),

  // Territories
  market_reference: WORDS,
  exclusivity: oneOf("exclusive", "non_exclusive", "not_for_sale", "unknown"),
  "markets.name": WORDS,
  countries_included: given(codes("ZZ", "GB")),
  countries_excluded: codes("ROW", "FR"),
  regions_included: codes("ROW", "GB-NIR"),
  regions_excluded: codes("QQ", "WORLD"),
  market_publishing_status: code("04"),
  market_date_role: code("01", "10"),
  date: DAY,
  supplier_role: code("01"),
  supplier_name: WORDS,
  supplier_id_type: code("06", "02"),
  product_availability: code("20"),
  supply_date_role: code("02", "08"),
  order_time: COUNT,
  pack_quantity: COUNT,
  unpriced_item_type: code("02"),
  price_type: code("02"),
  price_amount: AMOUNT,
  "prices.currency_code": given(code("GBP")),
  price_status: code("02"),
  price_qualifier: code("05"),
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
  /** Whether the array has at least one entry. */
  isRequired?: boolean;
  /** Whether two entries may not share some values. */
  isDistinct?: boolean;
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
          return [[name, groupOf(name, field, owner)]];
        case "rows":
          return field.path ? [] : [[name, rowsOf(name, field)]];
        case "values":
          return [[name, {
            rows: writtenFields(field.fields, name),
            hasIds: false,
            isRequired: field.isRequired,
            isDistinct: field.distinct !== undefined,
          }]];
        case "list": {
          const { isRequired } = field;
          return [[name, { ...required(valuesOf(owner, name)), isRequired }]];
        }
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
  const key = [`${owner}.${name}`, name].find((key) => Object.hasOwn(VALUES, key));
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
  owner: string,
): Group {
  return {
    fields: writtenFields(fields, name),
    // A market is somewhere.
    ...owner === "markets" && { isRequired: true },
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
