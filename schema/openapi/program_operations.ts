import { GUARDED, type Operation } from "./operation.ts";

/** The operations on the products of a publishing programme. */
export const PROGRAMS = {
  "GET /publishing-programs/{id}/products": {
    operationId: "listProgramProducts",
    summary: "List the products of a publishing program",
    description: "A page of ids and titles, by title.",
    tag: "References",
    query: ["page", "limit"],
    answer: {
      status: 200,
      description: "The page. `meta` has its number and the totals.",
      body: "ProgramProductsAnswer",
      headers: ["Link"],
    },
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "PUT /publishing-programs/{id}/products/{product_id}": {
    operationId: "addProgramProduct",
    summary: "Add a product to a publishing program",
    description:
      "A product that is in the program already stays in it. A product in a program cannot be deleted.",
    tag: "References",
    answer: { status: 204, description: "The product is in the program." },
    errors: [...GUARDED, "NOT_FOUND"],
  },
  "DELETE /publishing-programs/{id}/products/{product_id}": {
    operationId: "removeProgramProduct",
    summary: "Take a product out of a publishing program",
    tag: "References",
    answer: { status: 204, description: "The product is not in the program." },
    errors: [...GUARDED, "NOT_FOUND"],
  },
} satisfies Record<string, Operation>;
