import type { App } from "../app/harness.ts";
import { idOfCode, type Organization } from "../app/organization.ts";

/** An entry of collateral of each type, with a value in every field. */
export const COLLATERAL = [
  {
    collateral_type: "text_content",
    text: "Handsome, clever, and rich",
    text_type: "03",
    content_audience: ["00"],
    text_format: "06",
    text_author: "Jane Austen",
    text_source_corporate: "The Emma Society",
    text_source_description: "Its founder",
    source_title: "Emma",
    language: "eng",
  },
  {
    collateral_type: "cited_content",
    source_title: "The Times",
    cited_content_type: "01",
    citation_note: "On its first edition",
    resource_link: "https://times.example/emma",
    publication_date: "1816-03-01",
    content_audience: ["00"],
  },
  {
    collateral_type: "award",
    prize_name: "A prize",
    prize_year: "1816",
    prize_country: "GB",
    prize_code: "01",
    prize_statement: "For its heroine",
    prize_jury: "Readers",
  },
];

/** A body with a value in every field, in the form of responses, without nulls. */
export async function fullBody(app: App, org: Organization) {
  const author = await idOfCode(app, "contributor_roles", "A01");
  const reader = await idOfCode(app, "contributor_roles", "E07");
  return {
    title: "Emma",
    subtitle: "A novel",
    isbn13: "9780306406157",
    isbn10: "0306406152",
    page_count: 474,
    publication_date: "1815-12-23",
    format_id: org.format,
    title_id: org.title,
    publishing_status_id: await idOfCode(app, "publishing_statuses", "04"),
    product_availability_id: await idOfCode(
      app,
      "product_availabilities",
      "21",
    ),
    lifecycle_status_id: await idOfCode(app, "lifecycle_statuses", "active"),
    license_id: org.license,
    season_id: org.season,
    publisher_id: org.publisher,
    division_id: org.division,
    imprint_id: org.imprint,
    series_id: org.series,
    product_form_id: await idOfCode(app, "product_forms", "BC"),
    product_type: "normal",
    cover_image_url: "https://covers.example/emma.jpg",
    edition_number: 2,
    edition_statement: "Second edition, with notes",
    product_form_description: "With a ribbon",
    primary_content_type: "10",
    country_of_publication: "GB",
    city_of_publication: "London",
    product_prices: [
      {
        currency_code: "GBP",
        retail_price: 9.99,
        retail_price_inc_tax: 9.99,
        list_price: 10.5,
        tax_rate: 0,
        is_default: true,
        valid_from: "2026-01-01",
        valid_to: "2026-12-31",
      },
      {
        currency_code: "EUR",
        retail_price_inc_tax: 12.5,
        list_price: 999999999999.9999,
      },
    ],
    packing_configurations: [
      { unit_of_measure: "outer", quantity: 24, gtin: "10614141543219" },
      { unit_of_measure: "inner" },
    ],
    contributors: [
      { contributor_id: org.contributor, contributor_role_id: reader },
      { contributor_id: org.contributor, contributor_role_id: author },
    ],
    product_collections: [
      { collection_id: org.series, part_number: "III" },
      { collection_id: org.collection },
    ],
    custom_fields: [{ field_id: org.customField, field_value: 12.5 }],
    collateral: COLLATERAL,
    languages: [
      {
        language_role: "01",
        language_code: "eng",
        country_code: "GB",
        script_code: "Latn",
      },
    ],
    product_form_details: ["B504", "B104"],
    product_form_features: [
      {
        product_form_feature_type: "09",
        product_form_feature_value: "14",
        product_form_feature_descriptions: ["All images have alternative texts"],
      },
      {
        product_form_feature_type: "07",
        product_form_feature_value: null,
        product_form_feature_descriptions: ["A pen that reads aloud", "256 MB"],
      },
    ],
    edition_types: ["ANN"],
    epub_technical_protections: ["00", "02"],
    product_identifiers: [
      {
        product_id_type: "01",
        id_type_name: "Harbour number",
        id_value: "H 1815/3",
      },
      { product_id_type: "06", id_type_name: null, id_value: "10.1000/emma" },
    ],
    subjects: [
      {
        main_subject: true,
        subject_scheme_identifier: "93",
        subject_scheme_name: null,
        subject_scheme_version: "1.6",
        subject_code: "FBC",
        subject_heading_text: "Classic fiction",
      },
      {
        main_subject: false,
        subject_scheme_identifier: "23",
        subject_scheme_name: "Harbour shelves",
        subject_scheme_version: null,
        subject_code: "REGENCY",
        subject_heading_text: null,
      },
    ],
    extents: [{ extent_type: "09", extent_value: 930.5, extent_unit: "05" }],
    measures: [
      { measure_type: "01", measurement: 198, measure_unit_code: "mm" },
      { measure_type: "08", measurement: 0.3251, measure_unit_code: "kg" },
    ],
    audiences: [
      {
        audience_code_type: "02",
        audience_code_type_name: "Harbour readers",
        audience_code_value: "Regency",
      },
      {
        audience_code_type: "01",
        audience_code_type_name: null,
        audience_code_value: "01",
      },
    ],
    audience_ranges: [
      {
        audience_range_qualifier: "17",
        audience_range_exact: null,
        audience_range_from: "12",
        audience_range_to: "99",
      },
      {
        audience_range_qualifier: "11",
        audience_range_exact: "9",
        audience_range_from: null,
        audience_range_to: null,
      },
    ],
    publishing_dates: [
      { publishing_date_role: "11", date: "1815" },
      { publishing_date_role: "10", date: "2026-05" },
      { publishing_date_role: "02", date: "2026-06-30" },
    ],
    related_products: [
      {
        product_relation_codes: ["06", "13"],
        product_identifiers: [
          {
            product_id_type: "15",
            id_type_name: null,
            id_value: "9780141439587",
          },
          {
            product_id_type: "01",
            id_type_name: "Harbour number",
            id_value: "H 1815/4",
          },
        ],
      },
    ],
    related_works: [
      {
        work_relation_code: "01",
        work_identifiers: [
          {
            work_id_type: "01",
            id_type_name: "Harbour works",
            id_value: "EMMA",
          },
        ],
      },
    ],
    supporting_resources: [
      {
        resource_content_type: "01",
        content_audience: ["00"],
        resource_mode: "03",
        resource_features: [
          {
            resource_feature_type: "01",
            feature_value: "Harbour",
            feature_note: "The harbour at dawn",
          },
        ],
        resource_versions: [
          {
            resource_form: "02",
            resource_version_features: [
              {
                resource_version_feature_type: "01",
                feature_value: "D502",
                feature_note: "A JPEG",
              },
            ],
            resource_links: ["https://covers.example/emma-large.jpg"],
          },
        ],
      },
    ],
  };
}
