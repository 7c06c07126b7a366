import { type ErrorCode, STATUS } from "../errors.ts";
import { exampleFailures } from "./examples.ts";
import { type ResponseHeader, responseHeaders } from "./headers.ts";
import type { Operation } from "./operation.ts";
import { failure } from "./schemas.ts";

/** The meaning of each code. */
const WHEN: Record<ErrorCode, string> = {
  VALIDATION_ERROR:
    "A field, parameter, header or reference is invalid; `details` lists the errors.",
  INVALID_JSON: "The body is not JSON in UTF-8.",
  UNSUPPORTED_VERSION: "`Accept-Version` names an unsupported version.",
  UNAUTHORIZED: "Credentials are missing, unknown, expired or revoked.",
  FORBIDDEN:
    "The credentials do not allow this, or the token's subject is not a member of the organization.",
  NOT_FOUND: "The organization has no such record.",
  METHOD_NOT_ALLOWED:
    "The path does not support this method. `Allow` lists the methods that it supports.",
  REQUEST_TIMEOUT: "The body did not arrive in time.",
  CONFLICT:
    "Another record refers to this one: `details` says how many products, or a publishing program has the product.",
  AMBIGUOUS: "Several products have the value that an upsert matches.",
  IDEMPOTENCY_IN_PROGRESS:
    "Another request with this `Idempotency-Key` is still running.",
  CURSOR_EXPIRED:
    "The cursor is older than 30 days, of another organization, or from before the database was restored: begin again with an empty copy.",
  PRECONDITION_FAILED:
    "The record has changed: `If-Match` names an earlier state.",
  PAYLOAD_TOO_LARGE: "The body is too large.",
  UNSUPPORTED_MEDIA_TYPE: "The body is not sent as `application/json`.",
  IDEMPOTENCY_MISMATCH: "This `Idempotency-Key` was used with another body.",
  INTERNAL_ERROR: "The service failed.",
  DATABASE_ERROR: "The database failed.",
  SERVICE_UNAVAILABLE:
    "The database is overloaded, or the service is stopping.",
};

/** The header that accompanies a code. */
const HEADERS: Partial<Record<ErrorCode, ResponseHeader>> = {
  UNAUTHORIZED: "WWW-Authenticate",
  IDEMPOTENCY_IN_PROGRESS: "Retry-After",
  SERVICE_UNAVAILABLE: "Retry-After",
};

/** All codes and their statuses, as a table in Markdown. */
export function tableOfCodes(): string {
  const rows = Object.entries(WHEN).map(([code, when]) =>
    `| ${STATUS[code as ErrorCode]} | \`${code}\` | ${when} |`
  );
  return ["| Status | Code | When |", "|---|---|---|", ...rows].join("\n");
}

/** References to the responses of an operation with these codes, by status. */
export function failureAnswers(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    byStatus(codes).map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${nameOf(codes)}` },
    ]),
  );
}

/** The Response Objects that `failureAnswers` refers to, by name. */
export function failureResponses(operations: Record<string, Operation>) {
  return Object.fromEntries(
    groupsOf(operations).map((codes) => [
      nameOf(codes),
      {
        description: codes.map((code) => `\`${code}\`: ${WHEN[code]}`)
          .join("\n\n"),
        headers: responseHeaders(
          ...codes.flatMap((code) => HEADERS[code] ?? []),
        ),
        content: {
          "application/json": {
            schema: { $ref: `#/components/schemas/${nameOf(codes)}` },
            examples: exampleFailures(({ operation, answer }) =>
              codes.includes(answer.error.code) &&
              byStatus(operations[operation]!.errors).some(([, group]) =>
                nameOf(group) === nameOf(codes)
              )
            ),
          },
        },
      },
    ]),
  );
}

/** The schemas of the bodies of these responses, under the same names. */
export function failureSchemas(operations: Record<string, Operation>) {
  return Object.fromEntries(
    groupsOf(operations).map((codes) => [nameOf(codes), failure(codes)]),
  );
}

/** The codes of all operations, grouped by operation and status. */
function groupsOf(operations: Record<string, Operation>): ErrorCode[][] {
  return Object.values(operations).flatMap(({ errors }) =>
    byStatus(errors).map(([, codes]) => codes)
  );
}

/** The groups are in the order of `STATUS`, so that equal groups have equal names. */
function byStatus(codes: readonly ErrorCode[]) {
  const all = (Object.keys(STATUS) as ErrorCode[])
    .filter((code) => codes.includes(code));
  return [...Map.groupBy(all, (code) => STATUS[code])];
}

function nameOf(codes: ErrorCode[]): string {
  return codes.join("-or-");
}
