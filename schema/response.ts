import * as v from "valibot";
import { COLLATERAL, type CollateralType } from "./collateral.ts";
import { Currency, Unit } from "./entries.ts";
import { IDENTITY, SCALARS } from "./product.ts";
import { shownFields } from "./references.ts";
import { RECORDS } from "./records.ts";
import { RIGHTS, SalesRights, ShallowTerritory } from "./rights.ts";
import { Day, Uuid } from "./values.ts";

/*
 * Products in responses. PostgreSQL generates their JSON. These schemas document
 * it for clients, and tests check every response against them.
 */

const amount = v.nullable(v.number());

const Isbn = v.nullable(
  v.pipe(v.string(), v.description("Without hyphens and spaces.")),
);

/** A collection of a product. */
export const CollectionSummary = v.object({
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
  collections: v.optional(v.array(CollectionSummary)),
};

/** A price of a product. */
export const Price = v.object({
  id: Uuid,
  currency_code: Currency,
  retail_price: amount,
  retail_price_inc_tax: amount,
  list_price: amount,
  tax_rate: amount,
  is_default: v.boolean(),
  valid_from: v.nullable(Day),
  valid_to: v.nullable(Day),
});

/** A packing configuration of a product. */
export const Packing = v.object({ id: Uuid, unit_of_measure: Unit });

/** A contributor in a role. */
export const Contributor = v.object({
  contributor_id: Uuid,
  contributor_role_id: Uuid,
  ...shownFields("contributors"),
});

/** A link to a collection. */
export const Collection = v.object({ collection_id: Uuid });

/** A value of a custom field. */
export const CustomField = v.object({
  field_id: Uuid,
  field_value: v.nullable(v.union([v.string(), v.number(), v.boolean()])),
  ...shownFields("custom_fields"),
});

/** A text about a product (ONIX block 2). */
export const TextContent = collateral("text_content");

/** A review or another text that cites the product (ONIX block 2). */
export const CitedContent = collateral("cited_content");

/** A prize of the product (ONIX block 2). */
export const Award = collateral("award");

/** A full product: the response to get, create and update. */
export const Product = v.object({
  ...SUMMARY,
  product_prices: v.array(Price),
  packing_configurations: v.array(Packing),
  contributors: v.array(Contributor),
  product_collections: v.array(Collection),
  custom_fields: v.array(CustomField),
  collateral: v.array(v.variant("collateral_type", [
    TextContent,
    CitedContent,
    Award,
  ])),
  ...RIGHTS,
});

/** A product in a list, with the arrays that `include` names. */
export const ListedProduct = v.object({
  ...SUMMARY,
  ...v.partial(v.pick(Product, [
    "product_prices",
    "packing_configurations",
    "contributors",
    "custom_fields",
    "collateral",
  ])).entries,
  product_territories: v.optional(v.array(ShallowTerritory)),
  product_sales_rights: v.optional(v.array(SalesRights)),
});

/** An entry of this type. Every field is present; an empty one is null. */
function collateral<const T extends CollateralType>(type: T) {
  const entries = Object.entries<v.GenericSchema>(COLLATERAL[type]);
  return v.object({
    id: Uuid,
    collateral_type: v.literal(type),
    ...Object.fromEntries(
      entries.map(([field, schema]) => [field, present(schema)]),
    ),
  });
}

function present(schema: v.GenericSchema): v.GenericSchema {
  const { type, wrapped } = schema as { type: string; wrapped?: typeof schema };
  return type === "optional" && wrapped ? wrapped : schema;
}
