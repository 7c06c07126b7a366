import { showProgress } from "../bench/progress.ts";

/** So many requests are under way at once. */
const CONCURRENCY = 8;

/** Expectations that were not met, in words. */
export type Mismatches = string[];

/**
 * Does the work for every item, several at once, under a progress bar, and
 * prints how many a second. What a piece of work throws is a mismatch.
 */
export async function phase<T>(
  name: string,
  items: readonly T[],
  mismatches: Mismatches,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  const queue = items.values();
  let done = 0;
  async function worker() {
    for (const item of queue) {
      await work(item).catch((error) => mismatches.push(String(error)));
      showProgress(name, ++done, items.length);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const seconds = (performance.now() - started) / 1000;
  const rate = (done / seconds).toFixed(done / seconds < 100 ? 1 : 0);
  console.log(
    `${name.padEnd(10)} ${String(done).padStart(7)} in ${
      seconds.toFixed(1)
    } s: ${rate}/s`,
  );
}
