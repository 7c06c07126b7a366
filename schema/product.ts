import * as v from "valibot";
import { printable, withHint } from "./errors.ts";
import {
  about,
  amount,
  type ArrayField,
  assigned,
  codeOf,
  codesOf,
  column,
  count,
  day,
  derived,
  type Fields,
  group,
  identifiers,
  isMissing,
  isTrue,
  isTrueOrNull,
  labelled,
  listOf,
  listOfCodes,
  neededFor,
  onlyFor,
  percent,
  refers,
  required,
  type Rows,
  rows,
  type Rule,
  shown,
  snake,
  time,
  values,
  words,
} from "./fields.ts";
import { type Distinct, distinctBy, isObject } from "./objects.ts";
import { code, expectedCode, type OnixList, ROW } from "./onix_codes.ts";
import {
  ExactNumber,
  ExtentValue,
  isZero,
  Measurement,
  PositiveInteger,
  positiveInteger,
} from "./numbers.ts";
import {
  bareIsbn,
  Day,
  described,
  Gtin,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  isbnFieldOf,
  oneOf,
  PartialDate,
  text,
  Uuid,
} from "./values.ts";

/*
 * Describes every field of a product (specification, 2). Fields of ONIX for Books have its names in
 * snake_case. A new field or array needs a line here, a migration, and samples: in `sql/demo.sql` and
 * `tests/support/data/bodies.ts`, and its valid and invalid values in `VALUES` of
 * `tests/support/data/fields.ts`.
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

const Code = v.pipe(v.string(), v.examples(["P-0DYSSEY1"]));

/**
 * The paths of two fields in ONIX. `extents` and `publishing_dates` refuse entries with these
 * codes.
 */
const PAGES = "Extent[ExtentType=00,ExtentUnit=03]/ExtentValue";
const PUBLICATION_DATE = "PublishingDate[PublishingDateRole=01]/Date";

/** A day. Other fields hold a year or a month. */
const PublicationDay = v.pipe(
  v.string("invalid_type: Expected a date as a string, YYYY-MM-DD"),
  v.check(
    (date) => !/^\d{4}(?:-\d\d)?$/.test(date),
    "invalid_date: Expected a calendar day as YYYY-MM-DD: a year or month stands in publishing_dates, with role 01",
  ),
  Day,
);

/** The columns of `products` and the fields beside them, in the order of responses. */
// deno-fmt-ignore
export const SCALARS = {
  id: about("The id of the product.", assigned(Uuid), null),
  organization_id: about("The id of the organization that owns the product.", assigned(Uuid), null),
  product_code: about("The code of the product, unique in the organization. The service assigns it.", assigned(Code, heading()), null),
  created_at: about("The time at which the product was created.", time, null),
  updated_at: about("The time of the last change of the product.", time, null),
  title: about("The title, without the subtitle.", required(column(heading(500))),
    "TitleDetail[TitleType=01]/TitleElement[TitleElementLevel=01]/TitleText"),
  subtitle: about("The subtitle.", column(text()), "TitleDetail[TitleType=01]/TitleElement[TitleElementLevel=01]/Subtitle"),
  isbn13: about("The ISBN-13 of the product.", column(Isbn13, Isbn), "ProductIdentifier"),
  isbn10: about("The ISBN-10 of the product.", column(Isbn10, Isbn), "ProductIdentifier"),
  page_count: about("The number of pages.", column(PositiveInteger), PAGES),
  publication_date: about("The day on which the product is published.", column(PublicationDay), PUBLICATION_DATE),
  format_id: about("The id of the format, such as that of the paperbacks.",
    refers("formats", { filter: "Products in one of these formats.", isCounted: true }), null),
  title_id: about("The id of the parent title, which all editions of a book share.",
    refers("titles", { constraint: "products_parent_title", filter: "Products of one of these parent titles." }), null),
  publishing_status_id: about("The id of the publishing status, from `/publishing-statuses`.",
    refers("publishing_statuses", { filter: "Products with one of these publishing statuses.", isCounted: true }), "PublishingStatus"),
  product_availability_id: about("The id of the availability, from `/product-availabilities`. Supplies that had the same availability change with it.",
    refers("product_availabilities", {
      constraint: "products_availability", filter: "Products with one of these availabilities.", isCounted: true,
    }), "ProductAvailability"),
  lifecycle_status_id: about("The id of the stage in the publishing house, from `/lifecycle-statuses`.",
    refers("lifecycle_statuses", { filter: "Products with one of these lifecycle statuses.", isCounted: true }), null),
  license_id: about("The id of the license under which the product is published.",
    refers("licenses", { filter: "Products under one of these licenses." }), null),
  season_id: about("The id of the season in which the product is announced.",
    refers("seasons", { filter: "Products of one of these seasons." }), null),
  publisher_id: about("The id of the publisher.", refers("publishers", { filter: "Products of one of these publishers." }), "Publisher"),
  division_id: about("The id of the division of the publishing house.",
    refers("divisions", { filter: "Products of one of these divisions." }), null),
  imprint_id: about("The id of the imprint, the brand under which the product is published.",
    refers("imprints", { filter: "Products of one of these imprints." }), "Imprint"),
  series_id: about("The id of the series. It is one of the product's collections.",
    refers("collections", { filter: "Products of one of these series.", isSeries: true }), "Collection"),
  product_form_id: about(
    "The id of the product form, from `/product-forms`. Stored on the product's format and shared by all its products. " +
      "Without a format it has no effect.",
    refers("product_forms", { constraint: "formats_product_form", heldBy: "format_id" }), "ProductForm"),
  product_type: about("What the product is to the trade, such as a kit of several products.", column(oneOf(...PRODUCT_TYPES)), null),
  cover_image_url: about("The address of the image of the front cover. A change is one of the first link of the first front cover in `supporting_resources`, and the other way round.", column(HttpUrl),
    "SupportingResource[ResourceContentType=01,ResourceMode=03]/ResourceVersion/ResourceLink"),
  edition_number: about("The number of the edition: 2 for the second.", column(positiveInteger(999), v.pipe(v.number(), v.integer()))),
  edition_statement: about("The edition in words, as the book states it.", words),
  product_form_description: about("What the product form and its details leave unsaid about the physical or digital form, in words.",
    words),
  primary_content_type: about("What the product mainly contains, such as text to read or a recorded performance.", codeOf(81)),
  country_of_publication: about("The country where the product is published.", codeOf(91)),
  city_of_publication: about("The city where the product is published, as printed on the title page.", words),
  license_name: about("The name of the license.", shown("license_id", "name", { isAlwaysThere: true }), null),
  license_badge_colour: about("The colour of the badge that marks products under the license.",
    shown("license_id", "badge_colour", { isAlwaysThere: true }), null),
  season_name: about("The name of the season.", shown("season_id", "name"), null),
  publisher_name: about("The name of the publisher.", shown("publisher_id", "name")),
  division_name: about("The name of the division.", shown("division_id", "name"), null),
  imprint_name: about("The name of the imprint.", shown("imprint_id", "name")),
  series_name: about("The name of the series.", shown("series_id", "name"), "TitleText"),
  format_name: about("The name of the format.", shown("format_id", "name"), null),
  title_name: about("The name of the parent title.", shown("title_id", "name"), null),
  publishing_status_name: about("The name of the publishing status in ONIX List 64.", shown("publishing_status_id", "name"), null),
  publishing_status_code: about("The code of the publishing status in ONIX List 64.",
    shown("publishing_status_id", "code"), "PublishingStatus"),
  product_availability_name: about("The name of the availability in ONIX List 65.", shown("product_availability_id", "name"), null),
  product_availability_code: about("The code of the availability in ONIX List 65.",
    shown("product_availability_id", "code"), "ProductAvailability"),
  lifecycle_status_name: about("The name of the stage in the publishing house.", shown("lifecycle_status_id", "name"), null),
  lifecycle_status_code: about("The code of the stage in the publishing house.", shown("lifecycle_status_id", "code"), null),
  product_form_code: about("The code of the product form in ONIX List 150.", shown("product_form_id", "code"), "ProductForm"),
  collections: about("The collections that the product belongs to. Absent if there are none.",
    { kind: "linked", table: "collections", through: "product_collections", reference: "collection_id" }, "Collection"),
} satisfies Fields;

const TOO_EARLY = "invalid_date: Expected a date that is not before valid_from";

/** A period cannot end before it begins. */
const VALIDITY: Rule = {
  fields: ["valid_from", "valid_to"],
  check({ valid_from: from, valid_to: to }) {
    // Valid days, if the fields are set. A schema would make an issue of null.
    const isWrong = typeof from === "string" && typeof to === "string" &&
      from > to;
    return isWrong ? TOO_EARLY : undefined;
  },
  constraint: { name: "validity", message: TOO_EARLY },
};

/** The days on which a price is valid, with their paths in ONIX. */
// deno-fmt-ignore
export const PERIOD = {
  valid_from: about("The first day on which the price is valid.", day, "PriceDate[PriceDateRole=14]/Date"),
  valid_to: about("The last day on which the price is valid.", day, "PriceDate[PriceDateRole=15]/Date"),
};

const FieldValue = v.union(
  [text(), v.number(), v.boolean(), ExactNumber],
  ({ input }) =>
    JSON.isRawJSON(input)
      ? withHint("inexact_number: This number cannot be stored exactly", "send it as a string")
      : "invalid_type: Expected a string, a number, a boolean or null",
);

const Audiences = v.pipe(
  v.array(
    v.unknown(),
    "invalid_type: Expected an array of codes of ONIX List 154",
  ),
  v.maxLength(50, "too_many: At most 50 codes"),
  v.array(code(154)),
  v.description("Codes of ONIX List 154."),
);

const Year = v.pipe(
  v.string("invalid_type: Expected a year as a string"),
  v.regex(/^\d{4}$/, "invalid_year: Expected a year of four digits"),
);

const LongProse = text(100_000);

/** The types of collateral (ONIX block 2). */
// deno-fmt-ignore
const COLLATERAL = {
  text_content: {
    type: "TextContent", element: "TextContent", same: ["text_type", "language"],
    apart: ["content_audience", "source_title", "text"],
    together: ["text_author", "text_source_corporate", "text_source_description", "source_title"],
    describes: {
      text_source_corporate: ["source_title"],
      text_source_description: ["text_author", "text_source_corporate", "source_title"],
    },
    fields: {
      text: about("The text itself.", required(column(heading(100_000)))),
      text_type: about("The kind of text, such as a description or a review.", column(code(153))),
      content_audience: about("The readers that the text is written for.", column(Audiences)),
      text_format: about("The markup of the text.", column(code(34)), "Text/@textformat"),
      text_author: about("The author of the text.", column(text())),
      text_source_corporate: about("The organization that the text is by, such as a newspaper or a reading group.", column(text())),
      text_source_description: about("What the author or the organization is, in words.", column(LongProse)),
      source_title: about("The publication that the text is taken from.", column(text())),
      language: about("The language of the text.", column(code(74)), "Text/@language"),
    },
  },
  cited_content: {
    type: "CitedContent", element: "CitedContent", same: ["source_title"],
    apart: ["cited_content_type", "publication_date", "content_audience", "resource_link", "citation_note"],
    fields: {
      source_title: about("The publication or programme that is cited.", required(column(heading()))),
      cited_content_type: about("The kind of content, such as a review.", column(code(156))),
      citation_note: about("A note on what is cited, such as its author.", column(LongProse)),
      resource_link: about("The address of the content.", column(HttpUrl)),
      publication_date: about("The day on which the content was published.", day, "ContentDate[ContentDateRole=01]/Date"),
      content_audience: about("The readers that the citation is meant for.", column(Audiences)),
    },
  },
  award: {
    type: "Award", element: "Prize", same: ["prize_name"], apart: ["prize_year", "prize_country"],
    fields: {
      prize_name: about("The name of the prize or award.", required(column(heading()))),
      prize_year: about("The year of the award.", column(Year)),
      prize_country: about("The country in which the prize is given.", column(code(91))),
      prize_code: about("What the product achieved, such as the shortlist.", column(code(41))),
      prize_statement: about("The award in words, as they are to be shown.", column(LongProse)),
      prize_jury: about("The members of the jury.", column(LongProse)),
    },
  },
};

/** A country. Since ONIX 3, the rest of the world (`ROW`) is none. */
const Country = v.pipe(
  code(91),
  v.check((code) => code !== ROW, `invalid_code: ${expectedCode(91, ROW)}`),
);

// deno-fmt-ignore
const TERRITORY = {
  countries_included: about("The countries that belong to it.", codesOf(91, Country)),
  countries_excluded: about("The countries that are taken out of the included regions.", codesOf(91, Country)),
  regions_included: about("The regions that belong to it, such as `WORLD`.", codesOf(49)),
  regions_excluded: about("The regions that are taken out of the included countries or regions.", codesOf(49)),
};

/** A code cannot be both included and excluded. */
function notOnBothSides(included: string, excluded: string): Rule {
  return {
    fields: [included, excluded],
    check(territory) {
      const codes = new Set(codesAmong(territory[included]));
      const both = codesAmong(territory[excluded]).find((code) => codes.has(code));
      if (both === undefined) return;
      return `contradictory: ${printable(both)} is in ${included}, too`;
    },
  };
}

/** Excluded countries or regions need an included area that contains them. */
const INCLUDES: Rule = {
  fields: [
    "countries_excluded",
    "regions_included",
    "regions_excluded",
    "countries_included",
  ],
  check: ({ countries_included, regions_included, ...excluded }) =>
    isEmptyTerritory({ countries_included, regions_included }) &&
      !isEmptyTerritory(excluded)
      ? "required: A territory with exclusions includes at least one country or region"
      : undefined,
};

function codesAmong(list: unknown): unknown[] {
  return Array.isArray(list) ? list.filter((code) => typeof code === "string") : [];
}

/** Whether all lists of a territory are empty. */
function isEmptyTerritory(territory: object): boolean {
  return Object.values(territory).flat().length === 0;
}

/** The territory in which something may be sold. */
const territory = group(TERRITORY, {
  type: "Territory",
  rules: [
    notOnBothSides("countries_included", "countries_excluded"),
    notOnBothSides("regions_included", "regions_excluded"),
    INCLUDES,
  ],
});

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
    if (is_rest_of_world === true && territory !== null) {
      return withHint("unexpected_territory: The rest of the world has no territory", "send null");
    }
    if (
      is_rest_of_world === false &&
      (territory === null || isObject(territory) && isEmptyTerritory(territory))
    ) {
      return "required: A territory is required, except for the rest of the world";
    }
  },
};

/** A market needs a territory. Without one it would cover the full world. */
const SOMEWHERE: Rule = {
  fields: ["territory"],
  check: ({ territory }) =>
    territory === undefined ||
      isObject(territory) && isEmptyTerritory(territory)
      ? "required: A market includes at least one country or region"
      : undefined,
};

/** An amount needs a currency. An amount of 0 may do without, as in ONIX. */
const IN_CURRENCY: Rule = {
  fields: ["price_amount", "currency_code"],
  check({ price_amount = null, currency_code }) {
    if (price_amount === null || typeof currency_code === "string") return;
    return currency_code === null && isZero(price_amount)
      ? undefined
      : "required: A price with an amount has a currency: only one of 0 may have null";
  },
};

/** Only one sales right covers the rest of the world. */
const ONE_WORLD: Distinct = {
  fields: ["is_rest_of_world"],
  keyOf: ({ is_rest_of_world }) => is_rest_of_world === true ? "world" : undefined,
};

/** The limits of the arrays of codes in `SCALARS`. */
const DISTINCT_CODES = { max: 50, isDistinct: true };

/** The ISBNs of a product have fields of their own. */
const ISBN_ELSEWHERE: Rule = {
  fields: ["id_value", "product_id_type"],
  check(entry) {
    const field = isbnFieldOf(entry.product_id_type, entry.id_value);
    return field && `use_isbn: Send this ISBN as ${field} of the product`;
  },
};

/** The ISBNs of other products are checked here. */
const ISBN_CHECKED: Rule = {
  fields: ["product_id_type", "id_value"],
  check(entry) {
    const { product_id_type: type, id_value: value } = entry;
    const field = isbnFieldOf(type, value);
    if (!field || typeof value !== "string" || isMissing(value)) return;
    return v.safeParse(ISBNS[field], value).issues?.[0].message;
  },
};

const ISBNS = { isbn13: Isbn13, isbn10: Isbn10 };

/** Removes hyphens and spaces from the ISBN of an identifier. */
function withBareValue(entry: Record<string, unknown>) {
  const { product_id_type: type, id_value: value } = entry;
  return isbnFieldOf(type, value) ? { ...entry, id_value: bareIsbn(value as string) } : entry;
}

const PROPRIETARY_SCHEME = neededFor(
  "subject_scheme_name",
  "subject_scheme_identifier",
  "23",
  "24",
);

const CODE_OR_HEADING: Rule = {
  fields: ["subject_heading_text", "subject_code"],
  check: ({ subject_code, subject_heading_text }) =>
    isMissing(subject_code) && isMissing(subject_heading_text)
      ? "required: A subject has a code or a heading"
      : undefined,
};

/** The subject schemes whose codes are free text: keywords and proprietary codes. */
const FREELY_WRITTEN: readonly unknown[] = ["20", "23", "24"];

const ONE_CODE: Rule = {
  fields: ["subject_scheme_identifier", "subject_code"],
  check: ({ subject_scheme_identifier: scheme, subject_code: code }) =>
    typeof code === "string" && !FREELY_WRITTEN.includes(scheme) &&
      /[;,]|\S\s+\S/.test(code)
      ? withHint(
        "invalid_code: Expected one code, without white space, ; and ,",
        "send each code as an entry of its own",
      )
      : undefined,
};

/** A scheme has one main subject. Proprietary schemes differ by their names. */
const MAIN_SUBJECT: Distinct = {
  fields: [
    "main_subject",
    "subject_scheme_identifier",
    "subject_scheme_name",
  ],
  keyOf({
    main_subject,
    subject_scheme_identifier: scheme,
    subject_scheme_name: name,
  }) {
    if (main_subject !== true) return;
    return scheme === "23" || scheme === "24" ? `${scheme} ${name}` : `${scheme}`;
  },
};

/** Returns a rule that refuses entries whose codes belong to another field, at the last code. */
function elsewhere(
  place: string,
  message: string,
  valueField: string,
  belongsThere: (value: unknown) => boolean,
): Rule {
  const codes = Array.from(
    place.matchAll(/\b(\w+)=(\w+)/g),
    ([, element, code]) => [snake(element!), code!] as const,
  );
  return {
    fields: [valueField, ...codes.map(([field]) => field).toReversed()],
    check: (entry) =>
      codes.every(([field, code]) => entry[field] === code) &&
        belongsThere(entry[valueField])
        ? message
        : undefined,
  };
}

const PAGES_ELSEWHERE = elsewhere(
  PAGES,
  "use_page_count: Send the number of pages as page_count of the product",
  "extent_value",
  (value) => !isMissing(value),
);

const PUBLICATION_ELSEWHERE = elsewhere(
  PUBLICATION_DATE,
  "use_publication_date: Send the day of publication as publication_date of the product",
  "date",
  (date) => String(date).length === 10,
);

const PROPRIETARY_AUDIENCE = onlyFor(
  "audience_code_type_name",
  "audience_code_type",
  "02",
);

const ONIX_AUDIENCE: Rule = {
  fields: ["audience_code_type", "audience_code_value"],
  check({ audience_code_type: type, audience_code_value: value }) {
    if (type !== "01" || typeof value !== "string" || isMissing(value)) return;
    return v.safeParse(code(28), value).issues?.[0].message;
  },
};

const EXACT_OR_RANGE: Rule = {
  fields: ["audience_range_from", "audience_range_to", "audience_range_exact"],
  check({
    audience_range_exact: exact,
    audience_range_from: from,
    audience_range_to: to,
  }) {
    const isRange = !isMissing(from) || !isMissing(to);
    if (isMissing(exact)) {
      return isRange
        ? undefined
        : "required: A range has an exact value, a lowest or a highest one";
    }
    return isRange
      ? "unexpected_range: An exact value has no lowest or highest one beside it"
      : undefined;
  },
};

/** The lists of the values of features, by type (notes of List 79). Values of other types are texts. */
const FEATURE_LISTS: Readonly<Record<string, OnixList>> = {
  "01": 98,
  "02": 98,
  "04": 99,
  "06": 176,
  "09": 196,
  "12": 143,
  "13": 184,
  "19": 242,
  "26": 98,
  "27": 98,
  "55": 98,
  "57": 98,
  "58": 98,
  "59": 98,
};

const CODE_OF_FEATURE: Rule = {
  fields: ["product_form_feature_type", "product_form_feature_value"],
  check({ product_form_feature_type: type, product_form_feature_value: value }) {
    const list = FEATURE_LISTS[type as string];
    if (list === undefined || isMissing(value)) return;
    return v.safeParse(code(list), value).issues?.[0].message;
  },
};

const VALUE_OR_DESCRIPTION: Rule = {
  fields: ["product_form_feature_descriptions", "product_form_feature_value"],
  check: ({ product_form_feature_descriptions: texts, product_form_feature_value: value }) =>
    isMissing(value) && !(Array.isArray(texts) && texts.length > 0)
      ? "required: A feature has a value or a description"
      : undefined,
};

/** The fields of a feature of a resource. */
// deno-fmt-ignore
const FEATURE = {
  feature_value: about("The fact as a code or a number.", words),
  feature_note: about("The fact in words.", words),
};

/** The arrays of a product, in the order of responses. */
// deno-fmt-ignore
export const ARRAYS = {
  product_prices: about("The prices of the product, by currency and period. In ONIX, they go out only while the product has no `supply_details`, whose prices go out instead.", rows("product_prices", {
    currency_code: about("The currency of the price.", required(column(code(96)))),
    retail_price: about("The price for readers, without tax.", amount, "PriceAmount"),
    retail_price_inc_tax: about("The price for readers, with tax.", amount, "PriceAmount"),
    list_price: about("The price in the publisher's list.", amount, null),
    tax_rate: about("The rate of the tax.", percent, "TaxRatePercent"),
    is_default: about("Whether this is the price to show first.", isTrueOrNull, null),
    ...PERIOD,
  }, { put: "patch", naturalKey: ["currency_code", "valid_from"], type: "Price", rules: [VALIDITY] }), "Price"),

  packing_configurations: about("The units in which the product is packed.", rows("packing_configurations", {
    unit_of_measure: about("The unit: an inner carton, an outer carton or a pallet.",
      required(column(oneOf("inner", "outer", "pallet"))), null),
    quantity: about("The number of products in one such pack.", count, null),
    gtin: about("The number that identifies the pack itself in trade, a GTIN.", column(Gtin), null),
  }, { put: "patch", naturalKey: ["unit_of_measure"], type: "PackingConfiguration" }), null),

  contributors: about("The people and organizations that made the book, in the order of the title page.", rows("product_contributors", {
    contributor_id: about("The id of the contributor.",
      required(refers("contributors", { filter: "Products with one of these contributors." })), null),
    contributor_role_id: about("The id of the contributor's role, from `/contributor-roles`.",
      required(refers("contributor_roles", { constraint: "product_contributors_role" })), "ContributorRole"),
    contributor_name: about("The name of the contributor.", shown("contributor_id", "name"), "PersonName"),
    contributor_role_name: about("The name of the role in ONIX List 17.", shown("contributor_role_id", "name"), null),
    contributor_role_code: about("The code of the role in ONIX List 17.", shown("contributor_role_id", "code"), "ContributorRole"),
  }, {
    put: "link", key: ["contributor_id", "contributor_role_id"], type: "Contributor",
    example: '{"contributor_name": "Jane Austen", "contributor_role_code": "A01"}',
  }), "Contributor"),

  product_collections: about("The links to the collections that the product belongs to.", rows("product_collections", {
    collection_id: about("The id of the collection.",
      required(refers("collections", { filter: "Products in one of these collections." })), null),
    part_number: about("The place of the product in the collection, such as 3, III or 2A.", column(text(50))),
    collection_name: about("The name of the collection.", shown("collection_id", "name"), "TitleText"),
  }, { put: "link", key: ["collection_id"], type: "ProductCollection", inLists: "none" }), "Collection"),

  custom_fields: about("The values of the organization's own fields.", rows("custom_field_values", {
    field_id: about("The id of the custom field.", required(refers("custom_fields")), null),
    field_value: about("The value of the field.",
      required(column(v.nullable(FieldValue), v.nullable(v.union([v.string(), v.number(), v.boolean()])))), null),
    field_name: about("The name of the custom field.", shown("field_id", "name"), null),
  }, { put: "link", key: ["field_id"], type: "CustomField" }), null),

  collateral: about("The texts, citations and awards that promote the product.", rows("collateral", {
    collateral_type: about("The type of the entry, which decides its other fields.",
      required(column(oneOf(...Object.keys(COLLATERAL)))), null),
  }, { put: "replace", naturalKey: ["collateral_type"], types: COLLATERAL }), "CollateralDetail"),

  languages: about("The languages of the book, such as that of the text and that of the original.", values({
    language_role: about("What is in the language, such as the text or the original.", required(codeOf(22))),
    language_code: about("The language.", required(codeOf(74))),
    country_code: about("The country whose variety of the language it is.", codeOf(91)),
    script_code: about("The script that it is written in.", codeOf(121)),
  }, { type: "Language", example: '{"language_role": "01", "language_code": "eng"}' }), "Language"),

  product_form_details: about("Details of the form, such as the binding, the size or the file format.",
    listOfCodes(175, DISTINCT_CODES), "ProductFormDetail"),

  product_form_features: about("Features of the form: accessibility of an e-book, colours, safety warnings, origin of the paper.", values({
    product_form_feature_type: about("What the feature is about, such as accessibility (09).", required(codeOf(79))),
    product_form_feature_value: about("The feature as a code of the list that the type names, such as List 196 for accessibility, else as a text.", words),
    product_form_feature_descriptions: about("The feature in words, or details of it.",
      listOf(heading(2000), { max: 100 }), "ProductFormFeatureDescription"),
  }, {
    type: "ProductFormFeature", example: '{"product_form_feature_type": "09", "product_form_feature_value": "14"}',
    same: ["product_form_feature_type", "product_form_feature_value"],
    rules: [CODE_OF_FEATURE, VALUE_OR_DESCRIPTION], distinct: [distinctBy("product_form_feature_type", "product_form_feature_value")],
  }), "ProductFormFeature"),

  edition_types: about("What sets this edition apart, such as abridged or large print.", listOfCodes(21, DISTINCT_CODES), "EditionType"),

  epub_technical_protections: about("How a digital product is protected against copying, or that it is not.",
    listOfCodes(144, DISTINCT_CODES), "EpubTechnicalProtection"),

  product_identifiers: about("The numbers that identify the product besides its ISBNs, such as a DOI or the publisher's own.",
    identifiers("ProductIdentifier", "product_id_type", 5, { rules: [ISBN_ELSEWHERE] }), "ProductIdentifier"),

  subjects: about("What the product is about, as codes of subject schemes or in words.", values({
    main_subject: about("Whether this is the main subject in its scheme.", isTrueOrNull),
    subject_scheme_identifier: about("The scheme of the subject, such as Thema or BISAC.", required(codeOf(27))),
    subject_scheme_name: about("The name of the scheme, required for a proprietary one (codes 23 and 24).", words),
    subject_scheme_version: about("The version of the scheme.", words),
    subject_code: about("The code of the subject in its scheme: one code an entry.", words),
    subject_heading_text: about("The subject in words: a heading of the scheme, or keywords.", words),
  }, {
    type: "Subject", example: '{"subject_scheme_identifier": "93", "subject_code": "FBA"}', same: ["subject_scheme_identifier", "subject_scheme_name", "subject_code"],
    rules: [PROPRIETARY_SCHEME, CODE_OR_HEADING, ONE_CODE], distinct: [MAIN_SUBJECT],
  }), "Subject"),

  extents: about("How long the product is, such as its running time. `page_count` is the number of pages.", values({
    extent_type: about("What is counted, such as the duration or the pages of an original.", required(codeOf(23))),
    extent_value: about("The size in this unit.", required(column(ExtentValue, v.number()))),
    extent_unit: about("The unit, such as minutes or words.", required(codeOf(24))),
  }, { type: "Extent", rules: [PAGES_ELSEWHERE] }), "Extent"),

  measures: about("The dimensions and the weight of the product.", values({
    measure_type: about("What is measured, such as the height or the weight.", required(codeOf(48))),
    measurement: about("The measure in this unit.", required(column(Measurement, v.number()))),
    measure_unit_code: about("The unit, such as millimetres or grams.", required(codeOf(50))),
  }, { type: "Measure", distinct: [distinctBy("measure_type", "measure_unit_code")] }), "Measure"),

  audiences: about("For whom the product is.", values({
    audience_code_type: about("The list of the code: 01 for ONIX List 28.", required(codeOf(29))),
    audience_code_type_name: about("The name of a proprietary list, required for code 02 and only there.", words),
    audience_code_value: about("The audience as a code of that list.", required(column(heading()))),
  }, {
    type: "Audience", same: ["audience_code_type", "audience_code_type_name"], rules: [PROPRIETARY_AUDIENCE, ONIX_AUDIENCE],
  }), "Audience"),

  audience_ranges: about(
    "The ages, grades or reading levels for which the product is: one exact value, or a range that may be open at one end.", values({
    audience_range_qualifier: about("What the values mean, such as ages in years or school grades.", required(codeOf(30))),
    audience_range_exact: about("The only value.", words, "AudienceRangeValue"),
    audience_range_from: about("The lowest value.", words, "AudienceRangeValue"),
    audience_range_to: about("The highest value.", words, "AudienceRangeValue"),
  }, { type: "AudienceRange", rules: [EXACT_OR_RANGE] }), "AudienceRange"),

  publishing_dates: about("The dates of publishing events besides `publication_date`, such as an embargo. Role 01 with a year or month announces the publication: it requires that `publication_date` is null, and is removed when that is set.", values({
    publishing_date_role: about("The event.", required(codeOf(163))),
    date: about("The date, whose day, or month and day, may be unknown: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`.", required(column(PartialDate))),
  }, { type: "PublishingDate", rules: [PUBLICATION_ELSEWHERE], distinct: [distinctBy("publishing_date_role")] }), "PublishingDate"),

  related_products: about("Other products and how they relate to this one, such as its ebook or the edition it replaces.", values({
    product_relation_codes: about("How the other product relates to this one.", required(listOfCodes(51)), "ProductRelationCode"),
    product_identifiers: about("The numbers that identify the other product.",
      required(identifiers("RelatedProductIdentifier", "product_id_type", 5, {
        rules: [ISBN_CHECKED], stored: withBareValue,
      })), "ProductIdentifier"),
  }, { type: "RelatedProduct", same: ["product_identifiers"] }), "RelatedProduct"),

  related_works: about("Works and how they relate to this product, such as the work of which it is a manifestation.", values({
    work_relation_code: about("How the work relates to this product.", required(codeOf(164))),
    work_identifiers: about("The numbers that identify the work.",
      required(identifiers("WorkIdentifier", "work_id_type", 16, { distinct: [] })), "WorkIdentifier"),
  }, { type: "RelatedWork", same: ["work_relation_code", "work_identifiers"] }), "RelatedWork"),

  supporting_resources: about("Files that help to sell the product, such as covers, samples and trailers.", values({
    resource_content_type: about("What the resource is, such as a front cover or an excerpt.", required(codeOf(158))),
    content_audience: about("For whom the resource is.", required(listOfCodes(154))),
    resource_mode: about("How the resource is perceived, such as a still image or audio.", required(codeOf(159))),
    resource_features: about("Further facts about the resource, such as its credit or caption.", values({
      resource_feature_type: about("What the fact is about.", required(codeOf(160))),
      ...FEATURE,
    }, { type: "ResourceFeature" }), "ResourceFeature"),
    resource_versions: about("The forms in which the resource can be had.", required(values({
      resource_form: about("Whether to link to it, to download it or to embed it.", required(codeOf(161))),
      resource_version_features: about("Further facts about the file, such as its format or size.", values({
        resource_version_feature_type: about("What the fact is about.", required(codeOf(162))),
        ...FEATURE,
      }, { type: "ResourceVersionFeature" }), "ResourceVersionFeature"),
      resource_links: about("Where the file is.", required(listOf(HttpUrl)), "ResourceLink"),
    }, { type: "ResourceVersion" })), "ResourceVersion"),
  }, { type: "SupportingResource" }), "SupportingResource"),

  product_territories: about("The markets of the product, with its availability, suppliers and prices there.", rows("product_territories", {
    market_reference: about("A name for the markets, by which a partial ONIX update replaces them. ONIX wants it unique in the product: a second entry with it goes out without.", words),
    exclusivity: about("Whether the product is sold in these markets exclusively.",
      column(Exclusivity, Exclusivity, { fallback: "unknown" }), null),
    markets: about("The markets that share the supply below.", rows("territory_markets", {
      name: about("The name of the market.", words, null),
      territory: about("Where the market is.", territory),
    }, { put: "tree", type: "Market", same: ["territory"], rules: [SOMEWHERE] }), "Market"),
    market_publishing_detail: about("The publishing status of the product in these markets.", group({
      market_publishing_status: about("The publishing status in these markets.", labelled(68)),
      market_dates: about("The dates of the product in these markets.", rows("market_dates", {
        market_date_role: about("What happens on the day.", required(labelled(163))),
        date: about("The day.", required(day)),
      }, { put: "tree", isIdHidden: true }), "MarketDate"),
    }, { type: "MarketPublishingDetail" })),
    supply_details: about("Who supplies the product in these markets, and on which terms.", rows("supply_details", {
      supplier: about("The supplier.", group({
        supplier_role: about("The supplier's part in the trade.", labelled(93)),
        supplier_name: about("The name of the supplier.", words),
        supplier_identifiers: about("The numbers that identify the supplier, such as its GLN.",
          identifiers("SupplierIdentifier", "supplier_id_type", 92), "SupplierIdentifier"),
      })),
      product_availability: about("The availability from this supplier.", labelled(65)),
      supply_dates: about("The dates of the supply.", rows("supply_dates", {
        supply_date_role: about("What happens on the day.", required(labelled(166))),
        date: about("The day.", required(day)),
      }, { put: "tree", isIdHidden: true }), "SupplyDate"),
      order_time: about("The number of days from the receipt of an order to its dispatch.", count),
      pack_quantity: about("The number of copies in a carton.", count),
      unpriced_item_type: about("Why the product has no price.", codeOf(57)),
      prices: about("The prices from this supplier.", rows("supply_prices", {
        price_type: about("The kind of price, such as a recommended one with tax.", labelled(58)),
        price_amount: about("The price.", amount),
        currency_code: about("The currency of the price.", codeOf(96)),
        price_status: about("Whether the price is provisional or firm.", codeOf(61)),
        minimum_order_quantity: about("The number of copies from which the price is valid.", count),
        ...PERIOD,
        price_qualifier: about("For whom or for what use the price is, such as consumers or libraries.", labelled(59)),
        territory: about("Where the price is valid.", territory),
        taxes: about("The taxes in the price.", rows("supply_price_taxes", {
          tax_type: about("The kind of tax.", codeOf(171)),
          tax_rate_code: about("The rate as a code, such as that of the reduced rate.", codeOf(62)),
          tax_rate_percent: about("The rate.", percent),
          taxable_amount: about("The part of the price that the tax applies to.", amount),
          tax_amount: about("The tax itself.", amount),
        }, { put: "tree", isIdHidden: true, type: "Tax", same: ["tax_type"] }), "Tax"),
      }, {
        put: "tree", link: "supply_price_id", type: "SupplyPrice", rules: [VALIDITY, IN_CURRENCY],
        same: ["price_type", "currency_code", "territory", "price_qualifier"],
        apart: ["valid_from", "valid_to", "minimum_order_quantity"],
        together: ["price_amount", "currency_code", "taxes"],
      }), "Price"),
    }, { put: "tree", link: "supply_detail_id", type: "SupplyDetail", keepsRest: true,
      same: ["supplier.supplier_role", "supplier.supplier_name"], apart: ["supplier.supplier_identifiers"] }), "SupplyDetail"),
  }, {
    put: "tree",
    link: "territory_id",
    type: "ProductTerritory",
    same: ["market_reference", "markets"],
    keepsRest: true,
    path: "territories",
    inLists: ["market_reference", "exclusivity", "markets"],
  }), "ProductSupply"),

  product_sales_rights: about("Where the organization may sell the product, and where it may not.", rows("product_sales_rights", {
    sales_rights_type: about("Whether the product is for sale in the territory, and exclusively.", required(labelled(46))),
    for_sale: about("Whether the type says that the product is for sale.", derived("sales_rights_type", ["01", "02", "07", "08"]), null),
    exclusive: about("Whether the type says that the rights are exclusive. Null if it does not say.",
      derived("sales_rights_type", ["01", "04", "07"], ["02", "05", "08"]), null),
    is_rest_of_world: about("Whether the right covers the rest of the world: one at most, without a territory.", isTrue, "ROWSalesRightsType"),
    territory: about("Where the right applies. Null for the rest of the world.", { ...territory, unless: "is_rest_of_world" }),
    publisher_name: about("The publisher who has the rights in the territory.", words),
  }, { put: "tree", type: "SalesRights", path: "sales-rights", same: ["sales_rights_type", "territory"],
    rules: [WORLD], distinct: [ONE_WORLD] }), "SalesRights"),
} satisfies Fields;

/** The name of an array of a product. */
export type ArrayName = keyof typeof ARRAYS;

/** The fields of a product by name, as bodies have them. */
export const FIELDS: Fields = { ...SCALARS, ...ARRAYS };

/** The pairs of fields with the same content. A body that changes one of a pair changes the other too. */
export const MIRRORED_FIELDS = [
  ["cover_image_url", "supporting_resources"],
  ["product_availability_id", "product_territories"],
] as const;

/** The arrays that are rows of tables below products. */
export const ROWS = Object.entries<ArrayField>(ARRAYS).flatMap(
  ([name, array]): [ArrayName, Rows][] => array.kind === "rows" ? [[name as ArrayName, array]] : [],
);

/** The arrays that lists can include, with the fields that lists show. */
export const LISTED: Readonly<Partial<Record<ArrayName, ArrayField>>> = Object
  .fromEntries(
    Object.entries<ArrayField>(ARRAYS).flatMap(([name, array]) => {
      if (array.kind !== "rows" || !array.inLists) return [[name, array]];
      const { inLists } = array;
      if (inLists === "none") return [];
      const shown = inLists.map((field) => [field, array.fields[field]!]);
      const type = `Listed${array.type}`;
      return [[name, { ...array, type, fields: Object.fromEntries(shown) }]];
    }),
  );

/** Whether a resource is an image of the front cover, which `cover_image_url` names. */
export function isFrontCover(
  { resource_content_type, resource_mode }: Readonly<Record<string, unknown>>,
): boolean {
  return resource_content_type === "01" && resource_mode === "03";
}
