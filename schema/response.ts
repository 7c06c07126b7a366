import * as v from "valibot";
import { COLLATERAL, type CollateralType } from "./collateral.ts";
import { DISPLAY, IDENTITY, RIGHTS } from "./response_fields.ts";
import { Currency, Unit } from "./entries.ts";
import { CORE } from "./product.ts";
import { SalesRights, ShallowTerritory } from "./rights.ts";
import { Day, Uuid } from "./values.ts";

/*
 * Products as answers show them. PostgreSQL makes their JSON; these schemas
 * describe it to clients, and the tests hold every answer against them.
 */

const amount = v.nullable(v.number());

const Isbn = v.nullable(
  v.pipe(v.string(), v.description("Bare: without hyphens and spaces.")),
);

/** The fields that every answer with a product has. */
const SCALARS = {
  ...IDENTITY,
  ...CORE,
  isbn13: Isbn,
  isbn10: Isbn,
  ...DISPLAY,
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

/** A packing of a product. */
export const Packing = v.object({ id: Uuid, unit_of_measure: Unit });

/** Who contributed what, with the names of both. */
export const Contributor = v.object({
  contributor_id: Uuid,
  contributor_role_id: Uuid,
  contributor_name: v.string(),
  contributor_role_name: v.string(),
  contributor_role_code: v.string(),
});

/** The link to a collection. */
export const Collection = v.object({ collection_id: Uuid });

/** The value of a custom field, with its name. */
export const CustomField = v.object({
  field_id: Uuid,
  field_value: v.nullable(v.union([v.string(), v.number(), v.boolean()])),
  field_name: v.string(),
});

/** A text about a product (ONIX block 2). */
export const TextContent = collateral("text_content");

/** What others wrote about it (ONIX block 2). */
export const CitedContent = collateral("cited_content");

/** A prize that it won (ONIX block 2). */
export const Award = collateral("award");

/** A product in full: what get, create and update answer. */
export const Product = v.object({
  ...SCALARS,
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

/** A product in a list, with what `include` asked for. */
export const ListedProduct = v.object({
  ...SCALARS,
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

/** A row of this type: every field is there, null where it is empty. */
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
