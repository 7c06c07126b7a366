import { relations } from "drizzle-orm";
import * as t from "./drizzle_schema.js";

/** A record of the organization that a column refers to. */
function own(one, from, column, to) {
  return one(to, {
    fields: [from.organization_id, from[column]],
    references: [to.organization_id, to.id],
  });
}

/** An entry of a shared list. */
function code(one, from, column, to) {
  return one(to, { fields: [from[column]], references: [to.id] });
}

/** The parent of a nested row. */
function parent(one, from, to, ids) {
  return one(to, {
    fields: [from.organization_id, ...Object.keys(ids).map((id) => from[id])],
    references: [to.organization_id, ...Object.values(ids).map((id) => to[id])],
  });
}

export const products = relations(t.products, ({ one, many }) => ({
  license: own(one, t.products, "license_id", t.licenses),
  season: own(one, t.products, "season_id", t.seasons),
  publisher: own(one, t.products, "publisher_id", t.publishers),
  division: own(one, t.products, "division_id", t.divisions),
  imprint: own(one, t.products, "imprint_id", t.imprints),
  series: own(one, t.products, "series_id", t.collections),
  format: own(one, t.products, "format_id", t.formats),
  parent: own(one, t.products, "title_id", t.titles),
  publishing: code(
    one,
    t.products,
    "publishing_status_id",
    t.publishing_statuses,
  ),
  availability: code(
    one,
    t.products,
    "product_availability_id",
    t.product_availabilities,
  ),
  lifecycle: code(one, t.products, "lifecycle_status_id", t.lifecycle_statuses),
  collections: many(t.product_collections),
  prices: many(t.product_prices),
  packings: many(t.packing_configurations),
  contributors: many(t.product_contributors),
  customFields: many(t.custom_field_values),
  collateral: many(t.collateral),
  territories: many(t.product_territories),
  salesRights: many(t.product_sales_rights),
}));

const PRODUCT = { product_id: "id" };
const TERRITORY = { product_id: "product_id", territory_id: "id" };
const SUPPLY = { product_id: "product_id", supply_detail_id: "id" };
const PRICE = { product_id: "product_id", supply_price_id: "id" };

export const collections = relations(t.product_collections, ({ one }) => ({
  product: parent(one, t.product_collections, t.products, PRODUCT),
  collection: own(one, t.product_collections, "collection_id", t.collections),
}));

export const contributors = relations(t.product_contributors, ({ one }) => ({
  product: parent(one, t.product_contributors, t.products, PRODUCT),
  contributor: own(
    one,
    t.product_contributors,
    "contributor_id",
    t.contributors,
  ),
  role: code(
    one,
    t.product_contributors,
    "contributor_role_id",
    t.contributor_roles,
  ),
}));

export const customFields = relations(t.custom_field_values, ({ one }) => ({
  product: parent(one, t.custom_field_values, t.products, PRODUCT),
  field: own(one, t.custom_field_values, "field_id", t.custom_fields),
}));

const ofProduct = (table) =>
  relations(
    table,
    ({ one }) => ({ product: parent(one, table, t.products, PRODUCT) }),
  );

export const prices = ofProduct(t.product_prices);
export const packings = ofProduct(t.packing_configurations);
export const collateral = ofProduct(t.collateral);
export const salesRights = ofProduct(t.product_sales_rights);

export const territories = relations(
  t.product_territories,
  ({ one, many }) => ({
    product: parent(one, t.product_territories, t.products, PRODUCT),
    markets: many(t.territory_markets),
    dates: many(t.market_dates),
    supplies: many(t.supply_details),
  }),
);

export const markets = relations(t.territory_markets, ({ one }) => ({
  territory: parent(one, t.territory_markets, t.product_territories, TERRITORY),
}));

export const marketDates = relations(t.market_dates, ({ one }) => ({
  territory: parent(one, t.market_dates, t.product_territories, TERRITORY),
}));

export const supplies = relations(t.supply_details, ({ one, many }) => ({
  territory: parent(one, t.supply_details, t.product_territories, TERRITORY),
  dates: many(t.supply_dates),
  prices: many(t.supply_prices),
}));

export const supplyDates = relations(t.supply_dates, ({ one }) => ({
  supply: parent(one, t.supply_dates, t.supply_details, SUPPLY),
}));

export const supplyPrices = relations(t.supply_prices, ({ one, many }) => ({
  supply: parent(one, t.supply_prices, t.supply_details, SUPPLY),
  taxes: many(t.supply_price_taxes),
}));

export const supplyPriceTaxes = relations(t.supply_price_taxes, ({ one }) => ({
  price: parent(one, t.supply_price_taxes, t.supply_prices, PRICE),
}));
