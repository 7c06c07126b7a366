import { VERSIONS } from "../version.ts";
import type { JsonSchema } from "./json_schema.ts";

interface Header {
  description: string;
  required?: boolean;
  schema: JsonSchema;
  example?: string | number;
}

/** Headers of requests, by name. */
export const REQUEST_HEADERS = {
  "Accept-Version": {
    description:
      "The version of the API; the default is the only one there is.",
    schema: { type: "string", enum: VERSIONS, default: VERSIONS[0] },
  },
  "X-Request-Id": {
    description:
      "An id of your own for this request: the answer and the log have it too. Any other value is replaced by a new UUID.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  },
  "If-None-Match": {
    description:
      "The ETag of what you have: the answer is 304 while that is still current (RFC 9110, 13.1.2).",
    schema: { type: "string" },
  },
  "If-Match": {
    description:
      "The ETag of the product you read: a product that has changed since is left alone, with 412 (RFC 9110, 13.1.1).",
    schema: { type: "string" },
  },
  "Idempotency-Key": {
    description:
      "A new value for each request, such as a UUID: for a day, the same key with the same body writes nothing more and gets the first answer again.",
    schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  },
} satisfies Record<string, Header>;

/** The name of a header that a request may have. */
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Headers of answers, by name. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": {
    description: "The id of this request in the log.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  },
  "API-Version": {
    description: "The version of the API that answers.",
    required: true,
    schema: { type: "string", enum: VERSIONS },
  },
  "Vary": {
    description: "The request headers that the answer depends on.",
    required: true,
    schema: { type: "string" },
  },
  "Cache-Control": {
    description: "Answers belong to one caller and are asked for anew.",
    required: true,
    schema: { type: "string" },
  },
  "X-Content-Type-Options": {
    description: "The answer is what its Content-Type says.",
    required: true,
    schema: { type: "string", enum: ["nosniff"] },
  },
  "Server-Timing": {
    description: "Where the time of the request went (W3C Server Timing).",
    required: true,
    schema: { type: "string" },
  },
  "Access-Control-Allow-Origin": {
    description: "The page's origin, where it is one that may read answers.",
    schema: { type: "string" },
  },
  "Access-Control-Expose-Headers": {
    description: "The headers that such a page may read.",
    schema: { type: "string" },
  },
  "ETag": {
    description: "A strong tag of the representation (RFC 9110, 8.8.3).",
    required: true,
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
  "Location": {
    description: "The path of the new product.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
  },
  "Link": {
    description:
      "The `first`, `prev`, `next` and `last` page of the list (RFC 8288); absent where it would be very long.",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description:
      "The request is a repetition: this is the answer to the first one.",
    schema: { type: "string", enum: ["true"] },
  },
  "Ignored-Fields": {
    description:
      "The fields of the body that were accepted and ignored, such as `publisher_name, contributors.contributor_name`; absent if there are none.",
    schema: { type: "string" },
  },
  "WWW-Authenticate": {
    description: "How to authenticate (RFC 9110, 11.6.1).",
    required: true,
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "The seconds after which to try again.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
} satisfies Record<string, Header>;

/** The name of a header that an answer may have. */
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** What every answer may have. */
const COMMON: ResponseHeader[] = [
  "X-Request-Id",
  "API-Version",
  "Vary",
  "Cache-Control",
  "X-Content-Type-Options",
  "Server-Timing",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];

/** The headers of an answer: those that every answer has, and these. */
export function responseHeaders(...own: ResponseHeader[]) {
  return Object.fromEntries(
    [...COMMON, ...own].map((
      name,
    ) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** Parameters for these request headers, and for those that every request may have. */
export function requestHeaders(...own: RequestHeader[]) {
  const names: RequestHeader[] = ["Accept-Version", "X-Request-Id", ...own];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
