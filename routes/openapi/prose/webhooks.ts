import { type Prose, text } from "./text.ts";

/** The prose of the operations of Webhooks. */
export const WEBHOOKS = {
  listWebhooks: {
    tag: "Webhooks",
    summary: "List webhooks",
    description: text(
      "All webhooks of the organization, oldest first.",
      "Keys that may only read, and viewers, do not see webhooks: a URL may hold a token.",
    ),
    returns: "The webhooks, without their secrets.",
  },
  createWebhook: {
    tag: "Webhooks",
    summary: "Create a webhook",
    description: text(
      "Sends messages about changes from now on, or from `after` on.",
      "An organization has at most 10 webhooks (409, `limit_reached`).",
      "The host of the URL must have a public address, or one that the operator allows.",
      "A name that does not resolve yet is accepted.",
      "A URL is checked here and before each attempt.",
    ),
    returns: "The webhook, and its secret this once.",
  },
  getWebhook: {
    tag: "Webhooks",
    summary: "Get a webhook",
    description: "Gets a webhook with its position in the feed and its recent failures.",
    returns: "The webhook.",
  },
  updateWebhook: {
    tag: "Webhooks",
    summary: "Update a webhook",
    description: text(
      "Changes only the fields in the body.",
      "`after` sets the webhook back, or forward: it sends every change after that position again, with the same message ids.",
      "A new `url`, `enabled: true` and `after` end its pauses.",
      "Messages that waited while a webhook was disabled are sent once it is enabled.",
    ),
    returns: "The webhook.",
  },
  deleteWebhook: {
    tag: "Webhooks",
    summary: "Delete a webhook",
    description: text(
      "Deletes a webhook with all waiting messages.",
      "`deleted` is false if it does not exist.",
    ),
    returns: "The requested id, and whether a webhook was deleted.",
  },
  rotateWebhookSecret: {
    tag: "Webhooks",
    summary: "Replace the secret of a webhook",
    description: text(
      "Makes a new secret.",
      "Until the grace period is over, the older ones sign too, newest first, at most three in all.",
      "A receiver accepts a message if one of its signatures is right.",
      "A grace period of 0 ends them at once.",
      "A rotation whose response was lost can be repeated.",
    ),
    returns: "The webhook, and its new secret this once.",
  },
  testWebhook: {
    tag: "Webhooks",
    summary: "Test a webhook",
    description: text(
      "Sends `webhook.test` now, even while the webhook is disabled.",
      "The message is not stored.",
      "A failure changes nothing.",
      "A success ends the pauses after failures, and waiting messages are sent at once.",
      "Fails with 503 while too many messages are being sent.",
    ),
    returns: "The delivery, successful or not.",
  },
  listDeliveries: {
    tag: "Webhooks",
    summary: "List the deliveries of a webhook",
    description:
      "A page of messages, newest first: all that wait, the last 1,000 of 30 days that finally failed, and the last 100 that succeeded.",
    returns: text(
      "The page.",
      "`meta` contains its number and the totals.",
    ),
  },
  retryDelivery: {
    tag: "Webhooks",
    summary: "Send a message again",
    description: text(
      "Makes one attempt now.",
      "Fails with 409 while the message is being sent (`being_sent`), or if its product has changed since (`superseded`): the webhook gets a newer message then.",
      "Fails with 503 while too many messages are being sent.",
    ),
    returns: "The delivery after the attempt.",
  },
} satisfies Record<string, Prose>;
