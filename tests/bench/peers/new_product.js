import { randomUUID } from "node:crypto";

const id = { type: "string", format: "uuid" };
const amount = { anyOf: [{ type: "string" }, { type: "number" }] };
const day = { type: "string", format: "date" };
const text = (maxLength) => ({ type: "string", maxLength });
const array = (required, properties) => ({
  type: "array",
  maxItems: 500,
  items: { type: "object", additionalProperties: false, required, properties },
});

/** The JSON Schema of a product to create, limited to the benchmark's products. */
export const NEW_PRODUCT = {
  type: "object",
  additionalProperties: false,
  required: ["title"],
  properties: {
    title: { minLength: 1, ...text(500) },
    subtitle: text(2000),
    page_count: { type: "integer", minimum: 1 },
    publication_date: day,
    format_id: id,
    title_id: id,
    publishing_status_id: id,
    product_availability_id: id,
    lifecycle_status_id: id,
    license_id: id,
    season_id: id,
    publisher_id: id,
    division_id: id,
    imprint_id: id,
    product_prices: array(["currency_code"], {
      currency_code: { type: "string", pattern: "^[A-Z]{3}$" },
      retail_price: amount,
      list_price: amount,
      tax_rate: amount,
      is_default: { type: "boolean" },
      valid_from: day,
    }),
    contributors: array(["contributor_id", "contributor_role_id"], {
      contributor_id: id,
      contributor_role_id: id,
    }),
    product_collections: array(["collection_id"], { collection_id: id }),
    collateral: array(["collateral_type", "text"], {
      collateral_type: { enum: ["text_content"] },
      text: text(100_000),
      text_type: text(2),
    }),
    custom_fields: array(["field_id", "field_value"], {
      field_id: id,
      field_value: { anyOf: [{ type: "string" }, { type: "number" }] },
    }),
  },
};

/** The tables of a product's arrays, and whether their rows have their own ids. */
const CHILDREN = {
  product_prices: { table: "product_prices", hasId: true },
  contributors: { table: "product_contributors" },
  product_collections: { table: "product_collections" },
  collateral: { table: "collateral", hasId: true },
  custom_fields: { table: "custom_field_values" },
};

/** The rows of a product to create, in insertion order, once per table. */
export function rowsOf(organization_id, id, body) {
  const product = { organization_id, id };
  const children = [];
  for (const [key, value] of Object.entries(body)) {
    if (!(key in CHILDREN)) {
      product[key] = value;
      continue;
    }
    const { table, hasId } = CHILDREN[key];
    const rows = value.map((entry, position) => ({
      organization_id,
      product_id: id,
      position,
      ...hasId && { id: randomUUID() },
      ...entry,
    }));
    if (rows.length > 0) children.push({ table, rows });
  }
  return [{ table: "products", rows: [product] }, ...children];
}
