/** What can go wrong, and the status it is answered with (specification, 7.2). */
export const STATUS = {
  VALIDATION_ERROR: 400,
  INVALID_JSON: 400,
  UNSUPPORTED_VERSION: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  AMBIGUOUS: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  INTERNAL_ERROR: 500,
  DATABASE_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/**
 * One thing that is wrong with a request: where, a code for machines and a
 * sentence for people. `pointer` is a JSON Pointer (RFC 6901) into the body.
 */
export type Fault =
  & ({ pointer: string } | { parameter: string } | { header: string })
  & { code: string; message: string };

/** Faults in one answer; what is beyond them is counted, not listed. */
export const MAX_FAULTS = 100;

interface ApiErrorOptions extends ErrorOptions {
  details?: Fault[];
  headers?: Record<string, string>;
}

/**
 * A failure the client may be told about: code, message and details are sent
 * as they stand. The cause is for the log.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Fault[];
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.status = STATUS[code];
    this.details = options.details ?? [];
    this.headers = options.headers ?? {};
  }
}

/** A `VALIDATION_ERROR` that lists the faults, the first hundred of them. */
export function invalid(what: string, faults: Fault[]): ApiError {
  const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
  const rest = faults.length > MAX_FAULTS
    ? `; the first ${MAX_FAULTS} are listed`
    : "";
  return new ApiError("VALIDATION_ERROR", `${what} has ${count}${rest}`, {
    details: faults.slice(0, MAX_FAULTS),
  });
}

/** A failure that the client may try again after a second. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, {
    cause,
    headers: { "retry-after": "1" },
  });
}
