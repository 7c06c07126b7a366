import { GUARDED, type Operation, WITH_BODY } from "./operation.ts";

const REPLACED: Operation["answer"] = {
  status: 200,
  description: "The full stored product.",
  body: "ProductAnswer",
  headers: ["ETag", "Ignored-Fields"],
};

/** The operations on rights and supply of a product. */
export const RIGHTS = {
  "GET /products/{id}/territories": {
    operationId: "getTerritories",
    summary: "Get the territories of a product",
    tag: "Rights and supply",
    requestHeaders: ["If-None-Match"],
    answer: {
      status: 200,
      description:
        "The territories with their markets and supply. The ETag is the product's.",
      body: "TerritoriesAnswer",
      headers: ["ETag"],
    },
    isConditional: true,
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "PUT /products/{id}/territories": {
    operationId: "replaceTerritories",
    summary: "Replace the territories of a product",
    description:
      "Replaces the whole tree (ONIX blocks 4 and 6); `[]` deletes it. An entry with an `id` keeps that row's id, an entry without one gets a new id. Labels are ignored, so that clients can send a response back. An array has at most 500 entries, all arrays together 20,000.",
    tag: "Rights and supply",
    requestHeaders: ["If-Match"],
    body: "ReplaceTerritories",
    answer: REPLACED,
    errors: [...WITH_BODY, "NOT_FOUND", "PRECONDITION_FAILED"],
  },
  "GET /products/{id}/sales-rights": {
    operationId: "getSalesRights",
    summary: "Get the sales rights of a product",
    tag: "Rights and supply",
    requestHeaders: ["If-None-Match"],
    answer: {
      status: 200,
      description: "The sales rights. The ETag is the product's.",
      body: "SalesRightsAnswer",
      headers: ["ETag"],
    },
    isConditional: true,
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "PUT /products/{id}/sales-rights": {
    operationId: "replaceSalesRights",
    summary: "Replace the sales rights of a product",
    description:
      "Replaces all sales rights (ONIX block 3); `[]` deletes them. A right either has a territory or covers the rest of the world. An entry with an `id` keeps that row's id. Labels, `for_sale` and `exclusive` are ignored, so that clients can send a response back. At most 500 entries.",
    tag: "Rights and supply",
    requestHeaders: ["If-Match"],
    body: "ReplaceSalesRights",
    answer: REPLACED,
    errors: [...WITH_BODY, "NOT_FOUND", "PRECONDITION_FAILED"],
  },
} satisfies Record<string, Operation>;
