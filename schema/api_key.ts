import * as v from "valibot";
import { DateTime, isFuture } from "./date_time.ts";
import { closedObject } from "./objects.ts";
import { Time } from "./parameters.ts";
import { described, heading, oneOf, optional, Timestamp } from "./values.ts";

export const Scope = oneOf("read", "write");

export type Scope = v.InferOutput<typeof Scope>;

/** The body of `POST /api-keys`. */
export const NewApiKey = closedObject({
  name: heading(200),
  scope: Scope,
  expires_at: optional(v.pipe(
    DateTime,
    v.check(isFuture, "in_the_past: Expected a time in the future"),
  )),
});

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
  name: v.string(),
  scope: Scope,
  created_at: Timestamp,
  expires_at: v.nullable(Timestamp),
  revoked_at: described(
    "The time at which the key stops working, possibly in the future.",
    v.nullable(Timestamp),
  ),
  last_used_at: described("Accurate to the minute.", v.nullable(Timestamp)),
});

/** A new key, with its secret. */
export const IssuedApiKey = v.object({
  ...ApiKey.entries,
  key: described("Shown only once: store it now.", v.string()),
});
