const id = { type: "string", format: "uuid" };
const amount = { anyOf: [{ type: "string" }, { type: "number" }] };
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
    title: { type: "string", minLength: 1, maxLength: 500 },
    subtitle: { type: "string", maxLength: 2000 },
    page_count: { type: "integer", minimum: 1 },
    publication_date: { type: "string", format: "date" },
    format_id: id,
    publishing_status_id: id,
    license_id: id,
    season_id: id,
    publisher_id: id,
    imprint_id: id,
    product_prices: array(["currency_code"], {
      currency_code: { type: "string", pattern: "^[A-Z]{3}$" },
      retail_price: amount,
      list_price: amount,
      tax_rate: amount,
      is_default: { type: "boolean" },
      valid_from: { type: "string", format: "date" },
    }),
    contributors: array(["contributor_id", "contributor_role_id"], {
      contributor_id: id,
      contributor_role_id: id,
    }),
    product_collections: array(["collection_id"], { collection_id: id }),
    collateral: array(["collateral_type", "text"], {
      collateral_type: { enum: ["text_content"] },
      text: { type: "string", maxLength: 100000 },
      text_type: { type: "string" },
    }),
    custom_fields: array(["field_id", "field_value"], {
      field_id: id,
      field_value: { anyOf: [{ type: "string" }, { type: "number" }] },
    }),
  },
};
