/* Long work that lets other requests run: generators that yield where these may. */

/** Lets other requests run, if it is time to. */
export type Pace = () => Promise<void> | void;

/** Lets nothing else run: that of a command, whose process has no requests. */
export const UNPACED: Pace = () => {};

/** Work that yields where other requests may run. */
export type InTurns<Result> = Generator<undefined, Result>;

/** Runs work to its end at once: work of a bounded size, or for which nobody waits. */
export function atOnce<Result>(work: InTurns<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs work to its end, and lets other requests run where it yields. */
export async function inTurns<Result>(work: InTurns<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    // Waiting for nothing would take longer than most steps.
    const wait = pace();
    if (wait) await wait;
  }
}
