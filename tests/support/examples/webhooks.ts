import { openReceiver, type Receiver } from "../servers/receiver.ts";
import type { ExampleRequest } from "./request.ts";

/** A receiver that is down when it gets the first message about a product. */
export function openExampleReceiver(): Receiver {
  const receiver = openReceiver();
  receiver.answer(({ id, type }) =>
    type !== "webhook.test" &&
      receiver.received.filter((other) => other.id === id).length === 1
      ? new Response("Down for maintenance", { status: 503 })
      : new Response("Thank you")
  );
  return receiver;
}

const NOW = "2027-01-01T09:00:00.000Z";

const LATER = "2027-01-01T10:00:00.000Z";

/** The response with the same times in each recording: two of them may be in the same millisecond or not. */
export function withFixedTimes(response: unknown): unknown {
  return JSON.parse(
    JSON.stringify(response),
    (key, value) =>
      key === "duration_ms"
        ? 41
        : !/_(at|since)$/.test(key) || value === null
        ? value
        : /^(expires|next_attempt)_at$/.test(key)
        ? LATER
        : NOW,
  );
}

/** The requests for webhooks, of which the last are sent to the receiver at `url`. */
export function webhookRequests(url: string): Record<string, ExampleRequest> {
  return {
    createWebhook: {
      summary: "Changes and deletions from now on",
      operation: "POST /webhooks",
      path: "/webhooks",
      body: {
        url: "https://shop.example/webhooks/catalogue",
        description: "The shop's copy of the catalogue",
      },
    },
    createWebhookRefused: {
      summary: "A URL in a private network",
      operation: "POST /webhooks",
      path: "/webhooks",
      body: { url: "https://10.0.0.7/webhooks" },
    },
    listWebhooks: {
      summary: "All webhooks",
      operation: "GET /webhooks",
      path: "/webhooks",
    },
    getWebhook: {
      summary: "A webhook and its state",
      operation: "GET /webhooks/{id}",
      path: ({ createWebhook }) => `/webhooks/${createWebhook.data.id}`,
    },
    updateWebhook: {
      summary: "Every product once more, in one message for many",
      operation: "PUT /webhooks/{id}",
      path: ({ createWebhook }) => `/webhooks/${createWebhook.data.id}`,
      body: { events: ["feed.advanced"], after: "start", enabled: false },
    },
    rotateWebhookSecret: {
      summary: "The old secret signs for an hour",
      operation: "POST /webhooks/{id}/secret",
      path: ({ createWebhook }) => `/webhooks/${createWebhook.data.id}/secret`,
      body: { grace_seconds: 3600 },
    },
    deleteWebhook: {
      summary: "An existing webhook",
      operation: "DELETE /webhooks/{id}",
      path: ({ createWebhook }) => `/webhooks/${createWebhook.data.id}`,
    },
    createOwnWebhook: {
      summary: "The receiver of the examples",
      operation: "POST /webhooks",
      path: "/webhooks",
      body: { url },
      isHidden: true,
    },
    testWebhook: {
      summary: "A receiver that works",
      operation: "POST /webhooks/{id}/test",
      path: ({ createOwnWebhook }) => `/webhooks/${createOwnWebhook.data.id}/test`,
    },
    createProductSent: {
      summary: "A product that the webhook sends",
      operation: "POST /products",
      path: "/products",
      body: { title: "Sanditon" },
      isHidden: true,
    },
    listDeliveries: {
      summary: "A message that waits for a retry",
      operation: "GET /webhooks/{id}/deliveries",
      path: ({ createOwnWebhook }) =>
        `/webhooks/${createOwnWebhook.data.id}/deliveries?status=waiting`,
      until: ({ data }) => data[0]?.attempts === 1,
    },
    retryDelivery: {
      summary: "The receiver works again",
      operation: "POST /webhooks/{id}/deliveries/{delivery_id}/retry",
      path: ({ createOwnWebhook, listDeliveries }) =>
        `/webhooks/${createOwnWebhook.data.id}/deliveries/${listDeliveries.data[0].id}/retry`,
    },
  };
}
