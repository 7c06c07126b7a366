import {
  isDatabaseError,
  isLockTimeout,
  isTransient,
} from "../db/connections/errors.ts";
import { ApiError, unavailable } from "../schema/errors.ts";

/** The error for the client. Its cause keeps internal details for the log. */
export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (isLockTimeout(cause)) {
    return unavailable("Another transaction holds a lock for too long", cause);
  }
  if (isTransient(cause)) {
    return unavailable("The database is not available", cause);
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
