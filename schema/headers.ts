import { API_VERSIONS } from "./api_versions.ts";

/* The headers of requests and responses, with their descriptions. */

/** Headers of requests, by name. */
export const REQUEST_HEADERS = {
  "Accept-Version": header("The version of the API.", {
    enum: API_VERSIONS,
    default: API_VERSIONS[0],
  }),
  "X-Request-Id": header(
    "Your id for this request. The response and the log repeat it. The service replaces an invalid value with a new UUID.",
    { pattern: "^[A-Za-z0-9._-]{1,128}$" },
  ),
  "If-None-Match": header(
    "The ETag of your copy. The response is 304 while the copy is current (RFC 9110, 13.1.2).",
  ),
  "If-Match": header(
    "The ETag of the record that you read. If the record has changed since, the request fails with 412 (RFC 9110, 13.1.1). `*` is any state.",
    { examples: ["*"] },
  ),
  "Idempotency-Key": header(
    "A new value for each request, such as a UUID. For a day, a request with the same key and body writes nothing and gets the first response. Bodies are compared byte for byte: the same JSON with other spaces is another body, which fails with 422.",
    { pattern: "^[\\x21-\\x7e]{1,255}$" },
  ),
  "Content-Encoding": header(
    "How the body is compressed (RFC 9110, 8.4).",
    { enum: ["gzip", "identity"], default: "identity" },
  ),
};

export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Headers that every response may have. */
export const COMMON_HEADERS = {
  "X-Request-Id": requiredHeader("The id of this request in the log.", {
    pattern: "^[A-Za-z0-9._-]{1,128}$",
  }),
  "API-Version": requiredHeader("The version of the API.", {
    enum: API_VERSIONS,
  }),
  "Vary": requiredHeader("The request headers that the response depends on."),
  "Cache-Control": requiredHeader(
    "`private, no-cache`: only the client may cache the response, and it revalidates it each time. `no-store` with a new API key or secret of a webhook.",
  ),
  "X-Content-Type-Options": requiredHeader(
    "Browsers must not guess the content type.",
    {
      enum: ["nosniff"],
    },
  ),
  "Server-Timing": requiredHeader(
    "The time that the service took, in milliseconds (W3C Server Timing).",
  ),
  "Access-Control-Allow-Origin": header(
    "The origin of the page, if it may read responses.",
  ),
  "Access-Control-Expose-Headers": header(
    "The headers that the page may read.",
  ),
};

/** Headers of responses, by name. */
export const RESPONSE_HEADERS = {
  ...COMMON_HEADERS,
  "ETag": header(
    "A strong entity tag (RFC 9110, 8.8.3). Absent with `version` or `at`.",
    { pattern: '^"[^"]+"$' },
  ),
  "Content-Disposition": header(
    "The name of the file of a sheet, with the day (RFC 6266).",
  ),
  "Location": requiredHeader("The path of the new resource.", {
    format: "uri-reference",
  }),
  "Link": header(
    "The `first`, `prev`, `next` and `last` page of the list (RFC 8288). Absent if it would exceed 2,048 characters.",
  ),
  "Idempotent-Replayed": header(
    "This is the stored response to an earlier request with the same key.",
    { enum: ["true"] },
  ),
  "Ignored-Fields": header(
    "The ignored fields of the body, such as `publisher_name, contributors.contributor_name`, and `product_form_id` if a product has no format. `warnings` in the body has those whose values differ from the response. Absent if there are none.",
  ),
  "Accept-Encoding": header(
    "The supported content coding, if that of the body is not (RFC 9110, 12.5.3): none, or gzip for ONIX and sheets.",
    { enum: ["identity", "gzip"] },
  ),
  "WWW-Authenticate": requiredHeader("How to authenticate (RFC 9110, 11.6.1)."),
  "Retry-After": header(
    "The number of seconds to wait before a retry, if a retry can succeed.",
    { type: "integer", minimum: 0 },
  ),
  "RateLimit-Policy": header(
    'What was exceeded (draft-ietf-httpapi-ratelimit-headers): `"caller";q=500;qu="concurrent-requests"`, or `organization` with 1000.',
  ),
  "RateLimit": header(
    'What is left of it, and for how many seconds: `"caller";r=0;t=1`.',
  ),
};

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

type Schema = Record<string, unknown>;

function header(description: string, schema: Schema = {}) {
  return { description, schema: { type: "string", ...schema } };
}

function requiredHeader(description: string, schema?: Schema) {
  return { ...header(description, schema), required: true };
}
