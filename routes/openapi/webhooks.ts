import { MESSAGE_DATA, type MessageType } from "../../features/webhooks/schema.ts";
import { ref } from "./json_schema.ts";
import { messageSchema } from "./schemas.ts";

/* The messages of webhooks, as requests to a receiver. */

/** When a message of each type is sent. */
const WHEN: Record<MessageType, string> = {
  "product.changed":
    "A product is new or has changed, or a record that it shows has changed. The receiver gets the full product with `GET`, and so never an old one. There is no `product.created`: the receiver knows which ids it has. If a product changes several times, only the last state may arrive.",
  "product.deleted":
    "A product was deleted. If it was created and deleted while the receiver was away, only this message arrives.",
  "feed.advanced":
    "Products have changed: one message for many changes. The next one is sent after a response with 2xx.",
  "feed.restarted":
    "Every product follows, because the position of the webhook in the feed is no longer valid: after a restore or a failover of the database, or after 30 days without messages. A receiver with a copy deletes products that do not arrive again. A webhook gets it with `product.changed`, `product.deleted` or `feed.advanced` in its `events`.",
  "webhook.disabled":
    "Another webhook of the organization is disabled, by a caller or by the service.",
  "webhook.test": "A caller tests the webhook.",
};

const HEADERS = {
  "webhook-id":
    "The id of the message: the same in each attempt, so that a receiver recognizes a message that it has already.",
  "webhook-timestamp":
    "The time of the attempt, in seconds since 1970. A receiver refuses old ones.",
  "webhook-signature":
    "The signatures, separated by spaces: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, one for each secret. The key is what follows `whsec_` in the secret, decoded from base64.",
};

/** The Path Item Objects of the messages, by type. */
export function messageItems() {
  return Object.fromEntries(
    (Object.keys(MESSAGE_DATA) as MessageType[])
      .map((type) => [type, { post: messageOperation(type) }]),
  );
}

function messageOperation(type: MessageType) {
  return {
    operationId: `receive${messageSchema(type)}`,
    summary: `Receive ${type}`,
    description: WHEN[type],
    tags: ["Webhooks"],
    security: [],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
      name,
      in: "header",
      required: true,
      description,
      schema: { type: "string" },
    })),
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: ref("schemas", messageSchema(type)) },
      },
    },
    responses: {
      "2XX": { description: "The message has arrived." },
      "410": {
        description: "The receiver is gone: the webhook is disabled.",
      },
      default: {
        description: "The message is sent again later. With 429 or 503, `Retry-After` says when.",
      },
    },
  };
}
