import {
  isCancelled,
  isConflict,
  isDatabaseError,
  isDiskFull,
  isLockTimeout,
  isTransient,
} from "../db/connections/errors.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import { GzipError } from "../schema/gunzip.ts";

/* Turns errors into the errors that clients see. */

/** The error for the client of any error. Its cause keeps internal details for the log. */
export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof GzipError) {
    const { message } = cause;
    return new ApiError("VALIDATION_ERROR", `The body cannot be unpacked: ${message}`, {
      cause,
      details: [{ header: "content-encoding", code: "invalid_gzip", message }],
    });
  }
  if (isLockTimeout(cause)) {
    return unavailable("Another transaction holds a lock for too long", {
      cause,
    });
  }
  if (isCancelled(cause)) {
    return unavailable(
      "The database took too long for the request: ask for less at once, or retry later",
      { cause },
    );
  }
  if (isConflict(cause)) {
    return unavailable("Other requests are changing the same records", {
      cause,
    });
  }
  if (isDiskFull(cause)) {
    return unavailable("The database has no room left on its disk", {
      cause,
    });
  }
  if (isTransient(cause)) {
    return unavailable("The database is not available", { cause });
  }
  if (isDatabaseError(cause)) {
    return new ApiError(
      "DATABASE_ERROR",
      "The database could not complete the request",
      { cause },
    );
  }
  return new ApiError("INTERNAL_ERROR", "The request could not be completed", {
    cause,
  });
}

/** The envelope of a failure (specification, 7.1). */
export function failureText(
  { code, message, hint, details, report }: ApiError,
  requestId: string,
): string {
  const error = { code, message, hint, details, request_id: requestId, report };
  return JSON.stringify({ success: false, error });
}
