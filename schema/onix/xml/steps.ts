/*
 * Work on a record of any size, divided into steps of less than a millisecond or so. A
 * caller that serves others does some steps in a turn; one that does not, all at once.
 */

/** Work that yields after each step, and returns its result. */
export type Steps<T> = Generator<void, T, void>;

/** The number of elements, at most, that a step looks at. */
export const ELEMENTS_PER_STEP = 256;

/** Other requests get a turn after steps that take this time or longer together. */
const PACE_MS = 1;

/** Does all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  while (true) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does the steps. Awaits `pace` after the first one, and then whenever `PACE_MS` have passed. */
export async function inTurns<T>(
  steps: Steps<T>,
  pace: () => Promise<void>,
): Promise<T> {
  for (let start = -Infinity;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < start + PACE_MS) continue;
    await pace();
    start = performance.now();
  }
}
