import type { ErrorCode } from "../errors.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { SchemaName } from "./schemas.ts";

/** What is said of an operation besides its method and path. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tag: "Products" | "Service";
  /** Whether it has the parameters of a list. */
  isList?: true;
  /** Whether it answers without a key. */
  isOpen?: true;
  requestHeaders?: RequestHeader[];
  body?: SchemaName;
  answer: {
    status: 200 | 201;
    description: string;
    /** Absent: any JSON object. */
    body?: SchemaName;
    headers?: ResponseHeader[];
  };
  /** Whether `If-None-Match` may be answered with 304. */
  isConditional?: true;
  errors: ErrorCode[];
}

const ANY: ErrorCode[] = [
  "VALIDATION_ERROR",
  "UNSUPPORTED_VERSION",
  "INTERNAL_ERROR",
];

const GUARDED: ErrorCode[] = [
  ...ANY,
  "UNAUTHORIZED",
  "FORBIDDEN",
  "DATABASE_ERROR",
  "SERVICE_UNAVAILABLE",
];

const WITH_BODY: ErrorCode[] = [
  ...GUARDED,
  "INVALID_JSON",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

/** The operations under the API prefix (specification, 4). */
export const API = {
  "GET /products": {
    operationId: "listProducts",
    summary: "List products",
    description:
      "A page of the organization's products, newest first unless sorted otherwise. Filters combine with AND; a page past the end is empty.",
    tag: "Products",
    isList: true,
    answer: {
      status: 200,
      description: "The page, and in `meta` where it stands.",
      body: "ProductsAnswer",
      headers: ["Link"],
    },
    errors: GUARDED,
  },
  "POST /products": {
    operationId: "createProduct",
    summary: "Create a product",
    description:
      "Creates a product with everything that belongs to it. Fields that only answers have are ignored, so that a product that was read can be sent again.",
    tag: "Products",
    requestHeaders: ["Idempotency-Key"],
    body: "CreateProduct",
    answer: {
      status: 201,
      description: "The product as it is stored.",
      body: "ProductAnswer",
      headers: ["Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"],
    },
    errors: [...WITH_BODY, "IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"],
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
      description: "The product with everything that belongs to it.",
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
      "Changes what the body has and leaves the rest alone; null clears a field. Prices and packing configurations with an `id` are changed, those without are created, and an empty array deletes all. Collateral that is left out is deleted. Contributors, collections and custom fields become exactly the given ones.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    body: "UpdateProduct",
    answer: {
      status: 200,
      description: "The product as it is stored.",
      body: "ProductAnswer",
      headers: ["ETag", "Ignored-Fields"],
    },
    errors: [...WITH_BODY, "NOT_FOUND", "PRECONDITION_FAILED"],
  },
  "DELETE /products/{id}": {
    operationId: "deleteProduct",
    summary: "Delete a product",
    description:
      "Deletes a product with everything that belongs to it. Where there is none, `deleted` is false.",
    tag: "Products",
    requestHeaders: ["If-Match"],
    answer: {
      status: 200,
      description:
        "The id as it was asked for, and whether a product was deleted.",
      body: "DeletedAnswer",
    },
    errors: [...GUARDED, "NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
  },
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

/** The operations outside the prefix. */
export const SERVICE = {
  "GET /health/live": {
    operationId: "getLiveness",
    summary: "Ask whether the service lives",
    tag: "Service",
    isOpen: true,
    answer: { status: 200, description: "It does.", body: "HealthAnswer" },
    errors: ANY,
  },
  "GET /health/ready": {
    operationId: "getReadiness",
    summary: "Ask whether the service takes requests",
    tag: "Service",
    isOpen: true,
    answer: {
      status: 200,
      description: "It does, and the database answers.",
      body: "HealthAnswer",
    },
    errors: [...ANY, "DATABASE_ERROR", "SERVICE_UNAVAILABLE"],
  },
} satisfies Record<string, Operation>;

/** An operation under the API prefix, as method and path. */
export type ApiOperation = keyof typeof API;

/** An operation outside the prefix, as method and path. */
export type ServiceOperation = keyof typeof SERVICE;
