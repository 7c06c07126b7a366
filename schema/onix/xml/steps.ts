/*
 * Work on a record of any size, divided into steps of less than a millisecond or so. A
 * caller that serves others does some steps in a turn; one that does not, all at once.
 */

/** Work that yields after each step, and returns its result. */
export type Steps<T> = Generator<void, T, void>;

/** Steps that take less time need no turn of others after them, in milliseconds. */
const SHORT_MS = 1;

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the steps, and awaits `pace` after the first one and then after a millisecond or more. */
export async function inTurns<T>(
  steps: Steps<T>,
  pace: () => Promise<void>,
): Promise<T> {
  for (let start = -Infinity;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < start + SHORT_MS) continue;
    await pace();
    start = performance.now();
  }
}
