import { API_KEYS } from "./key_operations.ts";
import { ANY, GUARDED, type Operation, WITH_BODY } from "./operation.ts";
import { RIGHTS } from "./rights_operations.ts";

/** The operations under the API prefix (specification, 4). */
export const API = {
  "GET /products": {
    operationId: "listProducts",
    summary: "List products",
    description:
      "A page of the organization's products, newest first by default. A product matches if it satisfies every filter. A page past the end is empty.",
    tag: "Products",
    isList: true,
    answer: {
      status: 200,
      description: "The page. `meta` contains its number and the totals.",
      body: "ProductsAnswer",
      headers: ["Link"],
    },
    errors: GUARDED,
  },
  "POST /products": {
    operationId: "createProduct",
    summary: "Create a product",
    description:
      "Creates a product with its nested records. Response-only fields are ignored, so that clients can send a response back.",
    tag: "Products",
    requestHeaders: ["Idempotency-Key"],
    body: "CreateProduct",
    answer: {
      status: 201,
      description: "The stored product.",
      body: "ProductAnswer",
      headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
    },
    errors: [...WITH_BODY, "IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"],
  },
  "GET /products/{id}": {
    operationId: "getProduct",
    summary: "Get a product",
    tag: "Products",
    requestHeaders: ["If-None-Match"],
    answer: {
      status: 200,
      description: "The product with its nested records.",
      body: "ProductAnswer",
      headers: ["ETag"],
    },
    isConditional: true,
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "PUT /products/{id}": {
    operationId: "updateProduct",
    summary: "Update a product",
    description:
      "Changes only the fields in the body. Null clears a field. A price or packing configuration with an `id` changes that row, one without an `id` creates a row, and an empty array deletes all rows. Collateral missing from its array is deleted. The arrays of contributors, collections and custom fields replace the stored ones.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    body: "UpdateProduct",
    answer: {
      status: 200,
      description: "The stored product.",
      body: "ProductAnswer",
      headers: ["ETag", "Ignored-Fields"],
    },
    errors: [...WITH_BODY, "NOT_FOUND", "PRECONDITION_FAILED"],
  },
  "DELETE /products/{id}": {
    operationId: "deleteProduct",
    summary: "Delete a product",
    description:
      "Deletes a product with its nested records. `deleted` is false if the product does not exist.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    answer: {
      status: 200,
      description: "The requested id, and whether a product was deleted.",
      body: "DeletedAnswer",
    },
    errors: [...GUARDED, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
  },
  ...RIGHTS,
  ...API_KEYS,
  "GET /openapi.json": {
    operationId: "getDescription",
    summary: "Get this description",
    tag: "Service",
    isOpen: true,
    requestHeaders: ["If-None-Match"],
    answer: {
      status: 200,
      description: "This description of the API (OpenAPI 3.1).",
      headers: ["ETag"],
    },
    isConditional: true,
    errors: [...ANY, "SERVICE_UNAVAILABLE"],
  },
} satisfies Record<string, Operation>;

/** The operations outside the API prefix. */
export const SERVICE = {
  "GET /health/live": {
    operationId: "getLiveness",
    summary: "Check liveness",
    tag: "Service",
    isOpen: true,
    answer: {
      status: 200,
      description: "The service is running.",
      body: "HealthAnswer",
    },
    errors: ANY,
  },
  "GET /health/ready": {
    operationId: "getReadiness",
    summary: "Check readiness",
    tag: "Service",
    isOpen: true,
    answer: {
      status: 200,
      description: "The service accepts requests and the database responds.",
      body: "HealthAnswer",
    },
    errors: [...ANY, "DATABASE_ERROR", "SERVICE_UNAVAILABLE"],
  },
} satisfies Record<string, Operation>;

/** An operation under the API prefix, as method and path. */
export type ApiOperation = keyof typeof API;

/** An operation outside the API prefix, as method and path. */
export type ServiceOperation = keyof typeof SERVICE;
