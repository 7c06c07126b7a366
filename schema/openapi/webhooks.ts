import { MESSAGE_DATA, type MessageType } from "../webhooks.ts";
import { ref } from "./json_schema.ts";
import { messageSchema } from "./schemas.ts";

/* The messages of webhooks, as requests to a receiver. */

/** When a message of each type is sent. */
const WHEN: Record<MessageType, string> = {
  "product.changed":
    "A product is new or has changed, or what it shows of another record has. Whoever wants the whole product gets it, and so never an old one. There is no `product.created`: the receiver knows which ids it has. Of a product that changed several times, the last state may come alone.",
  "product.deleted":
    "A product was deleted. One that was made and deleted while the receiver was away comes as this alone.",
  "feed.advanced":
    "Products have changed: one message for a burst. The next one is sent once this is answered with 2xx.",
  "feed.restarted":
    "Every product follows, since the position of the webhook in the feed is gone, as after a restore or a failover of the database, or after 30 days off. A receiver with a copy drops what does not come again. A webhook gets it with `product.changed`, `product.deleted` or `feed.advanced` in its `events`.",
  "webhook.disabled":
    "Another webhook of the organization is disabled, by a caller or by the service.",
  "webhook.test": "A caller tests the webhook.",
};

const HEADERS = {
  "webhook-id":
    "The id of the message: the same in each attempt, so that a receiver can tell what it has already.",
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
