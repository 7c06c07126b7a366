import * as v from "valibot";
import { COLLATERAL } from "./collateral.ts";
import * as entries from "./entries.ts";
import { answers } from "./entry.ts";
import { changing } from "./objects.ts";
import { IDENTITY, SCALARS } from "./product.ts";
import { shownFields } from "./references.ts";
import { RECORDS } from "./records.ts";
import { ProductTerritory, SalesRights, ShallowTerritory } from "./rights.ts";
import { described, Uuid } from "./values.ts";

/*
 * Products in answers. PostgreSQL generates their JSON. These schemas document
 * it for clients, and tests check every answer against them. The OpenAPI
 * document has each export under its name.
 */

const Isbn = v.nullable(
  described("Without hyphens and spaces.", v.string()),
);

export const Collection = v.object({
  id: Uuid,
  ...answers(RECORDS.collections.columns),
});

/** The fields of full and listed products. */
const SUMMARY = {
  ...IDENTITY,
  ...SCALARS,
  isbn13: Isbn,
  isbn10: Isbn,
  ...answers(shownFields()),
  collections: v.optional(v.array(Collection)),
};

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

/** The arrays that a list includes as they are. */
const INCLUDED = {
  product_prices: v.array(entries.Price),
  packing_configurations: v.array(entries.PackingConfiguration),
  contributors: v.array(entries.Contributor),
  custom_fields: v.array(entries.CustomField),
  collateral: v.array(
    v.variant("collateral_type", [TextContent, CitedContent, Award]),
  ),
};

/** A full product: the answer to get, create and update. */
export const Product = v.object({
  ...SUMMARY,
  ...INCLUDED,
  product_collections: v.array(entries.ProductCollection),
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
