import { IS_WHOLE } from "../support/app/sample.ts";

/** The number of random sequences. CI runs them on four databases. */
const RUNS = IS_WHOLE ? 15 : 5;

/**
 * A new seed for each run, which is printed. `deno task test FILE -- 123` repeats the
 * run with seed 123, and `-- 123 1000` runs a thousand sequences.
 */
export function readParameters(): { seed: number; numRuns: number } {
  const [seed = Math.floor(Math.random() * 2 ** 31), numRuns = RUNS] = Deno.args
    .map(Number);
  console.log(`Seed: ${seed}`);
  return { seed, numRuns };
}
