import * as v from "valibot";
import { COLLATERAL } from "./collateral.ts";
import { CurrencyCode } from "./entries.ts";
import { changing } from "./objects.ts";
import { IDENTITY, SCALARS } from "./product.ts";
import { shownFields } from "./references.ts";
import { RECORDS } from "./records.ts";
import { ProductTerritory, SalesRights, ShallowTerritory } from "./rights.ts";
import { Day, Unit, Uuid } from "./values.ts";

/*
 * Products in responses. PostgreSQL generates their JSON. These schemas document
 * it for clients, and tests check every response against them. The OpenAPI
 * document has each export under its name.
 */

const amount = v.nullable(v.number());

const Isbn = v.nullable(
  v.pipe(v.string(), v.description("Without hyphens and spaces.")),
);

export const Collection = v.object({
  id: Uuid,
  ...RECORDS.collections.columns,
});

/** The fields of full and listed products. */
const SUMMARY = {
  ...IDENTITY,
  ...SCALARS,
  isbn13: Isbn,
  isbn10: Isbn,
  ...shownFields(),
  collections: v.optional(v.array(Collection)),
};

export const Price = v.object({
  id: Uuid,
  currency_code: CurrencyCode,
  retail_price: amount,
  retail_price_inc_tax: amount,
  list_price: amount,
  tax_rate: amount,
  is_default: v.boolean(),
  valid_from: v.nullable(Day),
  valid_to: v.nullable(Day),
});

export const PackingConfiguration = v.object({
  id: Uuid,
  unit_of_measure: Unit,
});

export const Contributor = v.object({
  contributor_id: Uuid,
  contributor_role_id: Uuid,
  ...shownFields("contributors"),
});

export const ProductCollection = v.object({ collection_id: Uuid });

export const CustomField = v.object({
  field_id: Uuid,
  field_value: v.nullable(v.union([v.string(), v.number(), v.boolean()])),
  ...shownFields("custom_fields"),
});

export const TextContent = v.object({
  id: Uuid,
  collateral_type: v.literal("text_content"),
  ...COLLATERAL.text_content,
});

export const CitedContent = v.object({
  id: Uuid,
  collateral_type: v.literal("cited_content"),
  ...COLLATERAL.cited_content,
});

export const Award = v.object({
  id: Uuid,
  collateral_type: v.literal("award"),
  ...COLLATERAL.award,
});

/** The arrays that a list can include as they are. */
const INCLUDED = {
  product_prices: v.array(Price),
  packing_configurations: v.array(PackingConfiguration),
  contributors: v.array(Contributor),
  custom_fields: v.array(CustomField),
  collateral: v.array(
    v.variant("collateral_type", [TextContent, CitedContent, Award]),
  ),
};

/** A full product: the response to get, create and update. */
export const Product = v.object({
  ...SUMMARY,
  ...INCLUDED,
  product_collections: v.array(ProductCollection),
  product_territories: v.array(ProductTerritory),
  product_sales_rights: v.array(SalesRights),
});

/** A product in a list, with the arrays that `include` names. */
export const ListedProduct = v.object({
  ...SUMMARY,
  ...changing({
    ...INCLUDED,
    product_territories: v.array(ShallowTerritory),
    product_sales_rights: v.array(SalesRights),
  }),
});
