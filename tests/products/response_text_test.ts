import { assertEquals } from "@std/assert";
import { WRITTEN } from "../support/data/written.ts";
import { fullBody } from "../support/data/bodies.ts";
import { openApp } from "../support/app/harness.ts";
import { insertTree } from "../support/data/rights_tree.ts";

/*
 * Fields have the order of the specification (2.1), followed by arrays and trees.
 * Every test checks that the JSON is compact.
 */

Deno.test("The fields of a response", async ({ step: it }) => {
  await using app = await openApp();
  const org = await app.organization();
  const created = await org.post("/api/products", await fullBody(app, org));
  const { id } = created.body.data;
  const path = `/api/products/${id}`;

  await it("that a client writes have the order of the specification", () => {
    const specified = SPECIFIED.split(", ");

    assertEquals(
      WRITTEN.filter((field) => specified.includes(field)),
      specified,
    );
  });

  await it("have one order after POST /products", () => {
    const { data } = created.body;

    assertEquals(
      order(data),
      `${SUMMARY}, ${NESTED}, product_territories, product_sales_rights`,
    );
    assertEquals(data.collateral.slice(1).map(order), [CITED_CONTENT, AWARD]);
  });

  await insertTree(app, org, id);
  await app.sql`
    insert into product_sales_rights (organization_id, product_id, sales_rights_type)
    values (${org.id}, ${id}, '01')
  `;

  await it("have the same order in GET /products/{id}", async () => {
    const { body } = await org.get(path);

    assertEquals(order(body.data), `${SUMMARY}, ${NESTED}, ${RIGHTS}`);
  });

  await it("have the same order after PUT /products/{id}", async () => {
    const { body } = await org.put(path, { title: "Persuasion" });

    assertEquals(order(body.data), `${SUMMARY}, ${NESTED}, ${RIGHTS}`);
  });

  await it("have the same order in GET /products", async () => {
    const plain = await org.get("/api/products");
    const whole = await org.get(
      "/api/products?include=product_territories,sales_rights",
    );

    assertEquals(order(plain.body.data), `[${SUMMARY}]`);
    assertEquals(
      order(whole.body.data),
      `[${SUMMARY}, ${SHALLOW_RIGHTS}]`,
    );
  });

  await it("are absent if their reference is not set", async () => {
    const { product } = await org.create({ title: "Emma" });

    assertEquals(order(product), `${ALWAYS}, ${EMPTY_ARRAYS}`);
  });
});

/** The names of the fields, including those of nested objects. */
function order(value: unknown): string {
  if (Array.isArray(value)) return `[${order(value[0])}]`;
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, value]) => {
      const inner = order(value);
      if (inner === "" || inner === "[]") return name;
      return Array.isArray(value) ? `${name} ${inner}` : `${name} {${inner}}`;
    })
    .join(", ");
}

const SPECIFIED = one`
  title, subtitle, isbn13, isbn10, page_count, publication_date, format_id,
  title_id, publishing_status_id, product_availability_id,
  lifecycle_status_id, license_id, season_id, publisher_id, division_id,
  imprint_id, series_id, product_form_id, product_type, cover_image_url
`;

const ALWAYS = one`
  id, organization_id, product_code, created_at, updated_at,
  ${WRITTEN.join(", ")},
  license_name, license_badge_colour
`;

const SUMMARY = one`
  ${ALWAYS},
  season_name, publisher_name, division_name, imprint_name, series_name,
  format_name, title_name, publishing_status_name, publishing_status_code,
  product_availability_name, product_availability_code, lifecycle_status_name,
  lifecycle_status_code, product_form_code,
  collections [id, name, collection_type]
`;

const NESTED = one`
  product_prices [id, currency_code, retail_price, retail_price_inc_tax, list_price, tax_rate, is_default, valid_from, valid_to],
  packing_configurations [id, unit_of_measure, quantity, gtin],
  contributors [contributor_id, contributor_role_id, contributor_name, contributor_role_name, contributor_role_code],
  product_collections [collection_id, part_number, collection_name],
  custom_fields [field_id, field_value, field_name],
  collateral [id, collateral_type, text, text_type, content_audience, text_format, text_author, source_title, language],
  languages [language_role, language_code, country_code, script_code],
  product_form_details, edition_types, epub_technical_protections,
  product_identifiers [product_id_type, id_type_name, id_value],
  subjects [main_subject, subject_scheme_identifier, subject_scheme_name, subject_scheme_version, subject_code, subject_heading_text],
  extents [extent_type, extent_value, extent_unit],
  measures [measure_type, measurement, measure_unit_code],
  audiences [audience_code_type, audience_code_type_name, audience_code_value],
  audience_ranges [audience_range_qualifier, audience_range_exact, audience_range_from, audience_range_to],
  publishing_dates [publishing_date_role, date],
  related_products [product_relation_codes, product_identifiers [product_id_type, id_type_name, id_value]],
  related_works [work_relation_code, work_identifiers [work_id_type, id_type_name, id_value]],
  supporting_resources [resource_content_type, content_audience, resource_mode,
  resource_features [resource_feature_type, feature_value, feature_note],
  resource_versions [resource_form,
  resource_version_features [resource_version_feature_type, feature_value, feature_note], resource_links]]
`;

const EMPTY_ARRAYS = one`
  product_prices, packing_configurations, contributors, product_collections,
  custom_fields, collateral, languages, product_form_details, edition_types,
  epub_technical_protections, product_identifiers, subjects, extents, measures,
  audiences, audience_ranges, publishing_dates, related_products,
  related_works, supporting_resources, product_territories,
  product_sales_rights
`;

const CITED_CONTENT = one`
  id, collateral_type, source_title, cited_content_type, citation_note,
  resource_link, publication_date, content_audience
`;

const AWARD = one`
  id, collateral_type, prize_name, prize_year, prize_country, prize_code,
  prize_statement, prize_jury
`;

const TERRITORY =
  "countries_included, countries_excluded, regions_included, regions_excluded";

const SHALLOW_TERRITORY = one`
  id, market_reference, exclusivity, markets [id, name, territory {${TERRITORY}}]
`;

const SALES_RIGHTS = one`
  product_sales_rights [id, sales_rights_type, sales_rights_type_label, for_sale, exclusive, is_rest_of_world, territory {${TERRITORY}}, publisher_name]
`;

const SHALLOW_RIGHTS = one`
  product_territories [${SHALLOW_TERRITORY}], ${SALES_RIGHTS}
`;

const RIGHTS = one`
  product_territories [${SHALLOW_TERRITORY},
  market_publishing_detail {market_publishing_status, market_publishing_status_label,
  market_dates [market_date_role, market_date_role_label, date]},
  supply_details [id, supplier {supplier_role, supplier_role_label, supplier_name},
  product_availability, product_availability_label,
  supply_dates [supply_date_role, supply_date_role_label, date],
  order_time, pack_quantity, unpriced_item_type,
  prices [id, price_type, price_type_label, price_amount, currency_code, price_status,
  minimum_order_quantity, valid_from, valid_to, price_qualifier, price_qualifier_label,
  territory {${TERRITORY}},
  taxes [tax_type, tax_rate_code, tax_rate_percent, taxable_amount, tax_amount]]]],
  ${SALES_RIGHTS}
`;

/** The text on one line. */
function one(template: TemplateStringsArray, ...values: string[]): string {
  return String.raw(template, ...values).trim().replaceAll(/\s+/g, " ");
}
