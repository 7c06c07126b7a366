import { ChangesParameters } from "../changes_query.ts";
import { ProductParameters } from "../list_query.ts";
import type { Operation } from "./operation.ts";
import { RECORD_OPERATIONS } from "./record_operations.ts";

/** The operations under the API prefix (specification, 4). */
export const API = {
  "GET /products": {
    operationId: "listProducts",
    summary: "List products",
    description:
      "A page of the organization's products, newest first by default. Filters combine with AND. A page past the end is empty. Reading page after page can skip or repeat products that are written meanwhile. `GET /products/changes` skips none.",
    tag: "Products",
    query: ProductParameters,
    returns: "The page. `meta` contains its number and the totals.",
    response: "ProductsResponse",
    headers: ["Link"],
  },
  "POST /products": {
    operationId: "createProduct",
    summary: "Create a product",
    description:
      "Creates a product with its nested records. Response-only fields are ignored, so that clients can send a response back.",
    tag: "Products",
    requestHeaders: ["Idempotency-Key"],
    body: "CreateProduct",
    status: 201,
    returns: "The stored product.",
    response: "ProductResponse",
    headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
  },
  "GET /products/changes": {
    operationId: "listChanges",
    summary: "Follow the changes of products",
    description:
      "Synchronizes a copy of the products. The first request omits `after` and gets every product. Each next request sends `meta.cursor` as `after`: immediately while `meta.more` is true, else later. Every change arrives at least once, including deletions. A product that changed several times may arrive once, in its last state. Every update of `updated_at` is a change. A change of a referenced record is not, such as another name, or another `product_form_id` of a format. A change appears after all older transactions of the database server have ended, so a long transaction delays the feed. A page can have fewer changes than `limit`, even none, while `meta.more` is true.",
    tag: "Products",
    query: ChangesParameters,
    returns: "The changes. `meta` contains the cursor of the next page.",
    response: "ChangesResponse",
    errors: ["CURSOR_EXPIRED"],
  },
  "POST /products/batch": {
    operationId: "writeProducts",
    summary: "Write many products",
    description:
      "Executes up to 100 operations in one transaction. The response has the status and the `data` or `error` of each operation, in their order, as a single request would get them. Operations on the same product run in their order. An operation that fails does not affect the others. If the batch is `atomic`, a failed operation fails the whole batch: nothing is written, and the response is that error, with pointers below `/operations/{n}`. If the service or the database fails, nothing is written.\n\nAn upsert compares the field named by `match` with the value in its body. It updates the product with the same value, or creates one if there is none. Concurrent upserts of the same value create one product. The service assigns product codes, so an upsert by `product_code` never creates: it updates, or fails with `NOT_FOUND`.\n\nIf `return` is `minimal`, the response contains only the ids of the products. A batch whose response would be larger than 16 MiB fails as a whole (`too_large`).",
    tag: "Products",
    requestHeaders: ["Idempotency-Key"],
    body: "Batch",
    returns: "The result of each operation, in their order.",
    response: "BatchResponse",
    headers: ["Idempotent-Replayed", "Ignored-Fields"],
    errors: ["NOT_FOUND", "CONFLICT", "AMBIGUOUS", "PRECONDITION_FAILED"],
  },
  "GET /products/{id}": {
    operationId: "getProduct",
    summary: "Get a product",
    tag: "Products",
    requestHeaders: ["If-None-Match"],
    returns: "The product with its nested records.",
    response: "ProductResponse",
  },
  "PUT /products/{id}": {
    operationId: "updateProduct",
    summary: "Update a product",
    description:
      "Changes only the fields in the body. Null clears a field. A price or packing configuration with an `id` changes that row, one without an `id` creates a row, and an empty array deletes all rows. An array of collateral, contributors, collections or custom fields replaces the stored rows; collateral with an `id` keeps that row.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    body: "UpdateProduct",
    returns: "The stored product.",
    response: "ProductResponse",
    headers: ["ETag", "Ignored-Fields"],
  },
  "DELETE /products/{id}": {
    operationId: "deleteProduct",
    summary: "Delete a product",
    description:
      "Deletes a product with its nested records. `deleted` is false if the product does not exist.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    returns: "The requested id, and whether a product was deleted.",
    response: "DeletedResponse",
    errors: ["CONFLICT"],
  },
  "GET /products/{id}/territories": {
    operationId: "getTerritories",
    summary: "Get the territories of a product",
    tag: "Rights and supply",
    requestHeaders: ["If-None-Match"],
    returns:
      "The territories with their markets and supply. The ETag is the product's.",
    response: "TerritoriesResponse",
  },
  "PUT /products/{id}/territories": {
    operationId: "replaceTerritories",
    summary: "Replace the territories of a product",
    description:
      "Replaces the whole tree (ONIX block 6); `[]` deletes it. An entry with an `id` keeps that row's id, an entry without one gets a new id. Labels are ignored, so that clients can send a response back. An array has at most 500 entries, all arrays together 20,000.",
    tag: "Rights and supply",
    requestHeaders: ["If-Match"],
    body: "ReplaceTerritories",
    returns: "The full stored product.",
    response: "ProductResponse",
    headers: ["ETag", "Ignored-Fields"],
  },
  "GET /products/{id}/sales-rights": {
    operationId: "getSalesRights",
    summary: "Get the sales rights of a product",
    tag: "Rights and supply",
    requestHeaders: ["If-None-Match"],
    returns: "The sales rights. The ETag is the product's.",
    response: "SalesRightsResponse",
  },
  "PUT /products/{id}/sales-rights": {
    operationId: "replaceSalesRights",
    summary: "Replace the sales rights of a product",
    description:
      "Replaces all sales rights (ONIX block 4); `[]` deletes them. A right either has a territory or covers the rest of the world. An entry with an `id` keeps that row's id. Labels, `for_sale` and `exclusive` are ignored, so that clients can send a response back. At most 500 entries.",
    tag: "Rights and supply",
    requestHeaders: ["If-Match"],
    body: "ReplaceSalesRights",
    returns: "The full stored product.",
    response: "ProductResponse",
    headers: ["ETag", "Ignored-Fields"],
  },
  ...RECORD_OPERATIONS as object,
  "GET /api-keys": {
    operationId: "listApiKeys",
    summary: "List API keys",
    description:
      "All keys of the organization, newest first, without their secrets.",
    tag: "API keys",
    returns: "The keys, including revoked and expired ones.",
    response: "ApiKeysResponse",
  },
  "POST /api-keys": {
    operationId: "createApiKey",
    summary: "Create an API key",
    description:
      "The response shows the key once: the service stores only its hash.",
    tag: "API keys",
    body: "NewApiKey",
    status: 201,
    returns: "The key.",
    response: "IssuedApiKeyResponse",
    headers: ["Location"],
  },
  "GET /api-keys/{key_id}": {
    operationId: "getApiKey",
    summary: "Get an API key",
    tag: "API keys",
    returns: "The key without its secret.",
    response: "ApiKeyResponse",
  },
  "DELETE /api-keys/{key_id}": {
    operationId: "revokeApiKey",
    summary: "Revoke an API key",
    description:
      "The key stops working within five seconds, or at the time `at`, which can be changed until then. A revoked key stays revoked.",
    tag: "API keys",
    query: ["at"],
    returns: "The key. It stops working at `revoked_at`.",
    response: "ApiKeyResponse",
  },
  "GET /openapi.json": {
    operationId: "getDescription",
    summary: "Get this description",
    tag: "Service",
    requestHeaders: ["If-None-Match"],
    returns: "This description of the API (OpenAPI 3.1).",
    errors: ["SERVICE_UNAVAILABLE"],
  },
} satisfies Record<string, Operation>;

/** The operations outside the API prefix. */
export const SERVICE = {
  "GET /health/live": {
    operationId: "getLiveness",
    summary: "Check liveness",
    tag: "Service",
    returns: "The service is running.",
    response: "HealthResponse",
  },
  "GET /health/ready": {
    operationId: "getReadiness",
    summary: "Check readiness",
    tag: "Service",
    returns: "The service accepts requests and the database responds.",
    response: "HealthResponse",
    errors: ["DATABASE_ERROR", "SERVICE_UNAVAILABLE"],
  },
} satisfies Record<string, Operation>;

/** An operation under the API prefix, as method and path. */
export type ApiOperation = keyof typeof API;

/** An operation outside the API prefix, as method and path. */
export type ServiceOperation = keyof typeof SERVICE;
