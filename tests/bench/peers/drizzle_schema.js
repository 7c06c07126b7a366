import {
  boolean,
  date,
  integer,
  jsonb,
  pgTable,
  smallint,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { amount, below, ofProduct } from "./drizzle_columns.js";

export * from "./drizzle_rights_schema.js";

/*
 * The service's tables for Drizzle, with the same column names. Columns that the
 * peers do not use are omitted.
 */

const own = { organization_id: uuid().notNull(), id: uuid().notNull() };
export const onix_codes = pgTable("onix_codes", {
  list: smallint(),
  code: text(),
  label: text(),
});

const codeList = (name) =>
  pgTable(name, { id: uuid().notNull(), code: text(), name: text() });

export const publishing_statuses = codeList("publishing_statuses");
export const product_availabilities = codeList("product_availabilities");
export const lifecycle_statuses = codeList("lifecycle_statuses");
export const contributor_roles = codeList("contributor_roles");

const named = (name, more = {}) =>
  pgTable(name, { ...own, name: text(), ...more });

export const licenses = named("licenses", { badge_colour: text() });
export const seasons = named("seasons");
export const publishers = named("publishers");
export const divisions = named("divisions");
export const imprints = named("imprints");
export const collections = named("collections", { collection_type: text() });
export const formats = named("formats", { product_form_id: uuid() });
export const titles = named("titles");
export const contributors = named("contributors");
export const custom_fields = named("custom_fields");

export const products = pgTable("products", {
  ...own,
  product_code: text(),
  title: text().notNull(),
  subtitle: text(),
  isbn13: text(),
  isbn10: text(),
  page_count: integer(),
  publication_date: date(),
  format_id: uuid(),
  title_id: uuid(),
  publishing_status_id: uuid(),
  product_availability_id: uuid(),
  lifecycle_status_id: uuid(),
  license_id: uuid(),
  season_id: uuid(),
  publisher_id: uuid(),
  division_id: uuid(),
  imprint_id: uuid(),
  series_id: uuid(),
  product_type: text(),
  cover_image_url: text(),
  created_at: timestamp({ withTimezone: true }),
  updated_at: timestamp({ withTimezone: true }),
});

export const product_prices = below("product_prices", {
  currency_code: text(),
  retail_price: amount(),
  retail_price_inc_tax: amount(),
  list_price: amount(),
  tax_rate: amount(),
  is_default: boolean(),
  valid_from: date(),
  valid_to: date(),
});

export const packing_configurations = below("packing_configurations", {
  unit_of_measure: text(),
});

export const product_contributors = pgTable("product_contributors", {
  ...ofProduct,
  contributor_id: uuid(),
  contributor_role_id: uuid(),
});

export const product_collections = pgTable("product_collections", {
  ...ofProduct,
  collection_id: uuid(),
});

export const custom_field_values = pgTable("custom_field_values", {
  ...ofProduct,
  field_id: uuid(),
  field_value: jsonb(),
});

export const collateral = below("collateral", {
  collateral_type: text(),
  text: text(),
  text_type: text(),
  content_audience: text().array(),
  text_format: text(),
  text_author: text(),
  source_title: text(),
  language: text(),
  cited_content_type: text(),
  citation_note: text(),
  resource_link: text(),
  publication_date: date(),
  prize_name: text(),
  prize_year: text(),
  prize_country: text(),
  prize_code: text(),
  prize_statement: text(),
  prize_jury: text(),
});
