import { channel } from "node:diagnostics_channel";
import { ApiError } from "./errors.ts";

/*
 * Errors of the service itself, thrown at one value, operation, line or record. The client
 * learns of a fault of that alone, its neighbours are written, and the log says where it was.
 */

/** What is published of an error. */
export interface Defect {
  error: unknown;
  /** The id of the product that it is about, if it is about a stored one. */
  product?: string | undefined;
}

/** The errors, for what logs them. */
export const DEFECTS = channel("catalogue:defects");

/** What is told of the place at which the service fails. */
export const DEFECT = {
  code: "internal_error",
  message: "The service failed to work on this. Its log says where: please report it",
};

/** The same as the message of a rule. */
export const UNRULED = `${DEFECT.code}: ${DEFECT.message}`;

/** The error of an operation or a line at which the service fails. */
export function failure(): ApiError {
  const details = [{ pointer: "", ...DEFECT }];
  return new ApiError("INTERNAL_ERROR", DEFECT.message, { details });
}

/** Does the work. An error that is not meant for the client is a defect: `instead` is done. */
export function guarded<T, E>(
  work: () => T,
  instead: () => E,
  product?: string,
): T | E {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    DEFECTS.publish({ error, product } satisfies Defect);
    return instead();
  }
}
