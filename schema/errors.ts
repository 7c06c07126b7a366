import type * as v from "valibot";

/** Error codes and their statuses (specification, 7.2). */
export const STATUS = {
  VALIDATION_ERROR: 400,
  INVALID_JSON: 400,
  INVALID_XML: 400,
  UNSUPPORTED_VERSION: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  AMBIGUOUS: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  CURSOR_EXPIRED: 410,
  HISTORY_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
  DATABASE_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/**
 * An error in a request: its place, a code for machines and a sentence for people.
 * `pointer` is a JSON Pointer (RFC 6901) into the body. `count` is the number of
 * records that block the request. An error in an XML body has a line and a column instead, one
 * in a sheet a line and the name of its column.
 */
export type ErrorDetail =
  & (
    | { pointer: string }
    | { parameter: string }
    | { header: string }
    | { count: number }
    | { line: number; column: string }
  )
  & { code: string; message: string; line?: number; column?: number | string };

/** The maximum number of details in a response. The message states the number of all errors. */
const MAX_DETAILS = 100;

/** Errors beyond this number are not counted: an error takes fifty times as long as a valid value. */
export const MAX_ERRORS = MAX_DETAILS;

/**
 * An error that becomes a response: the client gets its code, message and
 * details. The cause appears only in the log.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[];
  readonly headers: Record<string, string>;
  /** What the request has done before the error, if anything. */
  readonly report: unknown;
  /** What was accepted of a product's body at fault and is not checked yet: references, dates. */
  accepted?: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    message: string,
    options:
      & ErrorOptions
      & Partial<Pick<ApiError, "details" | "headers" | "report">> = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = STATUS[code];
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
    this.report = options.report;
  }
}

/** A `VALIDATION_ERROR` with the first hundred details of this number of errors. */
export function invalid(
  subject: string,
  details: ErrorDetail[],
  errors = details.length,
): ApiError {
  const count = errors > MAX_ERRORS
    ? `more than ${MAX_ERRORS} errors`
    : errors === 1
    ? "1 error"
    : `${errors} errors`;
  const more = errors > MAX_DETAILS ? `; the first ${MAX_DETAILS} are listed` : "";
  return new ApiError("VALIDATION_ERROR", `${subject} has ${count}${more}`, {
    details: details.slice(0, MAX_DETAILS),
  });
}

/** The error of a body with these details besides its own. */
export function withDetails(error: ApiError, details: readonly ErrorDetail[]): ApiError {
  const all = invalid("The body", [...error.details, ...details]);
  all.accepted = error.accepted;
  return all;
}

/** The `VALIDATION_ERROR` of a body with these issues. */
export function invalidBody(issues: readonly Issue[]): ApiError {
  return invalid("The body", bodyDetails(issues), issues.length);
}

/** The `VALIDATION_ERROR` of a body with one error, whose message is `code: Sentence`. */
export function invalidAt(pointer: string, message: string): ApiError {
  return invalid("The body", [detailAt(pointer, message)]);
}

/** A `CONFLICT` with its reason, and the number of what blocks the request. */
export function conflict(code: string, message: string, count = 1): ApiError {
  return new ApiError("CONFLICT", message, {
    details: [{ code, count, message }],
  });
}

/** A `SERVICE_UNAVAILABLE` that the client may retry after a second. */
export function unavailable(message: string, options?: ErrorOptions): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, {
    ...options,
    headers: { "retry-after": "1" },
  });
}

/**
 * A `TOO_MANY_REQUESTS` that the client may retry after a second. Of this policy, nothing of
 * the quota is left (draft-ietf-httpapi-ratelimit-headers).
 */
export function tooManyRequests(
  message: string,
  policy: string,
  quota: number,
): ApiError {
  return new ApiError("TOO_MANY_REQUESTS", message, {
    headers: {
      "retry-after": "1",
      "ratelimit-policy": `"${policy}";q=${quota};qu="concurrent-requests"`,
      "ratelimit": `"${policy}";r=0;t=1`,
    },
  });
}

type Issue = v.BaseIssue<unknown>;

/**
 * The details of valibot's first issues in a body, or in the part of it at the pointer
 * `at`. Messages in `schema/` have the form `code: Sentence`, which keeps a rule
 * and its code together.
 */
export function bodyDetails(
  issues: readonly Issue[],
  at = "",
): ErrorDetail[] {
  return issues.slice(0, MAX_DETAILS).map((issue) => ({
    pointer: at + pointerTo(issue),
    ...codeAndMessage(issue),
  }));
}

/** The details of valibot's issues in a query. */
export function queryDetails(issues: readonly Issue[]): ErrorDetail[] {
  return issues.map((issue) => ({
    parameter: printable(issue.path?.[0]?.key),
    ...codeAndMessage(issue),
  }));
}

function codeAndMessage(issue: Issue) {
  return issue.type === "object" && issue.received === "undefined"
    ? { code: "required", message: "This field is required" }
    : splitMessage(issue.message);
}

/** The detail of a rule's message `code: Sentence`. */
export function detailAt(pointer: string, message: string): ErrorDetail {
  return { pointer, ...splitMessage(message) };
}

/** The code and the sentence of a rule's message. */
export function splitMessage(text: string) {
  const [, code = "invalid", message = text] = /^(\w+): (.*)$/s.exec(text) ??
    [];
  return { code, message };
}

/** The JSON Pointer to an issue. RFC 6901 escapes `~` as `~0` and `/` as `~1`. */
export function pointerTo({ path }: Issue): string {
  return (path ?? []).map(({ key }) =>
    "/" + printable(key).replaceAll("~", "~0").replaceAll("/", "~1")
  ).join("");
}

/** Clients choose keys: they may be long or contain a lone surrogate. */
export function printable(key: unknown): string {
  const text = String(key).toWellFormed();
  return text.length > 100 ? text.slice(0, 100).toWellFormed() + "…" : text;
}

/** The same error in the value at `pointer`, which is the whole body. */
export function below(pointer: string, error: ApiError): ApiError {
  const { code, message, headers } = error;
  const details = error.details.map((detail) =>
    "pointer" in detail && detail.pointer.startsWith(pointer)
      ? { ...detail, pointer: detail.pointer.slice(pointer.length) }
      : detail
  );
  return new ApiError(code, message, { cause: error.cause, details, headers });
}

/** The detail of an id that the organization has no record for. */
export function unknownReference(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "unknown_reference: The organization has no record with this id",
  );
}

/** The detail of an entry's `id` that is not one of the product's own entries. */
export function unknownEntry(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "unknown_reference: The product has no entry with this id",
  );
}

/** The detail of a series that is not one of the product's collections (specification, 2.1). */
export function seriesNotAttached(pointer: string): ErrorDetail {
  return detailAt(
    pointer,
    "series_not_attached: The series is not one of the product's collections",
  );
}

/** The detail of a value that the database refuses although nothing explains it. */
export function refusedBy(error: unknown, subject: string): ErrorDetail {
  const { code } = error as { code: string };
  return detailAt(
    "",
    `refused: The database refuses the ${subject} (SQLSTATE ${code})`,
  );
}
