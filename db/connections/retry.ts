import { pause } from "./deadline.ts";
import { isConflict, isConnectionLoss } from "./sqlstate.ts";

/** How often an operation is run, at most. */
const MAX_ATTEMPTS = 3;

/**
 * Runs the operation, and again where PostgreSQL asks for that or the connection
 * was lost: one whose commit may have happened fails with neither.
 */
export async function retrying<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      const isWorthwhile = isConflict(error) || isConnectionLoss(error);
      if (attempt === MAX_ATTEMPTS || !isWorthwhile) throw error;
      // So that two that were in each other's way do not meet again.
      await pause(Math.random() * 20 * attempt);
    }
  }
}
