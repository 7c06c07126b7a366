import { boolean, date, integer, text, uuid } from "drizzle-orm/pg-core";
import { amount, below } from "./drizzle_columns.js";

const area = {
  countries_included: text().array(),
  countries_excluded: text().array(),
  regions_included: text().array(),
  regions_excluded: text().array(),
};

export const product_sales_rights = below("product_sales_rights", {
  sales_rights_type: text(),
  is_rest_of_world: boolean(),
  ...area,
  publisher_name: text(),
});

export const product_territories = below("product_territories", {
  market_reference: text(),
  exclusivity: text(),
  market_publishing_status: text(),
});

export const territory_markets = below("territory_markets", {
  territory_id: uuid(),
  name: text(),
  ...area,
});

export const market_dates = below("market_dates", {
  territory_id: uuid(),
  market_date_role: text(),
  date: date(),
});

export const supply_details = below("supply_details", {
  territory_id: uuid(),
  supplier_role: text(),
  supplier_name: text(),
  product_availability: text(),
  order_time: integer(),
  pack_quantity: integer(),
  unpriced_item_type: text(),
});

export const supply_dates = below("supply_dates", {
  supply_detail_id: uuid(),
  supply_date_role: text(),
  date: date(),
});

export const supply_prices = below("supply_prices", {
  supply_detail_id: uuid(),
  price_type: text(),
  price_amount: amount(),
  currency_code: text(),
  price_status: text(),
  minimum_order_quantity: integer(),
  valid_from: date(),
  valid_to: date(),
});

export const supply_price_taxes = below("supply_price_taxes", {
  supply_price_id: uuid(),
  tax_type: text(),
  tax_rate_code: text(),
  tax_rate_percent: amount(),
  taxable_amount: amount(),
  tax_amount: amount(),
});
