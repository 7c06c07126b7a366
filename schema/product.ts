import * as v from "valibot";
import {
  amount,
  assigned,
  codeOf,
  codesOf,
  column,
  count,
  day,
  derived,
  type Fields,
  group,
  isTrue,
  labelled,
  percent,
  refers,
  required,
  type Rows,
  rows,
  type Rule,
  shown,
  time,
  type Values,
  values,
  words,
} from "./fields.ts";
import { code } from "./onix_codes.ts";
import { ExactNumber, PositiveInteger } from "./numbers.ts";
import {
  Day,
  described,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  oneOf,
  text,
  Uuid,
} from "./values.ts";

/*
 * What a product is (specification, 2; ONIX for Books under its own names in snake_case).
 * A new field or array needs a line here, a migration, and samples: in `sql/demo.sql`, in
 * `tests/support/data/bodies.ts`, and in `VALUES` of `tests/support/data/fields.ts` what it
 * takes and refuses.
 */

export const PRODUCT_TYPES = [
  "normal",
  "kit",
  "kit_part",
  "indent",
  "charge",
  "special",
  "trade_only",
] as const;

const Isbn = described("Without hyphens and spaces.", v.string());

/** The columns of `products` and the fields beside them, in the order of responses. */
export const SCALARS = {
  id: assigned(Uuid),
  organization_id: assigned(Uuid),
  product_code: assigned(v.pipe(
    v.string(),
    v.metadata({
      description: "Assigned by the service, unique in the organization.",
      examples: ["P-0DYSSEY1"],
    }),
  )),
  created_at: time,
  updated_at: time,
  title: required(column(heading(500))),
  subtitle: column(text()),
  isbn13: column(Isbn13, Isbn),
  isbn10: column(Isbn10, Isbn),
  page_count: column(PositiveInteger),
  publication_date: day,
  format_id: refers("formats", {
    filter: "Products in one of these formats.",
    isCounted: true,
  }),
  title_id: refers("titles", {
    constraint: "products_parent_title",
    filter: "Products of one of these parent titles.",
  }),
  publishing_status_id: refers("publishing_statuses", {
    filter: "Products with one of these publishing statuses.",
    isCounted: true,
  }),
  product_availability_id: refers("product_availabilities", {
    constraint: "products_availability",
    filter: "Products with one of these availabilities.",
    isCounted: true,
  }),
  lifecycle_status_id: refers("lifecycle_statuses", {
    filter: "Products with one of these lifecycle statuses.",
    isCounted: true,
  }),
  license_id: refers("licenses", {
    filter: "Products under one of these licenses.",
  }),
  season_id: refers("seasons", {
    filter: "Products of one of these seasons.",
  }),
  publisher_id: refers("publishers", {
    filter: "Products of one of these publishers.",
  }),
  division_id: refers("divisions", {
    filter: "Products of one of these divisions.",
  }),
  imprint_id: refers("imprints", {
    filter: "Products of one of these imprints.",
  }),
  series_id: refers("collections", {
    filter: "Products of one of these series.",
    isSeries: true,
  }, "One of the product's collections."),
  product_form_id: refers(
    "product_forms",
    {
      constraint: "formats_product_form",
      heldBy: "format_id",
    },
    "Stored on the product's format and shared by all its products. Without a format it has no effect.",
  ),
  product_type: column(oneOf(...PRODUCT_TYPES)),
  cover_image_url: column(HttpUrl),
  license_name: shown("license_id", "name", { isAlwaysThere: true }),
  license_badge_colour: shown("license_id", "badge_colour", {
    isAlwaysThere: true,
  }),
  season_name: shown("season_id", "name"),
  publisher_name: shown("publisher_id", "name"),
  division_name: shown("division_id", "name"),
  imprint_name: shown("imprint_id", "name"),
  series_name: shown("series_id", "name"),
  format_name: shown("format_id", "name"),
  title_name: shown("title_id", "name"),
  publishing_status_name: shown("publishing_status_id", "name"),
  publishing_status_code: shown("publishing_status_id", "code"),
  product_availability_name: shown("product_availability_id", "name"),
  product_availability_code: shown("product_availability_id", "code"),
  lifecycle_status_name: shown("lifecycle_status_id", "name"),
  collections: {
    kind: "linked",
    table: "collections",
    through: "product_collections",
    reference: "collection_id",
  },
} satisfies Fields;

const TOO_EARLY = "invalid_date: Expected a date that is not before valid_from";

/** A period cannot end before it begins. */
const VALIDITY: Rule = {
  fields: ["valid_from", "valid_to"],
  check({ valid_from: from, valid_to: to }) {
    const isWrong = v.is(Day, from) && v.is(Day, to) && from > to;
    return isWrong ? TOO_EARLY : undefined;
  },
  constraint: { name: "validity", message: TOO_EARLY },
};

const IsDefault = v.pipe(
  v.nullable(v.boolean("invalid_type: Expected true or false")),
  v.transform((isDefault) => isDefault ?? false),
);

const FieldValue = v.union(
  [text(), v.number(), v.boolean(), ExactNumber],
  ({ input }) =>
    JSON.isRawJSON(input)
      ? "inexact_number: This number cannot be stored exactly: send it as a string"
      : "invalid_type: Expected a string, a number, a boolean or null",
);

const Audiences = v.pipe(
  v.array(
    v.unknown(),
    "invalid_type: Expected an array of codes of ONIX List 154",
  ),
  v.maxLength(50, "too_many: At most 50 codes"),
  v.array(code(154)),
);

const Year = v.pipe(
  v.string("invalid_type: Expected a year as a string"),
  v.regex(/^\d{4}$/, "invalid_year: Expected a year of four digits"),
);

const LongText = text(100_000);

/** The types of collateral (ONIX block 2). */
const COLLATERAL = {
  text_content: {
    type: "TextContent",
    fields: {
      text: required(column(heading(100_000))),
      text_type: column(code(153)),
      content_audience: column(Audiences),
      text_format: column(code(34)),
      text_author: column(text()),
      source_title: column(text()),
      language: column(text()),
    },
  },
  cited_content: {
    type: "CitedContent",
    fields: {
      source_title: required(column(heading())),
      cited_content_type: column(code(156)),
      citation_note: column(LongText),
      resource_link: column(HttpUrl),
      publication_date: day,
      content_audience: column(Audiences),
    },
  },
  award: {
    type: "Award",
    fields: {
      prize_name: required(column(heading())),
      prize_year: column(Year),
      prize_country: column(code(91)),
      prize_code: column(code(41)),
      prize_statement: column(LongText),
      prize_jury: column(LongText),
    },
  },
};

const TERRITORY = {
  countries_included: codesOf(91),
  countries_excluded: codesOf(91),
  regions_included: codesOf(49),
  regions_excluded: codesOf(49),
};

/** Where something may be sold: the whole of `Territory`. */
const territory = group(TERRITORY, { type: "Territory" });

const DAYS = "The number of days from the receipt of an order to its dispatch.";

const Exclusivity = oneOf(
  "exclusive",
  "non_exclusive",
  "not_for_sale",
  "unknown",
);

/** A sales right either has a territory or covers the rest of the world. */
const WORLD: Rule = {
  fields: ["is_rest_of_world", "territory"],
  check({ is_rest_of_world = false, territory = null }) {
    if (is_rest_of_world === (territory === null)) return;
    if (typeof is_rest_of_world !== "boolean") return;
    return is_rest_of_world
      ? "unexpected_territory: The rest of the world has no territory: send null"
      : "required: A territory is required, except for the rest of the world";
  },
};

/** The arrays of a product, in the order of responses. */
export const ARRAYS = {
  product_prices: rows("product_prices", {
    currency_code: required(column(code(96))),
    retail_price: amount,
    retail_price_inc_tax: amount,
    list_price: amount,
    tax_rate: percent,
    is_default: column(IsDefault, v.boolean(), { fallback: false }),
    valid_from: day,
    valid_to: day,
  }, {
    put: "patch",
    naturalKey: ["currency_code", "valid_from"],
    type: "Price",
    rule: VALIDITY,
  }),

  packing_configurations: rows("packing_configurations", {
    unit_of_measure: required(column(oneOf("inner", "outer", "pallet"))),
  }, {
    put: "patch",
    naturalKey: ["unit_of_measure"],
    type: "PackingConfiguration",
  }),

  contributors: rows("product_contributors", {
    contributor_id: required(refers("contributors", {
      filter: "Products with one of these contributors.",
    })),
    contributor_role_id: required(refers("contributor_roles", {
      constraint: "product_contributors_role",
    })),
    contributor_name: shown("contributor_id", "name"),
    contributor_role_name: shown("contributor_role_id", "name"),
    contributor_role_code: shown("contributor_role_id", "code"),
  }, {
    put: "link",
    key: ["contributor_id", "contributor_role_id"],
    type: "Contributor",
  }),

  product_collections: rows("product_collections", {
    collection_id: required(refers("collections", {
      filter: "Products in one of these collections.",
    })),
  }, {
    put: "link",
    key: ["collection_id"],
    type: "ProductCollection",
    inLists: "none",
  }),

  custom_fields: rows("custom_field_values", {
    field_id: required(refers("custom_fields")),
    field_value: required(column(
      v.nullable(FieldValue),
      v.nullable(v.union([v.string(), v.number(), v.boolean()])),
    )),
    field_name: shown("field_id", "name"),
  }, { put: "link", key: ["field_id"], type: "CustomField" }),

  collateral: rows("collateral", {
    collateral_type: required(column(oneOf(...Object.keys(COLLATERAL)))),
  }, { put: "replace", naturalKey: ["collateral_type"], types: COLLATERAL }),

  languages: values({
    language_role: required(codeOf(22)),
    language_code: required(codeOf(74)),
    country_code: codeOf(91),
    script_code: codeOf(121),
  }, { type: "Language" }),

  product_territories: rows("product_territories", {
    market_reference: words,
    exclusivity: column(Exclusivity, Exclusivity, { fallback: "unknown" }),
    markets: rows("territory_markets", {
      name: words,
      territory,
    }, { put: "tree", type: "Market" }),
    market_publishing_detail: group({
      market_publishing_status: labelled(68),
      market_dates: rows("market_dates", {
        market_date_role: required(labelled(163)),
        date: required(day),
      }, { put: "tree", isIdHidden: true }),
    }, { type: "MarketPublishingDetail" }),
    supply_details: rows("supply_details", {
      supplier: group({
        supplier_role: labelled(93),
        supplier_name: words,
      }),
      product_availability: labelled(65),
      supply_dates: rows("supply_dates", {
        supply_date_role: required(labelled(166)),
        date: required(day),
      }, { put: "tree", isIdHidden: true }),
      order_time: column(
        described(DAYS, count.body!),
        described(DAYS, count.response),
      ),
      pack_quantity: count,
      unpriced_item_type: codeOf(57),
      prices: rows("supply_prices", {
        price_type: labelled(58),
        price_amount: amount,
        currency_code: codeOf(96),
        price_status: codeOf(61),
        minimum_order_quantity: count,
        valid_from: day,
        valid_to: day,
        taxes: rows("supply_price_taxes", {
          tax_type: codeOf(171),
          tax_rate_code: codeOf(62),
          tax_rate_percent: percent,
          taxable_amount: amount,
          tax_amount: amount,
        }, { put: "tree", isIdHidden: true, type: "Tax" }),
      }, {
        put: "tree",
        link: "supply_price_id",
        type: "SupplyPrice",
        rule: VALIDITY,
      }),
    }, { put: "tree", link: "supply_detail_id", type: "SupplyDetail" }),
  }, {
    put: "tree",
    link: "territory_id",
    type: "ProductTerritory",
    path: "territories",
    inLists: ["market_reference", "exclusivity", "markets"],
  }),

  product_sales_rights: rows("product_sales_rights", {
    sales_rights_type: required(labelled(46)),
    for_sale: derived("sales_rights_type", ["01", "02", "07", "08"]),
    exclusive: derived("sales_rights_type", ["01", "04", "07"], [
      "02",
      "05",
      "08",
    ]),
    is_rest_of_world: isTrue,
    territory: { ...territory, unless: "is_rest_of_world" },
    publisher_name: words,
  }, { put: "tree", type: "SalesRights", path: "sales-rights", rule: WORLD }),
} satisfies Fields;

/** The name of an array of a product. */
export type ArrayName = keyof typeof ARRAYS;

/** The arrays that are rows of tables below products. */
export const ROWS = Object.entries<Rows | Values>(ARRAYS).flatMap(
  ([name, array]): [ArrayName, Rows][] =>
    array.kind === "rows" ? [[name as ArrayName, array]] : [],
);

/** The arrays that lists can include, with the fields that lists show. */
export const LISTED: Readonly<Partial<Record<ArrayName, Rows | Values>>> =
  Object.fromEntries(
    Object.entries<Rows | Values>(ARRAYS).flatMap(([name, array]) => {
      const { inLists = undefined } = array.kind === "rows" ? array : {};
      if (inLists === "none") return [];
      if (!inLists) return [[name, array]];
      const shown = inLists.map((field) => [field, array.fields[field]!]);
      return [[name, { ...array, fields: Object.fromEntries(shown) }]];
    }),
  );
