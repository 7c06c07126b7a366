import type * as v from "valibot";
import { excerpt } from "./excerpt.ts";

/* The errors that clients see: their codes, statuses and details. */

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
 * An error in a request: its place, a code for machines and a sentence for people. `hint` is the
 * part of the sentence that tells the client what to do. `pointer` is a JSON Pointer (RFC 6901)
 * into the body. An error in XML has a line and a column instead, one in a sheet a line and the
 * name of a column. `count` is the number of records that block the request.
 */
export type ErrorDetail =
  & (
    | { pointer: string }
    | { parameter: string }
    | { header: string }
    | { count: number }
    | { line: number; column: string }
  )
  & { code: string; message: string; hint?: string; line?: number; column?: number | string };

/** The maximum number of details in a response. The message states the number of all errors. */
const MAX_DETAILS = 100;

/** Errors beyond this number are not counted: an error takes fifty times as long as a valid value. */
export const MAX_ERRORS = MAX_DETAILS;

/** Separates the sentence from the hint in the text of an error. */
const HINT = "\u001f";

/** Joins a sentence and a hint to the text of an error. Its message is `sentence: hint`. */
export function withHint(sentence: string, hint: string): string {
  return sentence + HINT + hint;
}

/** Splits a text into its message and its hint. */
function messageAndHint(text: string): { message: string; hint?: string } {
  const at = text.lastIndexOf(HINT);
  if (at < 0) return { message: text };
  const hint = text.slice(at + 1);
  return { message: `${text.slice(0, at)}: ${hint}`, hint };
}

/**
 * An error that becomes a response: the client gets its code, message, hint and
 * details. The cause appears only in the log.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  /** The part of the message that tells the client what to do (`withHint`). */
  readonly hint: string | undefined;
  readonly details: ErrorDetail[];
  readonly headers: Record<string, string>;
  /** What the request has done before the error, if anything. */
  readonly report: unknown;
  /** The references and dates of a product's invalid body that are still to be checked. */
  accepted?: Record<string, unknown>;
  /** The invalid body, if it is short enough that more of its errors can be found. */
  sent?: unknown;

  constructor(
    code: ErrorCode,
    text: string,
    options:
      & ErrorOptions
      & Partial<Pick<ApiError, "hint" | "details" | "headers" | "report">> = {},
  ) {
    const { message, hint } = messageAndHint(text);
    super(message, options);
    this.code = code;
    this.hint = options.hint ?? hint;
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

/** Adds details to the error of a body. */
export function withDetails(error: ApiError, details: readonly ErrorDetail[]): ApiError {
  const all = invalid("The body", [...error.details, ...details]);
  all.accepted = error.accepted;
  all.sent = error.sent;
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
 * A `TOO_MANY_REQUESTS` that the client may retry after a second. The quota of this policy is used up
 * (draft-ietf-httpapi-ratelimit-headers).
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
  if (issue.type !== "object" || issue.received !== "undefined") return splitMessage(issue.message);
  const hint = REQUIRED[String(issue.path?.at(-1)?.key)];
  return { code: "required", message: `This field is required${hint ? `: ${hint}` : ""}` };
}

/** Advice on required fields whose name is not enough. */
const REQUIRED: Readonly<Record<string, string>> = {
  contributor_id: "send contributor_name instead, or the id",
  contributor_role_id: "send contributor_role_code instead, such as A01 for an author, or the id",
  collection_id: "send collection_name instead, or the id",
  field_id: "send field_name instead, or the id",
  language_role: "such as 01 for the language of the text, see /code-lists/22",
  subject_scheme_identifier: "such as 93 for Thema, see /code-lists/27",
  product_id_type: "such as 03 for a GTIN, see /code-lists/5",
  measure_type: "such as 01 for the height, see /code-lists/48",
  measure_unit_code: "such as mm for millimetres, see /code-lists/50",
  extent_type: "such as 09 for the duration, see /code-lists/23",
  extent_unit: "such as 05 for minutes, see /code-lists/24",
  audience_code_type: "such as 01 for the codes of /code-lists/28, see /code-lists/29",
  publishing_date_role: "such as 01 for the date of publication, see /code-lists/163",
  product_form_feature_type: "such as 09 for accessibility, see /code-lists/79",
  audience_range_qualifier: "such as 17 for ages in years, see /code-lists/30",
};

/** The detail of a rule's message `code: Sentence`. */
export function detailAt(pointer: string, message: string): ErrorDetail {
  return { pointer, ...splitMessage(message) };
}

/** The code, the sentence and the hint of a rule's message. */
export function splitMessage(text: string) {
  const [, code = "invalid", sentence = text] = /^(\w+): (.*)$/s.exec(text) ??
    [];
  return { code, ...messageAndHint(sentence) };
}

/** The JSON Pointer to an issue. RFC 6901 escapes `~` as `~0` and `/` as `~1`. */
export function pointerTo({ path }: Issue): string {
  return (path ?? []).map(({ key }) =>
    "/" + printable(key).replaceAll("~", "~0").replaceAll("/", "~1")
  ).join("");
}

/**
 * Shortens and escapes a key for a message. Clients choose keys, so it may be long or contain a
 * lone surrogate.
 */
export function printable(key: unknown): string {
  const text = String(key).toWellFormed();
  return text.length > 100 ? excerpt(text, 100) + "…" : text;
}

/** Moves the pointers of an error below `pointer`, whose value is the body. */
export function below(pointer: string, error: ApiError): ApiError {
  const { code, message, hint, headers } = error;
  const details = error.details.map((detail) =>
    "pointer" in detail && detail.pointer.startsWith(pointer)
      ? { ...detail, pointer: detail.pointer.slice(pointer.length) }
      : detail
  );
  return new ApiError(code, message, { cause: error.cause, hint, details, headers });
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

/** Returns the detail of a value that the database refuses for an unknown reason. */
export function refusedBy(error: unknown, subject: string): ErrorDetail {
  const { code } = error as { code: string };
  return detailAt(
    "",
    `refused: The database refuses the ${subject} (SQLSTATE ${code})`,
  );
}
