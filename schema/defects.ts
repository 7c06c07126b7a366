import { channel } from "node:diagnostics_channel";
import { ApiError } from "./errors.ts";

/*
 * Errors of the service itself: what it throws at one value, operation, record or line. The
 * client learns of a fault of that alone, the others are worked on, and the log says where.
 */

/** The errors, for whoever logs them. */
export const DEFECTS = channel("catalogue:defects");

/** What is told of a value, record or line. */
export const FAILED =
  "internal_error: The service failed at this. Its log says where: please report it";

/** Does the work. What that throws, but for an error that is meant for the client, is a defect, and `instead` is done. */
export function guarded<T>(work: () => T, instead: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    DEFECTS.publish(error);
    return instead();
  }
}
