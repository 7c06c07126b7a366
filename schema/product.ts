import * as v from "valibot";
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
  type Distinct,
  distinctBy,
  type Fields,
  group,
  isTrue,
  isTrueOrNull,
  labelled,
  listOf,
  listOfCodes,
  measurement,
  percent,
  refers,
  required,
  type Rows,
  rows,
  type Rule,
  shown,
  time,
  values,
  words,
} from "./fields.ts";
import { code } from "./onix_codes.ts";
import { ExactNumber, positiveInteger, PositiveInteger } from "./numbers.ts";
import {
  bareIsbn,
  Day,
  described,
  Gtin,
  heading,
  HttpUrl,
  Isbn10,
  Isbn13,
  isIsbn13,
  oneOf,
  PartialDate,
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
  edition_number: about(
    "The number of the edition: 2 for the second.",
    column(positiveInteger(999), v.pipe(v.number(), v.integer())),
  ),
  edition_statement: about(
    "The edition in words, as the book states it.",
    words,
  ),
  product_form_description: about(
    "What the product form and its details leave unsaid about the physical or digital form, in words.",
    words,
  ),
  primary_content_type: about(
    "What the product mainly contains, such as text to read or a recorded performance.",
    codeOf(81),
  ),
  country_of_publication: about(
    "The country where the product is published.",
    codeOf(91),
  ),
  city_of_publication: about(
    "The city where the product is published, as printed on the title page.",
    words,
  ),
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
      language: about(
        "The language of the text. Texts that were stored before codes were required may show words.",
        column(code(74), v.string(), { formerly: text() }),
        null,
      ),
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

/** The limits of the arrays of codes beside the scalars. */
const CODES = { max: 50, isDistinct: true };

/** Whether a text is missing: absent, null or blank. */
function isMissing(text: unknown): boolean {
  return text === undefined || text === null ||
    typeof text === "string" && !/\S/.test(text);
}

/** A name that some codes need. */
function neededFor(name: string, codeField: string, ...codes: string[]): Rule {
  return {
    fields: [codeField, name],
    check: ({ [codeField]: code, [name]: value }) =>
      codes.includes(code as string) && isMissing(value)
        ? `required: The code ${code} of ${codeField} needs a name`
        : undefined,
  };
}

/** A name that one code needs, and no other may have. */
function onlyFor(name: string, codeField: string, only: string): Rule {
  const needed = neededFor(name, codeField, only);
  return {
    ...needed,
    check(entry) {
      const { [codeField]: code, [name]: value } = entry;
      const isOther = typeof code === "string" && code !== only;
      return isOther && value !== undefined && value !== null
        ? `unexpected_name: Only the code ${only} of ${codeField} has a name: omit it`
        : needed.check(entry);
    },
  };
}

const PRODUCT_IDENTIFIER = {
  product_id_type: about(
    "The type of the identifier.",
    required(codeOf(5)),
    "ProductIDType",
  ),
  id_type_name: about(
    "The name of a proprietary type, required for code 01 and only there.",
    words,
    "IDTypeName",
  ),
  id_value: about(
    "The identifier.",
    required(column(heading())),
    "IDValue",
  ),
};

const PROPRIETARY_PRODUCT_ID = onlyFor(
  "id_type_name",
  "product_id_type",
  "01",
);

/** An identifier of each type, and a proprietary one of each name. */
const PRODUCT_ID_TYPE = distinctBy("product_id_type", "id_type_name");

/** The field in which a product stores the ISBN of an identifier. */
function isbnField(
  { product_id_type: type, id_value: value }: Record<string, unknown>,
): "isbn13" | "isbn10" | undefined {
  if (type === "02") return "isbn10";
  if (type === "15") return "isbn13";
  const isIsbn = type === "03" && typeof value === "string" && isIsbn13(value);
  return isIsbn ? "isbn13" : undefined;
}

/** The ISBNs of a product have fields of their own. */
const ISBN_ELSEWHERE: Rule = {
  fields: ["id_value", "product_id_type"],
  check(entry) {
    const field = isbnField(entry);
    return field && `use_isbn: Send this ISBN as ${field} of the product`;
  },
};

/** The ISBNs of other products are checked here. */
const ISBN_CHECKED: Rule = {
  fields: ["product_id_type", "id_value"],
  check(entry) {
    const { id_value: value } = entry;
    const field = isbnField(entry);
    if (!field || typeof value !== "string" || isMissing(value)) return;
    return v.safeParse(ISBNS[field], value).issues?.[0].message;
  },
};

const ISBNS = { isbn13: Isbn13, isbn10: Isbn10 };

/** The same identifier, whose ISBN is without hyphens and spaces. */
function withBareIsbn(entry: Record<string, unknown>) {
  const { id_value: value } = entry;
  return isbnField(entry)
    ? { ...entry, id_value: bareIsbn(value as string) }
    : entry;
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

/** A scheme has one main subject. Proprietary schemes are told apart by their names. */
const MAIN_SUBJECT: Distinct = {
  field: "main_subject",
  keyOf({
    main_subject,
    subject_scheme_identifier: scheme,
    subject_scheme_name: name,
  }) {
    if (main_subject !== true) return;
    return scheme === "23" || scheme === "24"
      ? `${scheme} ${name}`
      : `${scheme}`;
  },
};

const PAGES_ELSEWHERE: Rule = {
  fields: ["extent_unit", "extent_type"],
  check: ({ extent_type, extent_unit }) =>
    extent_type === "00" && extent_unit === "03"
      ? "use_page_count: Send the number of pages as page_count of the product"
      : undefined,
};

const PUBLICATION_ELSEWHERE: Rule = {
  fields: ["publishing_date_role"],
  check: ({ publishing_date_role }) =>
    publishing_date_role === "01"
      ? "use_publication_date: Send this date as publication_date of the product"
      : undefined,
};

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

/** What a feature of a resource says. */
const FEATURE = {
  feature_value: about("The fact as a code or a number.", words),
  feature_note: about("The fact in words.", words),
};

/** The arrays of a product, in the order of responses. */
export const ARRAYS = {
  product_prices: rows("product_prices", {
    currency_code: required(column(code(96))),
    retail_price: amount,
    retail_price_inc_tax: amount,
    list_price: amount,
    tax_rate: percent,
    is_default: isTrueOrNull,
    valid_from: day,
    valid_to: day,
  }, {
    put: "patch",
    naturalKey: ["currency_code", "valid_from"],
    type: "Price",
    rules: [VALIDITY],
  }),

  packing_configurations: rows("packing_configurations", {
    unit_of_measure: required(column(oneOf("inner", "outer", "pallet"))),
    quantity: about("The number of products in one such pack.", count, null),
    gtin: about(
      "The number that identifies the pack itself in trade, a GTIN.",
      column(Gtin),
      null,
    ),
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
    part_number: about(
      "The place of the product in the collection, such as 3, III or 2A.",
      column(text(50), v.string()),
    ),
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

  product_form_details: about(
    "Details of the form, such as the binding, the size or the file format.",
    listOfCodes(175, CODES),
    "ProductFormDetail",
  ),

  edition_types: about(
    "What sets this edition apart, such as abridged or large print.",
    listOfCodes(21, CODES),
    "EditionType",
  ),

  epub_technical_protections: about(
    "How a digital product is protected against copying, or that it is not.",
    listOfCodes(144, CODES),
    "EpubTechnicalProtection",
  ),

  product_identifiers: about(
    "The numbers that identify the product besides its ISBNs, such as a DOI or the publisher's own.",
    values(PRODUCT_IDENTIFIER, {
      type: "ProductIdentifier",
      rules: [PROPRIETARY_PRODUCT_ID, ISBN_ELSEWHERE],
      distinct: [PRODUCT_ID_TYPE],
    }),
    "ProductIdentifier",
  ),

  subjects: about(
    "What the product is about, as codes of subject schemes or in words.",
    values({
      main_subject: about(
        "Whether this is the main subject in its scheme.",
        isTrueOrNull,
      ),
      subject_scheme_identifier: about(
        "The scheme of the subject, such as Thema or BISAC.",
        required(codeOf(27)),
      ),
      subject_scheme_name: about(
        "The name of the scheme, required for a proprietary one (codes 23 and 24).",
        words,
      ),
      subject_scheme_version: about("The version of the scheme.", words),
      subject_code: about("The code of the subject in its scheme.", words),
      subject_heading_text: about(
        "The subject in words: a heading of the scheme, or keywords.",
        words,
      ),
    }, {
      type: "Subject",
      rules: [PROPRIETARY_SCHEME, CODE_OR_HEADING],
      distinct: [MAIN_SUBJECT],
    }),
    "Subject",
  ),

  extents: about(
    "How long the product is, such as its running time. `page_count` is the number of pages.",
    values({
      extent_type: about(
        "What is counted, such as the duration or the pages of an original.",
        required(codeOf(23)),
      ),
      extent_value: about("The size in this unit.", required(measurement)),
      extent_unit: about(
        "The unit, such as minutes or words.",
        required(codeOf(24)),
      ),
    }, { type: "Extent", rules: [PAGES_ELSEWHERE] }),
    "Extent",
  ),

  measures: about(
    "The dimensions and the weight of the product.",
    values({
      measure_type: about(
        "What is measured, such as the height or the weight.",
        required(codeOf(48)),
      ),
      measurement: about("The measure in this unit.", required(measurement)),
      measure_unit_code: about(
        "The unit, such as millimetres or grams.",
        required(codeOf(50)),
      ),
    }, {
      type: "Measure",
      distinct: [distinctBy("measure_type", "measure_unit_code")],
    }),
    "Measure",
  ),

  audiences: about(
    "For whom the product is.",
    values({
      audience_code_type: about(
        "The list of the code: 01 for ONIX List 28.",
        required(codeOf(29)),
      ),
      audience_code_type_name: about(
        "The name of a proprietary list, required for code 02 and only there.",
        words,
      ),
      audience_code_value: about(
        "The audience as a code of that list.",
        required(column(heading())),
      ),
    }, {
      type: "Audience",
      rules: [PROPRIETARY_AUDIENCE, ONIX_AUDIENCE],
    }),
    "Audience",
  ),

  audience_ranges: about(
    "The ages, grades or reading levels for which the product is: one exact value, or a range that may be open at one end.",
    values({
      audience_range_qualifier: about(
        "What the values mean, such as ages in years or school grades.",
        required(codeOf(30)),
      ),
      audience_range_exact: about(
        "The only value.",
        words,
        "AudienceRangeValue",
      ),
      audience_range_from: about(
        "The lowest value.",
        words,
        "AudienceRangeValue",
      ),
      audience_range_to: about(
        "The highest value.",
        words,
        "AudienceRangeValue",
      ),
    }, { type: "AudienceRange", rules: [EXACT_OR_RANGE] }),
    "AudienceRange",
  ),

  publishing_dates: about(
    "The dates of publishing events besides `publication_date`, such as an embargo or the announcement.",
    values({
      publishing_date_role: about(
        "The event.",
        required(codeOf(163)),
      ),
      date: about(
        "The date, whose day, or month and day, may be unknown: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`.",
        required(column(PartialDate)),
      ),
    }, {
      type: "PublishingDate",
      rules: [PUBLICATION_ELSEWHERE],
      distinct: [distinctBy("publishing_date_role")],
    }),
    "PublishingDate",
  ),

  related_products: about(
    "Other products and how they relate to this one, such as its ebook or the edition it replaces.",
    values({
      product_relation_codes: about(
        "How the other product relates to this one.",
        required(listOfCodes(51)),
        "ProductRelationCode",
      ),
      product_identifiers: about(
        "The numbers that identify the other product.",
        required(values(PRODUCT_IDENTIFIER, {
          type: "RelatedProductIdentifier",
          rules: [PROPRIETARY_PRODUCT_ID, ISBN_CHECKED],
          distinct: [PRODUCT_ID_TYPE],
          stored: withBareIsbn,
        })),
        "ProductIdentifier",
      ),
    }, { type: "RelatedProduct" }),
    "RelatedProduct",
  ),

  related_works: about(
    "Works and how they relate to this product, such as the work of which it is a manifestation.",
    values({
      work_relation_code: about(
        "How the work relates to this product.",
        required(codeOf(164)),
      ),
      work_identifiers: about(
        "The numbers that identify the work.",
        required(values({
          work_id_type: about(
            "The type of the identifier.",
            required(codeOf(16)),
            "WorkIDType",
          ),
          id_type_name: about(
            "The name of a proprietary type, required for code 01 and only there.",
            words,
            "IDTypeName",
          ),
          id_value: about(
            "The identifier.",
            required(column(heading())),
            "IDValue",
          ),
        }, {
          type: "WorkIdentifier",
          rules: [onlyFor("id_type_name", "work_id_type", "01")],
        })),
        "WorkIdentifier",
      ),
    }, { type: "RelatedWork" }),
    "RelatedWork",
  ),

  supporting_resources: about(
    "Files that help to sell the product, such as covers, samples and trailers.",
    values({
      resource_content_type: about(
        "What the resource is, such as a front cover or an excerpt.",
        required(codeOf(158)),
      ),
      content_audience: about(
        "For whom the resource is.",
        required(listOfCodes(154)),
      ),
      resource_mode: about(
        "How the resource is perceived, such as a still image or audio.",
        required(codeOf(159)),
      ),
      resource_features: about(
        "Further facts about the resource, such as its credit or caption.",
        values({
          resource_feature_type: about(
            "What the fact is about.",
            required(codeOf(160)),
          ),
          ...FEATURE,
        }, { type: "ResourceFeature" }),
        "ResourceFeature",
      ),
      resource_versions: about(
        "The forms in which the resource can be had.",
        required(values({
          resource_form: about(
            "Whether to link to it, to download it or to embed it.",
            required(codeOf(161)),
          ),
          resource_version_features: about(
            "Further facts about the file, such as its format or size.",
            values({
              resource_version_feature_type: about(
                "What the fact is about.",
                required(codeOf(162)),
              ),
              ...FEATURE,
            }, { type: "ResourceVersionFeature" }),
            "ResourceVersionFeature",
          ),
          resource_links: about(
            "Where the file is.",
            required(listOf(HttpUrl)),
            "ResourceLink",
          ),
        }, { type: "ResourceVersion" })),
        "ResourceVersion",
      ),
    }, { type: "SupportingResource" }),
    "SupportingResource",
  ),

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
        price_qualifier: about(
          "For whom or for what use the price is, such as consumers or libraries.",
          labelled(59),
        ),
        territory: about("Where the price is valid.", territory),
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
        rules: [VALIDITY],
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
  }, { put: "tree", type: "SalesRights", path: "sales-rights", rules: [WORLD] }),
} satisfies Fields;

/** The name of an array of a product. */
export type ArrayName = keyof typeof ARRAYS;

/** The arrays that are rows of tables below products. */
export const ROWS = Object.entries<ArrayField>(ARRAYS).flatMap(
  ([name, array]): [ArrayName, Rows][] =>
    array.kind === "rows" ? [[name as ArrayName, array]] : [],
);

/** The arrays that lists can include, with the fields that lists show. */
export const LISTED: Readonly<Partial<Record<ArrayName, ArrayField>>> =
  Object.fromEntries(
    Object.entries<ArrayField>(ARRAYS).flatMap(([name, array]) => {
      if (array.kind !== "rows" || !array.inLists) return [[name, array]];
      const { inLists } = array;
      if (inLists === "none") return [];
      const shown = inLists.map((field) => [field, array.fields[field]!]);
      return [[name, { ...array, fields: Object.fromEntries(shown) }]];
    }),
  );
