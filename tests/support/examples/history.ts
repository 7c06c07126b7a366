import type { ExampleRequest } from "./request.ts";

const DEMO_PRODUCT = "c0000000-0000-4000-8000-000000002400";

/** The requests for the history, after other examples have written and deleted products. */
export const HISTORY: Record<string, ExampleRequest> = {
  listProductHistory: {
    summary: "Who changed a price",
    operation: "GET /products/{id}/history",
    path: `/products/${DEMO_PRODUCT}/history?changed=product_prices`,
  },
  getProductVersion: {
    summary: "The product before that",
    operation: "GET /products/{id}",
    path: ({ updateProduct }) => `/products/${DEMO_PRODUCT}?at=${updateProduct.data.updated_at}`,
  },
  listDeletedProducts: {
    summary: "The last ones",
    operation: "GET /products/deleted",
    path: "/products/deleted?limit=2",
  },
  restoreProduct: {
    summary: "A deleted product",
    operation: "POST /products/{id}/restore",
    path: ({ createProduct }) => `/products/${createProduct.data.id}/restore`,
    body: {},
  },
  restoreProductVersion: {
    summary: "Try what a version would change",
    operation: "POST /products/{id}/restore",
    path: `/products/${DEMO_PRODUCT}/restore?dry_run=true`,
    body: ({ listProductHistory }) => ({
      version: listProductHistory.data[0].version,
    }),
  },
  restoreProductRefused: {
    summary: "A product that is there, without a version",
    operation: "POST /products/{id}/restore",
    path: `/products/${DEMO_PRODUCT}/restore`,
    body: {},
  },
  compareVersions: {
    summary: "What has changed since",
    operation: "GET /products/{id}/history/compare",
    path: ({ listProductHistory }) =>
      `/products/${DEMO_PRODUCT}/history/compare?from=${listProductHistory.data[0].version}`,
  },
  undoRequest: {
    summary: "Try what would be undone",
    operation: "POST /history/undo",
    path: "/history/undo?dry_run=true",
    body: ({ listProductHistory }) => ({
      request_id: listProductHistory.data[0].request_id,
    }),
  },
  undoRequestUnknown: {
    summary: "A request that has written nothing",
    operation: "POST /history/undo",
    path: "/history/undo",
    body: { request_id: "c0000000-0000-4000-8000-000000000000" },
  },
  listHistory: {
    summary: "The last changes of all products",
    operation: "GET /history",
    path: "/history?limit=2",
  },
};
