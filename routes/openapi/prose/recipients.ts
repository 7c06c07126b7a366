import { type Prose, text } from "./text.ts";

/** The prose of the operations of Recipients. */
export const RECIPIENTS = {
  listRecipients: {
    tag: "Recipients",
    summary: "List recipients",
    description: text(
      "The recipients of the organization, with the number of products that each sees.",
      "Keys that may only read, and viewers, do not see them.",
    ),
    returns: "The page. `meta` contains its number and the totals.",
  },
  createRecipient: {
    tag: "Recipients",
    summary: "Create a recipient",
    description: text(
      "`selection` and `except` say which products the recipient sees.",
      "`leave_out`, `currencies` and `price_types` say what of each.",
      "An organization has at most 100 recipients (409, `limit_reached`).",
      "To try it, send `dry_run=true`: the response is 200, with the same `effect`.",
    ),
    returns: "The recipient, and the effect.",
  },
  getRecipient: {
    tag: "Recipients",
    summary: "Get a recipient",
    description: "Gets a recipient with the number of products that it sees now.",
    returns: "The recipient.",
  },
  updateRecipient: {
    tag: "Recipients",
    summary: "Update a recipient",
    description: text(
      "Changes only the fields in the body; `selection` as a whole.",
      "Reads of its keys follow within 5 seconds.",
      "Its feeds report the difference at the next fetch: products that enter as changes, those that leave as deleted.",
      "An edit of `leave_out`, `currencies` or `price_types` reports every product of the view as a change.",
    ),
    returns: "The recipient, and the effect.",
  },
  deleteRecipient: {
    tag: "Recipients",
    summary: "Delete a recipient",
    description: text(
      "Deletes a recipient.",
      "Fails with 409 (`in_use`) while a key that still works is bound to it: revoke that first.",
      "`deleted` is false if it does not exist.",
    ),
    returns: "The requested id, whether a recipient was deleted, and the effect.",
  },
  listProductRecipients: {
    tag: "Recipients",
    summary: "Ask which recipients see a product",
    description: text(
      "All recipients, each with whether it sees the product, since when its feed has reported it, and the criteria that keep it out.",
    ),
    returns: "The recipients, by name.",
  },
} satisfies Record<string, Prose>;
