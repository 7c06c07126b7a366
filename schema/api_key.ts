import * as v from "valibot";
import { DateTime, isFuture } from "./date_time.ts";
import { closedObject } from "./objects.ts";
import { Time } from "./parameters.ts";
import { described, heading, oneOf, optional, Timestamp, Uuid } from "./values.ts";

/* The bodies and responses of API keys. */

export const Scope = oneOf("read", "write");

export type Scope = v.InferOutput<typeof Scope>;

const KEY_NAME = "What the key is for, such as the program that uses it.";

const SCOPE = "Whether the key may only read, or also write.";

const RECIPIENT =
  "The recipient whose products and fields the key sees, for its whole life. Only of a key that reads.";

/** The body of `POST /api-keys`. */
const AnyNewApiKey = closedObject({
  name: described(KEY_NAME, heading(200)),
  scope: described(SCOPE, Scope),
  expires_at: described(
    "The time from which the key no longer works: a day, or a time with an offset (ISO 8601). Without it, the key does not expire.",
    optional(v.pipe(
      DateTime,
      v.check(isFuture, "in_the_past: Expected a time in the future"),
    )),
  ),
  recipient_id: described(`${RECIPIENT} Without it, the key sees everything.`, optional(Uuid)),
});

export const NewApiKey = v.pipe(
  AnyNewApiKey,
  v.forward(
    v.check(
      ({ scope, recipient_id }) => scope === "read" || (recipient_id ?? null) === null,
      "invalid_value: A key of a recipient has the scope read",
    ),
    ["scope"],
  ),
);

export type NewApiKey = v.InferOutput<typeof NewApiKey>;

/** The query of `DELETE /api-keys/{key_id}`. */
export const Revocation = v.object({
  at: described(
    "The time at which the key stops working: a day, or a time with an offset (ISO 8601). The default is now.",
    v.optional(Time),
  ),
});

export type Revocation = v.InferOutput<typeof Revocation>;

/** A key without its secret. */
export const ApiKey = v.object({
  id: described(
    "The 12 characters after `cat_` in the key.",
    v.pipe(v.string(), v.regex(/^[0-9a-z]{12}$/)),
  ),
  name: described(KEY_NAME, v.string()),
  scope: described(SCOPE, Scope),
  recipient_id: described(`${RECIPIENT} Null if it sees everything.`, v.nullable(Uuid)),
  created_at: described("The time at which the key was created.", Timestamp),
  expires_at: described(
    "The time from which the key no longer works. Null if it does not expire.",
    v.nullable(Timestamp),
  ),
  revoked_at: described(
    "The time at which the key stops working, possibly in the future. Null if it is not revoked.",
    v.nullable(Timestamp),
  ),
  last_used_at: described(
    "The time of the last request with the key, accurate to the minute.",
    v.nullable(Timestamp),
  ),
});

/** A new key, with its secret. */
export const IssuedApiKey = v.object({
  ...ApiKey.entries,
  key: described(
    "The key itself. Shown only once: store it now.",
    v.string(),
  ),
});
