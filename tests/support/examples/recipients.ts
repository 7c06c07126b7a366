import type { ExampleRequest } from "./request.ts";

const DEMO_PRODUCT = "c0000000-0000-4000-8000-000000002400";

/** The requests for recipients. */
export const RECIPIENTS: Record<string, ExampleRequest> = {
  createRecipientDry: {
    summary: "Look first at what a shop would get",
    operation: "POST /recipients",
    path: "/recipients?dry_run=true",
    body: { name: "Harbour Books", except: { publishing_status_code: ["00", "01"] } },
  },
  createRecipient: {
    summary: "A shop that gets announced books without stock and custom fields",
    operation: "POST /recipients",
    path: "/recipients",
    body: {
      name: "Harbour Books",
      selection: { announced: "trade" },
      except: { publishing_status_code: ["00", "01"] },
      leave_out: ["custom_fields", "Stock"],
      currencies: ["GBP", "EUR"],
    },
  },
  createRecipientInvalid: {
    summary: "What limits an entry cannot be left out",
    operation: "POST /recipients",
    path: "/recipients",
    body: { name: "Harbour Books", leave_out: ["Territory"] },
  },
  listRecipients: {
    summary: "All recipients",
    operation: "GET /recipients",
    path: "/recipients",
  },
  getRecipient: {
    summary: "One of them",
    operation: "GET /recipients/{id}",
    path: ({ createRecipient }) => `/recipients/${createRecipient.data.id}`,
  },
  listProductRecipients: {
    summary: "Who sees a book",
    operation: "GET /products/{id}/recipients",
    path: `/products/${DEMO_PRODUCT}/recipients`,
  },
  updateRecipient: {
    summary: "Only active books, which leave when they go out of print",
    operation: "PUT /recipients/{id}",
    path: ({ createRecipient }) => `/recipients/${createRecipient.data.id}`,
    body: { selection: { publishing_status_code: ["04"] }, except: null },
  },
  deleteRecipient: {
    summary: "A recipient without keys",
    operation: "DELETE /recipients/{id}",
    path: ({ createRecipient }) => `/recipients/${createRecipient.data.id}`,
  },
};
