import * as v from "valibot";
import { type Entry, objectOf } from "../../schema/bodies.ts";
import { After, type Cursor } from "../changes/schema.ts";
import {
  about,
  assigned,
  type Column,
  column,
  type Fields,
  required,
} from "../../schema/fields.ts";
import { array, chosen, closedObject, SAME } from "../../schema/objects.ts";
import { PageParameters } from "../../schema/record_query.ts";
import { choices } from "../../schema/parameters.ts";
import { Count, described, oneOf, text, Timestamp, Uuid } from "../../schema/values.ts";

/*
 * Webhooks: their bodies, their responses, and the messages that receivers get, which
 * follow Standard Webhooks 1.0.0.
 */

/** The maximum number of webhooks of an organization. */
export const MAX_WEBHOOKS = 10;

const EVENT_NAMES = [
  "product.changed",
  "product.deleted",
  "feed.advanced",
  "webhook.disabled",
] as const;

export type Event = typeof EVENT_NAMES[number];

const DISABLED_REASONS = [
  "by_hand",
  "gone",
  "failing",
  "copied",
] as const;

export type DisabledReason = typeof DISABLED_REASONS[number];

const STATUSES = ["waiting", "failed", "succeeded"] as const;

const ATTEMPT_ERRORS = [
  "status",
  "timeout",
  "connection",
  "unresolved",
  "tls",
  "forbidden_target",
] as const;

/** Why an attempt failed. */
export type AttemptError = typeof ATTEMPT_ERRORS[number];

const DESCRIPTION = "What the webhook is for.";

const MAX_URL = 2_000;

/** The syntax of a URL that may be called. The service checks its host later. */
const TargetUrl = v.pipe(
  v.string("invalid_type: Expected a URL as a string"),
  v.check(
    isTarget,
    `invalid_url: Expected an absolute https URL of at most ${MAX_URL} characters, without user, password and fragment`,
  ),
  v.metadata({ format: "uri", maxLength: MAX_URL }),
);

function isTarget(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^https?:$/.test(url.protocol) &&
    !url.username && !url.password && !given.includes("#") &&
    given.length <= MAX_URL && given.isWellFormed() && !given.includes("\0");
}

const EventList = v.pipe(
  array(oneOf(...EVENT_NAMES), { min: 1, distinct: [SAME] }),
  v.check(
    (events) =>
      !events.includes("feed.advanced") ||
      !events.some((event) => event.startsWith("product.")),
    "invalid_value: feed.advanced takes the place of product.changed and product.deleted",
  ),
);

/** The position of a webhook: a cursor of the feed, or one of its ends. */
const Ends = oneOf("start", "now");

const Position = chosen<Cursor | "start" | "now">(
  [Ends, After],
  (place) => v.is(Ends, place) ? Ends : After,
);

const ShownSecret = v.object({
  created_at: described("When the secret was made.", Timestamp),
  expires_at: described(
    "From when on it signs no more. Null for the current one.",
    v.nullable(Timestamp),
  ),
});

/** The fields of a webhook. Its secret has a schema of its own, and `after` is write-only. */
// deno-fmt-ignore
const WEBHOOK = {
  id: about("The id of the webhook.", assigned(Uuid), null),
  url: about("Where messages are sent: an `https` URL whose host has a public address.",
    required(column(TargetUrl, v.string())), null),
  description: about(DESCRIPTION, column(text(500), v.string()), null),
  events: about(
    "The types of messages. `feed.advanced` takes the place of `product.changed` and `product.deleted`: one message for many changes.",
    column(EventList, v.array(v.picklist(EVENT_NAMES)), { fallback: ["product.changed", "product.deleted"] }), null),
  enabled: about("Whether messages are sent.",
    column(v.boolean("invalid_type: Expected true or false"), v.boolean(), { fallback: true }), null),
  disabled_reason: about(
    "Why messages are not sent: `by_hand`, `gone` after a response 410, `failing` for days, or `copied` with the database. Null while they are.",
    perhaps(v.picklist(DISABLED_REASONS)), null),
  disabled_at: about("Since when messages are not sent.", perhaps(Timestamp), null),
  cursor: about("The position in the feed up to which messages were sent or wait. `GET /products/changes` and `after` take it.",
    assigned(v.string()), null),
  behind: about("The number of changes after the cursor. 1000 means 1000 or more.", assigned(Count), null),
  waiting: about("The number of messages that wait for a retry.", assigned(Count), null),
  failing_since: about("The time of the first failure since the last success. Null after a success.", perhaps(Timestamp), null),
  resumes_at: about("The time of the next attempt, while the webhook pauses after five failures, or the receiver has asked for a pause.",
    perhaps(Timestamp), null),
  last_success_at: about("The time of the last success.", perhaps(Timestamp), null),
  secrets: about("The secrets that sign messages, newest first, without their values.", assigned(v.array(ShownSecret)), null),
  created_at: about("The time at which the webhook was created.", assigned(Timestamp), null),
  updated_at: about("The time of its last change.", assigned(Timestamp), null),
} satisfies Fields;

/** A field that the service assigns, and that may be null. */
function perhaps(response: v.GenericSchema): Column {
  return { kind: "column", response };
}

export const Webhook = objectOf(WEBHOOK, "shown");

/** A webhook with its new secret. */
export const IssuedWebhook = objectOf({
  ...WEBHOOK,
  secret: about(
    "The key that signs messages: `whsec_` and 32 bytes in base64. Shown only once: store it now.",
    assigned(v.string()),
    null,
  ),
}, "shown");

const FEED_START =
  "The position in the feed where the webhook begins, or begins again: a cursor of `/products/changes`, `start` for every product, or `now`.";

/** A valid body of `POST /webhooks`. */
export interface NewWebhook extends Entry {
  url: string;
  description?: string | null;
  events: Event[];
  enabled: boolean;
  after: Cursor | "start" | "now";
}

export const CreateWebhook = objectOf(WEBHOOK, "new", {
  after: described(FEED_START, v.optional(Position, "now")),
}) as v.GenericSchema<unknown, NewWebhook>;

/** A valid body of `PUT /webhooks/{id}`. An absent field keeps its value. */
export type WebhookChange = Partial<NewWebhook>;

export const UpdateWebhook = objectOf(WEBHOOK, "changed", {
  after: described(FEED_START, v.optional(Position)),
}) as v.GenericSchema<unknown, WebhookChange>;

/** The body of `POST /webhooks/{id}/secret`. */
export const RotateSecret = closedObject({
  grace_seconds: described(
    "How long the older secrets sign too, in seconds.",
    v.optional(
      v.pipe(
        v.number("invalid_type: Expected a number"),
        v.integer("invalid_number: Expected a whole number"),
        v.minValue(0, "out_of_range: At least 0"),
        v.maxValue(604_800, "out_of_range: At most 604800"),
      ),
      86_400,
    ),
  ),
});

export type Rotation = v.InferOutput<typeof RotateSecret>;

/** The parameters of `GET /webhooks/{id}/deliveries`. */
export const DeliveryParameters = v.object({
  ...PageParameters.entries,
  status: described(
    "The statuses of the deliveries. The default is all.",
    v.optional(choices(STATUSES)),
  ),
});

export type DeliveryQuery = v.InferOutput<typeof DeliveryParameters>;

/** A message to a webhook, and its outcome. */
export const Delivery = v.object({
  id: described(
    "The id of the message, which each attempt has as `webhook-id`.",
    v.string(),
  ),
  type: described("The type of the message.", v.string()),
  product_id: described(
    "The product of the message. Null if it is about none.",
    v.nullable(Uuid),
  ),
  status: described(
    "`waiting` for its next attempt, `failed` for good, or `succeeded`.",
    v.picklist(STATUSES),
  ),
  attempts: described("The number of attempts.", Count),
  created_at: described(
    "The time at which the message left the feed, shortly before its first attempt.",
    Timestamp,
  ),
  attempted_at: described("The time of the last one.", v.nullable(Timestamp)),
  next_attempt_at: described(
    "The time of the next one.",
    v.nullable(Timestamp),
  ),
  response_status: described(
    "The status of the last response.",
    v.nullable(Count),
  ),
  response_body: described(
    "The first 2 KiB of the last response.",
    v.nullable(v.string()),
  ),
  error: described(
    "Why the last attempt failed: by the `status` of the response, for instance.",
    v.nullable(v.picklist(ATTEMPT_ERRORS)),
  ),
  duration_ms: described(
    "How long the last attempt took, in milliseconds.",
    v.nullable(Count),
  ),
});

export type Delivery = v.InferOutput<typeof Delivery>;

/** The numbers that identify a deleted product. */
export const DELETED_NUMBERS = {
  isbn13: described("The ISBN-13 that it had.", v.nullable(v.string())),
  product_code: described("The code that it had.", v.nullable(v.string())),
  record_reference: described(
    "The `RecordReference` that it had in ONIX.",
    v.nullable(v.string()),
  ),
};

/** The schema of `data` by type of message. */
export const MESSAGE_DATA = {
  "product.changed": v.object({
    id: described("The id of the product.", Uuid),
    product_code: described("Its code.", v.string()),
    isbn13: described("Its ISBN-13.", v.nullable(v.string())),
    title: described("Its title.", v.string()),
    created_at: described("The time at which it was created.", Timestamp),
    updated_at: described("The time of its last change.", Timestamp),
  }),
  "product.deleted": v.object({
    id: described("The id of the product.", Uuid),
    ...DELETED_NUMBERS,
    updated_at: described("The time of its deletion.", Timestamp),
  }),
  "feed.advanced": v.object({
    after: described(
      "The cursor after which `GET /products/changes` lists what is new.",
      v.string(),
    ),
    changes: described("How many entries. 1000 means 1000 or more.", Count),
  }),
  "feed.restarted": v.object({}),
  "webhook.disabled": v.object({
    id: described("The id of the disabled webhook.", Uuid),
    description: described(DESCRIPTION, v.nullable(v.string())),
    reason: described(
      "Why it was disabled.",
      v.picklist(DISABLED_REASONS),
    ),
  }),
  "webhook.test": v.object({}),
};

/** The type of a message. */
export type MessageType = keyof typeof MESSAGE_DATA;
