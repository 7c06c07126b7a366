import { type App, idOfCode, type Organization } from "../app/harness.ts";

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
      { unit_of_measure: "outer" },
      { unit_of_measure: "inner" },
    ],
    contributors: [
      { contributor_id: org.contributor, contributor_role_id: reader },
      { contributor_id: org.contributor, contributor_role_id: author },
    ],
    product_collections: [
      { collection_id: org.series },
      { collection_id: org.collection },
    ],
    custom_fields: [{ field_id: org.customField, field_value: 12.5 }],
    collateral: [
      {
        collateral_type: "text_content",
        text: "Handsome, clever, and rich",
        text_type: "03",
        content_audience: ["00"],
        text_format: "06",
        text_author: "Jane Austen",
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
    ],
    languages: [
      {
        language_role: "01",
        language_code: "eng",
        country_code: "GB",
        script_code: "Latn",
      },
    ],
  };
}
