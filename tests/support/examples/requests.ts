import { CHANGES, FOLLOW } from "./changes.ts";
import { HISTORY } from "./history.ts";
import { ONIX } from "./onix.ts";
import { READINESS } from "./readiness.ts";
import { KEYS, RECORDS } from "./records.ts";
import { RECIPIENTS } from "./recipients.ts";
import type { ExampleRequest } from "./request.ts";
import { RIGHTS } from "./rights.ts";
import { SHEETS } from "./sheets.ts";

const DEMO_PRODUCT = "c0000000-0000-4000-8000-000000002400";

const UNKNOWN_PRODUCT = "c0000000-0000-4000-8000-999999999999";

/** The requests of the examples to the demo organization, in order. */
export const REQUESTS: Record<string, ExampleRequest> = {
  ...KEYS,
  follow: FOLLOW,
  unauthorized: {
    summary: "Without a key",
    operation: "GET /products",
    path: "/products",
    caller: "nobody",
  },
  createProduct: {
    summary: "A title, an ISBN and a price",
    operation: "POST /products",
    path: "/products",
    body: {
      title: "Emma",
      isbn13: "978-0-14-143958-7",
      page_count: 474,
      product_prices: [
        { currency_code: "GBP", retail_price: 7.99, is_default: true },
      ],
    },
  },
  createProductWhole: {
    summary: "With all nested arrays",
    operation: "POST /products",
    path: "/products",
    body: {
      title: "Tehanu",
      subtitle: "The Last Book of Earthsea",
      isbn13: "9780689845338",
      isbn10: "0689845332",
      page_count: 281,
      publication_date: "2001-09-01",
      format_id: "70000000-0000-4000-8000-000000000001",
      publishing_status_id: "a0be436b-9c0e-5166-8d92-6970461f7c94",
      product_availability_id: "10c01560-1267-582d-b235-c6b6872bfee4",
      lifecycle_status_id: "32a77f6f-d320-5e69-ad14-4ddf65390f41",
      license_id: "10000000-0000-4000-8000-000000000001",
      season_id: "20000000-0000-4000-8000-000000000002",
      publisher_id: "30000000-0000-4000-8000-000000000001",
      division_id: "40000000-0000-4000-8000-000000000002",
      imprint_id: "50000000-0000-4000-8000-000000000003",
      series_id: "60000000-0000-4000-8000-000000000001",
      product_type: "normal",
      cover_image_url: "https://covers.example/tehanu.jpg",
      product_prices: [
        {
          currency_code: "USD",
          retail_price: 8.99,
          is_default: true,
          valid_from: "2026-01-01",
        },
        {
          currency_code: "GBP",
          retail_price: "6.99",
          retail_price_inc_tax: "6.99",
          tax_rate: 0,
        },
      ],
      packing_configurations: [{ unit_of_measure: "outer" }],
      contributors: [{
        contributor_id: "90000000-0000-4000-8000-000000000023",
        contributor_role_id: "1841097f-f532-5e84-9966-39e409550fd7",
      }],
      product_collections: [
        { collection_id: "60000000-0000-4000-8000-000000000001" },
      ],
      custom_fields: [{
        field_id: "a0000000-0000-4000-8000-000000000001",
        field_value: "12+",
      }],
      collateral: [
        {
          collateral_type: "text_content",
          text_type: "02",
          text: "Years ago they escaped together from the tombs.",
          content_audience: ["00"],
        },
        {
          collateral_type: "cited_content",
          source_title: "A review",
          cited_content_type: "01",
          resource_link: "https://reviews.example/tehanu",
        },
        {
          collateral_type: "award",
          prize_name: "Nebula Award for Best Novel",
          prize_year: "1990",
          prize_country: "US",
          prize_code: "01",
        },
      ],
    },
  },
  createProductRefused: {
    summary: "Every error with its pointer",
    operation: "POST /products",
    path: "/products",
    body: {
      isbn13: "978-0-14-143958-8",
      page_count: 0,
      license_id: "10000000-0000-4000-8000-000000000009",
      product_prices: [{ retail_price: -1 }],
    },
  },
  listProducts: {
    summary: "One product, with its languages, markets and sales rights",
    operation: "GET /products",
    path: "/products?search=odyssey&include=languages,product_territories,sales_rights",
  },
  listProductsRefused: {
    summary: "Every error with its parameter",
    operation: "GET /products",
    path: "/products?limit=0&format=paperback",
  },
  getProduct: {
    summary: "A product with every field",
    operation: "GET /products/{id}",
    path: `/products/${DEMO_PRODUCT}`,
  },
  getProductUnknown: {
    summary: "An unknown product",
    operation: "GET /products/{id}",
    path: `/products/${UNKNOWN_PRODUCT}`,
  },
  updateProduct: {
    summary: "Change one price, add another, clear the license",
    operation: "PUT /products/{id}",
    path: `/products/${DEMO_PRODUCT}`,
    body: ({ getProduct }) => ({
      license_id: null,
      product_prices: [
        { id: getProduct.data.product_prices[0].id, retail_price: 9.99 },
        { currency_code: "EUR", retail_price: 8.5 },
      ],
    }),
  },
  ...RIGHTS,
  writeProducts: {
    summary: "Four operations, one of which fails",
    operation: "POST /products/batch",
    path: "/products/batch",
    body: ({ createProduct, createProductWhole }) => ({
      operations: [
        {
          method: "upsert",
          match: "isbn13",
          body: { isbn13: createProduct.data.isbn13, page_count: 480 },
        },
        { method: "create", body: { title: "Persuasion" } },
        { method: "update", id: UNKNOWN_PRODUCT, body: { page_count: 249 } },
        { method: "delete", id: createProductWhole.data.id },
      ],
    }),
  },
  writeProductsShort: {
    summary: "Atomic, with only ids in the response",
    operation: "POST /products/batch",
    path: "/products/batch",
    body: {
      atomic: true,
      return: "minimal",
      operations: [
        { method: "create", body: { title: "Mansfield Park" } },
        { method: "create", body: { title: "Northanger Abbey" } },
      ],
    },
  },
  deleteProduct: {
    summary: "An existing product",
    operation: "DELETE /products/{id}",
    path: ({ createProduct }) => `/products/${createProduct.data.id}`,
  },
  deleteProductInProgram: {
    summary: "A product in a publishing program",
    operation: "DELETE /products/{id}",
    path: `/products/${DEMO_PRODUCT}`,
  },
  ...CHANGES,
  ...HISTORY,
  ...ONIX,
  ...SHEETS,
  ...READINESS,
  ...RECIPIENTS,
  ...RECORDS,
};
