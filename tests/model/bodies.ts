import { fc } from "../support/app/packages.ts";
import {
  entries,
  joined,
  records,
  seldom,
  some,
  type Values,
  values,
} from "./arbitraries.ts";
import { COLLATERAL, type Entry } from "./catalogue.ts";

/*
 * Bodies are generated before the organizations exist, so they refer to records
 * by name: "@mine.license", "@theirs.license", "@nobody",
 * "@contributor_roles.0", "@row.collateral.0" (a row of the updated product).
 * An invalid value is paired with its error code.
 */

const DAYS = values(
  ["2025-01-01", "2026-01-01", "2027-01-01", null],
  ["2026-02-30", "invalid_date"],
);

const AMOUNTS = values([0, 9.99, 12345678.9012, null], [-1, "invalid_amount"]);

const CURRENCY = values(["GBP", "EUR"], ["gbp", "invalid_code"]);

const PRICE = some({
  retail_price: AMOUNTS,
  list_price: AMOUNTS,
  tax_rate: values([0, 19.5, 100], [101, "invalid_percent"]),
  is_default: fc.boolean(),
  valid_from: DAYS,
  valid_to: DAYS,
});

const UNIT = values(["inner", "outer", "pallet"], ["box", "invalid_value"]);

const PACK = some({
  quantity: values([1, 24, null], [0, "out_of_range"]),
  gtin: values(["96385074", null], ["96385075", "invalid_gtin"]),
});

const TYPE = fc.constantFrom(...Object.keys(COLLATERAL));

const TEXT = values(["", "Handsome, clever, and rich", null]);

/** Values of the collateral fields that are not plain text. */
const SPECIAL: Record<string, Values> = {
  text_type: values(["02", "03", null], ["99", "invalid_code"]),
  content_audience: values([["00", "01"], [], null]),
  text_format: values(["06", null]),
  cited_content_type: values(["01", null]),
  resource_link: values(["https://x.example/", null], ["x", "invalid_url"]),
  publication_date: DAYS,
  prize_year: values(["1816", null], ["16", "invalid_year"]),
  prize_country: values(["GB", null]),
  prize_code: values(["01", null]),
  language: values(["eng", null], ["English", "invalid_code"]),
};

function fieldOf(type: string): fc.Arbitrary<Entry> {
  return fc.constantFrom(...COLLATERAL[type]!).chain((field) =>
    fc.record({ [field]: SPECIAL[field] ?? TEXT })
  );
}

const NEW_COLLATERAL = TYPE.chain((collateral_type) =>
  joined(
    fieldOf(collateral_type),
    fc.constant({ collateral_type, [COLLATERAL[collateral_type]![0]!]: "x" }),
  )
);

const CHANGED_COLLATERAL = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: TYPE.chain(fieldOf) },
  { weight: 1, arbitrary: fc.record({ collateral_type: TYPE }) },
);

/** An array of new and updated rows. */
function rows(
  array: string,
  created: fc.Arbitrary<Entry>,
  changed: fc.Arbitrary<Entry>,
) {
  const id = fc.constantFrom(0, 0, 0, 0, 1, 1, 2).map((i) =>
    `@row.${array}.${i}`
  );
  const existing = joined(fc.record({ id }), changed);
  return {
    create: fc.oneof(
      { weight: 60, arbitrary: entries(created, "id") },
      { weight: 1, arbitrary: entries(existing, "id") },
    ),
    update: entries(fc.oneof(created, existing), "id"),
  };
}

const ROWS = {
  product_prices: rows(
    "product_prices",
    joined(PRICE, fc.record({ currency_code: CURRENCY })),
    joined(PRICE, some({ currency_code: CURRENCY })),
  ),
  packing_configurations: rows(
    "packing_configurations",
    joined(fc.record({ unit_of_measure: UNIT }), PACK),
    joined(some({ unit_of_measure: UNIT }), PACK),
  ),
  collateral: rows("collateral", NEW_COLLATERAL, CHANGED_COLLATERAL),
};

const CONTRIBUTOR = fc.record({
  contributor_id: records("@mine.contributor", "@mine.contributor2"),
  contributor_role_id: records(
    "@contributor_roles.0",
    "@contributor_roles.1",
    "@contributor_roles.2",
  ),
});

const CUSTOM_FIELD = fc.record({
  field_id: records("@mine.customField", "@mine.customField2"),
  field_value: values(
    ["", "Shelf", 0, -1.5, 1e21, true, false, null],
    [[], "invalid_type"],
  ),
});

const LANGUAGE = joined(
  fc.record({
    language_role: values(["01", "02"], ["99", "invalid_code"]),
    language_code: values(["eng", "srp"]),
  }),
  some({ country_code: values(["GB", null], ["XX", "invalid_code"]) }),
);

const SUBJECT = fc.record({
  subject_scheme_identifier: values(["93", "10"], ["XX", "invalid_code"]),
  subject_code: values(["FBA", "FBC", "\u00fc"]),
});

const COLLECTIONS = entries(
  joined(
    fc.record({ collection_id: records("@mine.collection", "@mine.series") }),
    some({ part_number: values(["III", null]) }),
  ),
  "collection_id",
);

const SERIES = records("@mine.series", "@mine.collection", null);

/** Series and collections, mostly consistent. */
const ATTACHED: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: COLLECTIONS.map((product_collections) => ({
      product_collections,
      series_id: product_collections[0]?.collection_id ?? null,
    })),
  },
  { weight: 1, arbitrary: fc.record({ series_id: SERIES }) },
  { weight: 1, arbitrary: fc.record({ product_collections: COLLECTIONS }) },
);

const TITLE = values(
  ["Emma", "Persuasion", "Ünï 😀"],
  ["", "blank"],
  [null, "invalid_type"],
);

const FIELDS = {
  subtitle: TEXT,
  isbn13: values(["9780306406157", null], ["x", "invalid_isbn13"]),
  isbn10: values(["080442957X", null], ["x", "invalid_isbn10"]),
  page_count: values([1, 474, null], [0, "out_of_range"]),
  publication_date: DAYS,
  format_id: records("@mine.format", "@mine.format2", null),
  title_id: records("@mine.title", null),
  publishing_status_id: records(
    "@publishing_statuses.0",
    "@publishing_statuses.1",
    null,
  ),
  product_availability_id: records("@product_availabilities.0", null),
  lifecycle_status_id: records("@lifecycle_statuses.0", null),
  license_id: records("@mine.license", null),
  season_id: records("@mine.season", null),
  publisher_id: records("@mine.publisher", null),
  division_id: records("@mine.division", null),
  imprint_id: records("@mine.imprint", null),
  product_form_id: records("@product_forms.0", "@product_forms.1", null),
  product_type: values(["normal", "kit", null], ["book", "invalid_value"]),
  cover_image_url: values(["https://x.example/", null], ["x", "invalid_url"]),
  contributors: entries(CONTRIBUTOR, "contributor_id", "contributor_role_id"),
  custom_fields: entries(CUSTOM_FIELD, "field_id"),
  languages: fc.array(LANGUAGE, { maxLength: 4 }),
  subjects: fc.array(SUBJECT, { maxLength: 4 }),
  edition_number: values([1, 999, null], [1000, "out_of_range"]),
  country_of_publication: values(["GB", null], ["gb", "invalid_code"]),
  edition_types: values([[], ["ABR"], ["ABR", "LTE"]]),
  id: values(["ignored"]),
  license_badge_colour: values([1]),
};

/** Bodies of creates and updates, mostly valid. */
export function bodies(operation: "create" | "update"): fc.Arbitrary<Entry> {
  const title = fc.record({ title: TITLE });
  const arrays = Object.entries(ROWS)
    .map(([array, entries]) => [array, entries[operation]]);
  return joined(
    operation === "create" ? title : some({ title: TITLE }),
    some({ ...FIELDS, ...Object.fromEntries(arrays) }),
    ATTACHED,
    seldom({ shelf: { refused: 1, code: "unknown_field" } }),
  );
}
