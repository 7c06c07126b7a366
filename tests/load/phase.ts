import { showProgress } from "../bench/progress.ts";

/** The number of concurrent requests. */
const CONCURRENCY = 8;

/** Failed expectations, as text. */
export type Mismatches = string[];

/**
 * Processes all items concurrently, with a progress bar, and prints the rate. An
 * error of `work` counts as a mismatch.
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
