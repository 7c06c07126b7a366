import { VERSIONS } from "../envelope.ts";
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
    description: "The version of the API.",
    schema: { type: "string", enum: VERSIONS, default: VERSIONS[0] },
  },
  "X-Request-Id": {
    description:
      "Your id for this request. The response and the log repeat it. The service replaces an invalid value with a new UUID.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  },
  "If-None-Match": {
    description:
      "The ETag of your copy. The response is 304 while the copy is current (RFC 9110, 13.1.2).",
    schema: { type: "string" },
  },
  "If-Match": {
    description:
      "The ETag of the record that you read. If the record has changed since, the request fails with 412 (RFC 9110, 13.1.1).",
    schema: { type: "string" },
  },
  "Idempotency-Key": {
    description:
      "A new value for each request, such as a UUID. For a day, a repeated request with the same key and body writes nothing and gets the first answer.",
    schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
  },
} satisfies Record<string, Header>;

/** The name of a request header. */
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Headers of responses, by name. */
export const RESPONSE_HEADERS = {
  "X-Request-Id": {
    description: "The id of this request in the log.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  },
  "API-Version": {
    description: "The version of the API.",
    required: true,
    schema: { type: "string", enum: VERSIONS },
  },
  "Vary": {
    description: "The request headers that the response depends on.",
    required: true,
    schema: { type: "string" },
  },
  "Cache-Control": {
    description:
      "Only the client may cache the response, and it revalidates it each time.",
    required: true,
    schema: { type: "string" },
  },
  "X-Content-Type-Options": {
    description: "Browsers must not guess the content type.",
    required: true,
    schema: { type: "string", enum: ["nosniff"] },
  },
  "Server-Timing": {
    description: "Time spent on parts of the request (W3C Server Timing).",
    required: true,
    schema: { type: "string" },
  },
  "Access-Control-Allow-Origin": {
    description: "The origin of the page, if it may read responses.",
    schema: { type: "string" },
  },
  "Access-Control-Expose-Headers": {
    description: "The headers that the page may read.",
    schema: { type: "string" },
  },
  "ETag": {
    description: "A strong entity tag (RFC 9110, 8.8.3).",
    required: true,
    schema: { type: "string", pattern: '^"[^"]+"$' },
  },
  "Location": {
    description: "The path of the new resource.",
    required: true,
    schema: { type: "string", format: "uri-reference" },
  },
  "Link": {
    description:
      "The `first`, `prev`, `next` and `last` page of the list (RFC 8288). Absent if it would exceed 2,048 characters.",
    schema: { type: "string" },
  },
  "Idempotent-Replayed": {
    description:
      "The request repeats an earlier one, and this is the earlier response.",
    schema: { type: "string", enum: ["true"] },
  },
  "Ignored-Fields": {
    description:
      "The ignored fields of the body, such as `publisher_name, contributors.contributor_name`. Absent if there are none.",
    schema: { type: "string" },
  },
  "WWW-Authenticate": {
    description: "How to authenticate (RFC 9110, 11.6.1).",
    required: true,
    schema: { type: "string" },
  },
  "Retry-After": {
    description: "The number of seconds to wait before a retry.",
    required: true,
    schema: { type: "integer", minimum: 0 },
  },
} satisfies Record<string, Header>;

/** The name of a response header. */
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** Headers that every response may have. */
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

/** References to the common response headers and to these. */
export function responseHeaders(...own: ResponseHeader[]) {
  return Object.fromEntries(
    [...COMMON, ...own].map((
      name,
    ) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** References to the parameters of the common request headers and of these. */
export function requestHeaders(...own: RequestHeader[]) {
  const names: RequestHeader[] = ["Accept-Version", "X-Request-Id", ...own];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
