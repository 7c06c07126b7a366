/*
 * Work on a record of any size, divided into steps of less than a millisecond or so. A
 * caller that serves others does some steps in a turn; one that does not, all at once.
 */

/** Work that yields after each step, and returns its result. */
export type Steps<T> = Generator<void, T, void>;

/** Between how many steps other requests may have their turn. */
const STEPS = 16;

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the steps, and awaits `pace` between them. */
export async function inTurns<T>(
  steps: Steps<T>,
  pace: () => Promise<void>,
): Promise<T> {
  for (let count = 1;; count++) {
    const { done, value } = steps.next();
    if (done) return value;
    if (count % STEPS === 0) await pace();
  }
}
