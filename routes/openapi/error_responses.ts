import { type ErrorCode, STATUS } from "../../schema/errors.ts";
import { failure } from "./envelopes.ts";
import { exampleFailures } from "./examples.ts";
import { COMMON_HEADERS, type ResponseHeader } from "../../schema/headers.ts";
import { ref } from "./json_schema.ts";
import type { Operation } from "../../schema/operation.ts";

/*
 * Derives the error responses of operations from their rows. For example, an operation with a body
 * can respond with `INVALID_JSON`.
 */

/** The meaning of each code. */
const WHEN_RETURNED: Record<ErrorCode, string> = {
  VALIDATION_ERROR:
    "A field, parameter, header or reference is invalid; `details` lists the errors.",
  INVALID_JSON: "The body is not JSON in UTF-8.",
  INVALID_XML:
    "The body cannot be read further as an ONIX message; `details` has the line and the column. Records before it stay written, and `report` lists them.",
  UNSUPPORTED_VERSION: "`Accept-Version` names an unsupported version.",
  UNAUTHORIZED: "Credentials are missing, unknown, expired or revoked.",
  FORBIDDEN:
    "The credentials do not allow this, or the token's subject is not a member of the organization.",
  NOT_FOUND: "The organization has no such record.",
  METHOD_NOT_ALLOWED:
    "The path does not support this method. `Allow` lists the methods that it supports.",
  REQUEST_TIMEOUT: "The body did not arrive in time.",
  CONFLICT:
    "The state of a record forbids it: a product is in a publishing program, products refer to the record (`details` has their number), the organization has its 10 webhooks, or a message cannot be sent again.",
  AMBIGUOUS: "Several products have the ISBN that an upsert matches: the message has their ids.",
  IDEMPOTENCY_IN_PROGRESS: "Another request with this `Idempotency-Key` is still running.",
  HISTORY_EXPIRED: "The version is older than what is kept.",
  CURSOR_EXPIRED:
    "The cursor is older than 30 days, belongs to another organization, or was issued before a restore or a failover of the database: start over with an empty copy, without `after`.",
  PRECONDITION_FAILED: "The record has changed: `If-Match` names an earlier state.",
  PAYLOAD_TOO_LARGE: "The body is too large.",
  UNSUPPORTED_MEDIA_TYPE:
    "The `Content-Type` is not `application/json` in UTF-8 (for ONIX, `application/xml` or `text/xml`; for a sheet, `text/csv` or the type of an `.xlsx` workbook), or the body is compressed (for ONIX and sheets, otherwise than with gzip).",
  IDEMPOTENCY_MISMATCH: "This `Idempotency-Key` was used for another request.",
  TOO_MANY_REQUESTS:
    "500 requests of this key or user, or 1,000 of its organization, are waiting already. Retry after `Retry-After`.",
  INTERNAL_ERROR: "The service failed.",
  DATABASE_ERROR: "The database failed.",
  SERVICE_UNAVAILABLE:
    "The service or its database is starting, stopping, unreachable or overloaded. Retry after `Retry-After`.",
};

/** The headers that accompany a code. */
const ERROR_HEADERS: Partial<Record<ErrorCode, ResponseHeader[]>> = {
  UNAUTHORIZED: ["WWW-Authenticate"],
  IDEMPOTENCY_IN_PROGRESS: ["Retry-After"],
  UNSUPPORTED_MEDIA_TYPE: ["Accept-Encoding"],
  TOO_MANY_REQUESTS: ["Retry-After", "RateLimit-Policy", "RateLimit"],
  SERVICE_UNAVAILABLE: ["Retry-After"],
};

/** All codes with their statuses and meanings, by status. */
export function errorCodes() {
  return Object.entries(WHEN_RETURNED).map(([code, when]) => (
    { status: STATUS[code as ErrorCode], code, when }
  ));
}

/** All codes and their statuses, as a table in Markdown. */
export function tableOfCodes(): string {
  const rows = errorCodes().map(({ status, code, when }) =>
    `| ${status} | \`${code}\` | ${when} |`
  );
  return ["| Status | Code | When |", "|---|---|---|", ...rows].join("\n");
}

/** The errors that a part of an operation implies. */
const IMPLIED: Record<string, ErrorCode[]> = {
  request: ["VALIDATION_ERROR", "UNSUPPORTED_VERSION", "INTERNAL_ERROR"],
  credentials: [
    "UNAUTHORIZED",
    "FORBIDDEN",
    "TOO_MANY_REQUESTS",
    "DATABASE_ERROR",
    "SERVICE_UNAVAILABLE",
  ],
  path: ["NOT_FOUND"],
  body: ["REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
  json: ["INVALID_JSON"],
  xml: ["INVALID_XML"],
  "If-Match": ["PRECONDITION_FAILED"],
  "Idempotency-Key": ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"],
};

/** The errors of an operation with one status. Operations with equal codes share a response of this name. */
export interface Failure {
  operation: string;
  status: number;
  codes: ErrorCode[];
  name: string;
}

/** The errors of each operation, by status. */
export function failuresOf(operations: readonly Operation[]): Failure[] {
  return operations.flatMap((operation) => {
    const { key, permission, body, xml = [], csv = [], xlsx = [], headers, errors } = operation;
    const parts = [
      "request",
      ...permission === "none" ? [] : ["credentials"],
      ...key.includes("{") ? ["path"] : [],
      ...body ? ["body", "json"] : [],
      ...xml.includes("body") ? ["body", "xml"] : [],
      ...csv.includes("body") || xlsx.includes("body") ? ["body"] : [],
      ...headers ?? [],
    ];
    const possible = [
      ...parts.flatMap((part) => IMPLIED[part] ?? []),
      ...errors ?? [],
    ];
    const codes = (Object.keys(STATUS) as ErrorCode[])
      .filter((code) => possible.includes(code));
    const groups = Map.groupBy(codes, (code) => STATUS[code]);
    return Array.from(groups, ([status, codes]) => (
      { operation: key, status, codes, name: codes.join("-or-") }
    ));
  });
}

/** References to the responses to the errors of an operation, by status. */
export function failureReferences(failures: Failure[], { key }: Operation) {
  const own = failures.filter(({ operation }) => operation === key);
  return Object.fromEntries(
    own.map(({ status, name }) => [status, ref("responses", name)]),
  );
}

/** The Response Objects that `failureReferences` refers to, by name. */
export function failureResponses(failures: Failure[]) {
  return Object.fromEntries(failures.map(({ name, codes }) => [name, {
    description: codes.map((code) => `\`${code}\`: ${WHEN_RETURNED[code]}`)
      .join("\n\n"),
    headers: responseHeaders(
      codes.flatMap((code) => ERROR_HEADERS[code] ?? []),
    ),
    content: {
      "application/json": {
        schema: ref("schemas", name),
        examples: exampleFailures(({ operation, response }) =>
          codes.includes(response.error.code) &&
          failures.some((failure) => failure.name === name && failure.operation === operation)
        ),
      },
    },
  }]));
}

/** The schemas of the bodies of these responses, under the same names. */
export function failureSchemas(failures: Failure[]) {
  return Object.fromEntries(
    failures.map(({ name, codes }) => [name, failure(codes)]),
  );
}

/** References to the common response headers and to these. */
export function responseHeaders(own: readonly ResponseHeader[]) {
  const names = [...Object.keys(COMMON_HEADERS), ...own];
  return Object.fromEntries(names.map((name) => [name, ref("headers", name)]));
}
