import { isDatabaseFault, isTransient } from "../db/connections/sqlstate.ts";
import { ApiError, unavailable } from "../schema/errors.ts";

/** The error that the client is told. Everything internal stays behind as its cause. */
export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (isTransient(cause)) {
    return unavailable("The database cannot answer at the moment", cause);
  }
  if (isDatabaseFault(cause)) {
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
