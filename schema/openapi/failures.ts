import { type ErrorCode, STATUS } from "../errors.ts";
import { exampleFailures } from "./examples.ts";
import { type ResponseHeader, responseHeaders } from "./headers.ts";
import type { Operation } from "./operations.ts";
import { failure } from "./schemas.ts";

/** When a code is answered. */
const WHEN: Record<ErrorCode, string> = {
  VALIDATION_ERROR:
    "A field, a parameter, a header or a reference is wrong; `details` names each fault.",
  INVALID_JSON: "The body is not JSON in UTF-8.",
  UNSUPPORTED_VERSION: "`Accept-Version` names a version that is not served.",
  UNAUTHORIZED: "Credentials are missing, unknown, expired or revoked.",
  FORBIDDEN:
    "The credentials may only read, or the token's subject is no member of the organization.",
  NOT_FOUND: "The organization has no such product.",
  METHOD_NOT_ALLOWED:
    "The path does not answer this method; `Allow` has those that it does.",
  REQUEST_TIMEOUT: "The body did not arrive in time.",
  CONFLICT: "The product is used in a publishing program.",
  AMBIGUOUS: "Several products have the value that an upsert matches.",
  IDEMPOTENCY_IN_PROGRESS:
    "Another request with this `Idempotency-Key` is under way.",
  PRECONDITION_FAILED: "The product is not the one that `If-Match` names.",
  PAYLOAD_TOO_LARGE: "The body is larger than the service takes.",
  UNSUPPORTED_MEDIA_TYPE: "The body is not sent as `application/json`.",
  IDEMPOTENCY_MISMATCH: "This `Idempotency-Key` was used with another body.",
  INTERNAL_ERROR: "The service failed.",
  DATABASE_ERROR: "The database failed.",
  SERVICE_UNAVAILABLE: "The database has no time, or the service is stopping.",
};

/** What a code is answered with besides its body. */
const HEADERS: Partial<Record<ErrorCode, ResponseHeader>> = {
  UNAUTHORIZED: "WWW-Authenticate",
  IDEMPOTENCY_IN_PROGRESS: "Retry-After",
  SERVICE_UNAVAILABLE: "Retry-After",
};

/** All codes with their status, as a table in Markdown. */
export function tableOfCodes(): string {
  const rows = Object.entries(WHEN).map(([code, when]) =>
    `| ${STATUS[code as ErrorCode]} | \`${code}\` | ${when} |`
  );
  return ["| Status | Code | When |", "|---|---|---|", ...rows].join("\n");
}

/** The answers of an operation that may fail with these codes, by status. */
export function failureAnswers(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    byStatus(codes).map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${nameOf(codes)}` },
    ]),
  );
}

/** The answers that `failureAnswers` of any of the operations refers to, by name. */
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

/** The bodies of these answers, under the same names. */
export function failureSchemas(operations: Record<string, Operation>) {
  return Object.fromEntries(
    groupsOf(operations).map((codes) => [nameOf(codes), failure(codes)]),
  );
}

/** The codes that one operation answers with one status, for all operations and statuses. */
function groupsOf(operations: Record<string, Operation>): ErrorCode[][] {
  return Object.values(operations).flatMap(({ errors }) =>
    byStatus(errors).map(([, codes]) => codes)
  );
}

/** In the order of the table of statuses, so that the same codes have one name. */
function byStatus(codes: readonly ErrorCode[]) {
  const all = (Object.keys(STATUS) as ErrorCode[])
    .filter((code) => codes.includes(code));
  return [...Map.groupBy(all, (code) => STATUS[code])];
}

function nameOf(codes: ErrorCode[]): string {
  return codes.join("-or-");
}
