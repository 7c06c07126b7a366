import { channel } from "node:diagnostics_channel";
import { ApiError } from "./errors.ts";
import type { InTurns } from "./turns.ts";

/*
 * Defects: errors of the service itself while it handles one value, operation, line or record. The
 * client gets an error for that one alone. Its neighbours are written, and the log says where the
 * defect occurred.
 */

/** A defect, as it is published. */
export interface Defect {
  error: unknown;
  /** The id of the stored product on which the service failed. */
  product?: string | undefined;
}

/** The channel of defects, to which the log subscribes. */
export const DEFECTS = channel("catalogue:defects");

/** The error that a client gets for a defect. */
export const DEFECT = {
  code: "internal_error",
  message: "The service failed to work on this. Its log says where: please report it",
};

/** The error of a defect, in the form of a rule's message. */
export const DEFECT_TEXT = `${DEFECT.code}: ${DEFECT.message}`;

/** Returns the error of an operation or line on which the service fails. */
export function defectError(): ApiError {
  const details = [{ pointer: "", ...DEFECT }];
  return new ApiError("INTERNAL_ERROR", DEFECT.message, { details });
}

/** Does the work. If it throws an error that is not for the client, publishes a defect and returns the result of `instead`. */
export function catchDefect<T, E>(
  work: () => T,
  instead: () => E,
  product?: string,
): T | E {
  try {
    return work();
  } catch (error) {
    publishDefect(error, product);
    return instead();
  }
}

/** The same of work that yields where other requests may run. */
export function* catchDefectInTurns<T, E>(
  work: InTurns<T>,
  instead: () => E,
  product?: string,
): InTurns<T | E> {
  try {
    return yield* work;
  } catch (error) {
    publishDefect(error, product);
    return instead();
  }
}

/** Publishes an error as a defect, or throws it if it is for the client. */
function publishDefect(error: unknown, product: string | undefined): void {
  if (error instanceof ApiError) throw error;
  DEFECTS.publish({ error, product } satisfies Defect);
}
