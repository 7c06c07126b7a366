import { API_KEYS } from "./key_operations.ts";
import { ANY, GUARDED, type Operation, WITH_BODY } from "./operation.ts";
import { RECORD_OPERATIONS } from "./record_operations.ts";
import { RIGHTS } from "./rights_operations.ts";

/** The operations under the API prefix (specification, 4). */
export const API = {
  "GET /products": {
    operationId: "listProducts",
    summary: "List products",
    description:
      "A page of the organization's products, newest first by default. Filters combine with AND. A page past the end is empty. A walk over pages may miss or repeat products that are written meanwhile; `GET /products/changes` misses none.",
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
  "GET /products/changes": {
    operationId: "listChanges",
    summary: "Follow the changes of products",
    description:
      "Keeps a copy of the products complete. Without `after` it begins with every product there is; go on with `meta.cursor` while `meta.more` is true, then ask again later: every change since arrives at least once, deletions too. A product that changed twice may come once, with its last state. All that moves `updated_at` is a change; a renamed reference is not. A change arrives once no older transaction is under way, so a long one holds the feed up. A page may have fewer changes than `limit`, even none, while `meta.more` is true.",
    tag: "Products",
    isFeed: true,
    answer: {
      status: 200,
      description: "The changes, and in `meta` the cursor to go on with.",
      body: "ChangesAnswer",
    },
    errors: [...GUARDED, "CURSOR_EXPIRED"],
  },
  "POST /products/batch": {
    operationId: "writeProducts",
    summary: "Write many products",
    description:
      "Carries out up to 100 operations and answers each as it would be answered alone: the status, and `data` or `error`, in their order. Operations on one product are carried out one after another. A failure of one does nothing to the others, unless the batch is `atomic`: then nothing is written, and the answer is that failure, with pointers below `/operations/{n}`. The batch is one transaction, so a failure of the service leaves nothing behind.\n\nAn upsert updates the one product that has the same value as its body in the field `match`, and creates a product where there is none; two upserts of one value at the same time make one product. The service makes product codes itself: an upsert by `product_code` updates or fails with `NOT_FOUND`.\n\nWith `return` set to `minimal`, products are answered by their ids alone.",
    tag: "Products",
    requestHeaders: ["Idempotency-Key"],
    body: "Batch",
    answer: {
      status: 200,
      description: "The answer to each operation, in their order.",
      body: "BatchAnswer",
      headers: ["Idempotent-Replayed", "Ignored-Fields"],
    },
    errors: [
      ...WITH_BODY,
      "NOT_FOUND",
      "CONFLICT",
      "AMBIGUOUS",
      "PRECONDITION_FAILED",
      "IDEMPOTENCY_IN_PROGRESS",
      "IDEMPOTENCY_MISMATCH",
    ],
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
  ...RECORD_OPERATIONS,
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
