import type { ExampleRequest } from "./request.ts";

/** A book of the demo organization that lacks much. */
const PRODUCT = "c0000000-0000-4000-8000-000000000200";

/** The requests for what recipients ask of products. */
export const READINESS: Record<string, ExampleRequest> = {
  listRecipientProfiles: {
    summary: "All recipients",
    operation: "GET /recipient-profiles",
    path: "/recipient-profiles",
  },
  getRecipientProfile: {
    summary: "The rules of BIC Basic",
    operation: "GET /recipient-profiles/{name}",
    path: "/recipient-profiles/bic-basic",
  },
  getProductReadiness: {
    summary: "What a book lacks for BIC Basic",
    operation: "GET /products/{id}/readiness",
    path: `/products/${PRODUCT}/readiness?profile=bic-basic`,
  },
  listReadiness: {
    summary: "The first book that Kobo may refuse",
    operation: "GET /products/readiness",
    path: "/products/readiness?profile=kobo&ready=false&limit=1",
  },
  listReadinessUnknown: {
    summary: "An unknown recipient",
    operation: "GET /products/readiness",
    path: "/products/readiness?profile=kindle",
  },
};
