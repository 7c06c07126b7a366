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
  SCALAR,
  text,
  UUID,
  type Values,
  YEAR,
} from "./values.ts";

/*
 * The fields of the bodies of products: their kinds, and where they stand. The tests
 * of `tests/input/fields_test.ts` follow from this table.
 */

/** The fields of an object. */
export type Fields = Record<string, Field>;

export type Field = Scalar | Group | Rows;

/** A field with a value of its own. */
export interface Scalar extends Values {
  isRequired?: true;
  /** The table of the record whose id it is. */
  refers?: string;
}

/** An object. */
export interface Group {
  fields: Fields;
  isRequired?: true;
  /** The code of null. Default: `invalid_type`. */
  ifNull?: string;
}

/** An array of objects. */
export interface Rows {
  rows: Fields;
  /** As in `schema/product.ts`. Absent fields of a `patch` or `replace` keep their values. */
  put: "patch" | "replace" | "link" | "tree";
  /** Whether its entries have no ids, although no `key` identifies them. */
  isIdHidden?: true;
  /** The fields that identify an entry. Default: `id`. */
  key?: string[];
  /** The fields of each type of entry. `rows` then has the type alone. */
  types?: Record<string, Fields>;
}

const id = (table: string): Scalar => ({ ...nullable(UUID), refers: table });
const requiredId = (table: string): Scalar => ({
  ...needed(required(UUID)),
  refers: table,
});
const needed = (values: Values): Scalar => ({ ...values, isRequired: true });
const rows = (rows: Fields, rest: Partial<Rows> = {}): Rows => ({
  rows,
  put: "tree",
  ...rest,
});

const words = nullable(text(2000));
const day = nullable(DAY);
const amount = nullable(AMOUNT);
const percent = nullable(PERCENT);
const count = nullable(COUNT);
const longText = nullable(text(100_000));

const AREA: Fields = {
  countries_included: codes("GB"),
  countries_excluded: codes("ROW"),
  regions_included: codes("GB-NIR"),
  regions_excluded: codes("WORLD"),
};

const TERRITORY: Fields = {
  market_reference: words,
  exclusivity: oneOf("exclusive", "non_exclusive", "not_for_sale", "unknown"),
  markets: rows({ name: words, territory: { fields: AREA } }),
  market_publishing_detail: {
    fields: {
      market_publishing_status: nullable(code("04")),
      market_dates: rows({
        market_date_role: needed(required(code("01", "10"), "invalid_code")),
        date: needed(required(DAY)),
      }, { isIdHidden: true }),
    },
  },
  supply_details: rows({
    supplier: {
      fields: { supplier_role: nullable(code("01")), supplier_name: words },
    },
    product_availability: nullable(code("20")),
    supply_dates: rows({
      supply_date_role: needed(required(code("02", "08"), "invalid_code")),
      date: needed(required(DAY)),
    }, { isIdHidden: true }),
    order_time: count,
    pack_quantity: count,
    unpriced_item_type: nullable(code("02")),
    prices: rows({
      price_type: nullable(code("02")),
      price_amount: amount,
      currency_code: nullable(CURRENCY),
      price_status: nullable(code("02")),
      minimum_order_quantity: count,
      valid_from: day,
      valid_to: day,
      taxes: rows({
        tax_type: nullable(code("01")),
        tax_rate_code: nullable({
          takes: code("S").takes,
          refuses: code("S").refuses.filter(([sent]) => sent !== "Z"),
        }),
        tax_rate_percent: percent,
        taxable_amount: amount,
        tax_amount: amount,
      }, { isIdHidden: true }),
    }),
  }),
};

const SALES_RIGHTS: Fields = {
  sales_rights_type: needed(required(code("01", "08"), "invalid_code")),
  is_rest_of_world: {
    takes: [[false, false]],
    refuses: [...FLAG.refuses, [null, "invalid_type"]],
  },
  territory: { fields: AREA, isRequired: true, ifNull: "required" },
  publisher_name: words,
};

/** The body of a product. */
export const PRODUCT: Fields = {
  title: needed(heading(500)),
  subtitle: words,
  isbn13: nullable(ISBN13),
  isbn10: nullable(ISBN10),
  page_count: count,
  publication_date: day,
  format_id: id("formats"),
  title_id: id("titles"),
  publishing_status_id: id("publishing_statuses"),
  product_availability_id: id("product_availabilities"),
  lifecycle_status_id: id("lifecycle_statuses"),
  license_id: id("licenses"),
  season_id: id("seasons"),
  publisher_id: id("publishers"),
  division_id: id("divisions"),
  imprint_id: id("imprints"),
  // It must be one of the product's collections, too: see `series_test.ts`.
  series_id: nullable(UUID),
  product_form_id: id("product_forms"),
  product_type: nullable(oneOf(
    "normal",
    "kit",
    "kit_part",
    "indent",
    "charge",
    "special",
    "trade_only",
  )),
  cover_image_url: nullable(HTTP_URL),
  product_prices: rows({
    currency_code: needed(required(CURRENCY, "invalid_code")),
    retail_price: amount,
    retail_price_inc_tax: amount,
    list_price: amount,
    tax_rate: percent,
    is_default: FLAG,
    valid_from: day,
    valid_to: day,
  }, { put: "patch" }),
  packing_configurations: rows({
    unit_of_measure: needed(
      required(oneOf("inner", "outer", "pallet"), "invalid_value"),
    ),
  }, { put: "patch" }),
  contributors: rows({
    contributor_id: requiredId("contributors"),
    contributor_role_id: requiredId("contributor_roles"),
  }, { put: "link", key: ["contributor_id", "contributor_role_id"] }),
  product_collections: rows(
    { collection_id: requiredId("collections") },
    { put: "link", key: ["collection_id"] },
  ),
  custom_fields: rows({
    field_id: requiredId("custom_fields"),
    field_value: needed(SCALAR),
  }, { put: "link", key: ["field_id"] }),
  collateral: rows({
    collateral_type: needed(required(
      oneOf("text_content", "cited_content", "award"),
      "invalid_value",
    )),
  }, {
    put: "replace",
    types: {
      text_content: {
        text: needed(heading(100_000)),
        text_type: nullable(code("03", "39")),
        content_audience: nullable(AUDIENCES),
        text_format: nullable(code("06", "15")),
        text_author: words,
        source_title: words,
        language: words,
      },
      cited_content: {
        source_title: needed(heading(2000)),
        cited_content_type: nullable(code("01", "07")),
        citation_note: longText,
        resource_link: nullable(HTTP_URL),
        publication_date: day,
        content_audience: nullable(AUDIENCES),
      },
      award: {
        prize_name: needed(heading(2000)),
        prize_year: nullable(YEAR),
        prize_country: nullable(code("GB", "ROW")),
        prize_code: nullable(code("01", "07")),
        prize_statement: longText,
        prize_jury: longText,
      },
    },
  }),
};

/** The bodies that are arrays of a product, by the last segment of their paths. */
export const TREES: Record<string, Rows> = {
  "territories": rows(TERRITORY),
  "sales-rights": rows(SALES_RIGHTS),
};
