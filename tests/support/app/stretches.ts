import { assert } from "@std/assert";

/*
 * Measures the longest stretch of work without a turn of the event loop. For so long, every other
 * request of the process waits.
 *
 * Counted is the time that the processor has spent in this thread, so other processes change
 * little. A slow machine gets more: the limit is multiplied by what a fixed piece of work takes
 * here, compared with what it takes on a quiet machine. The embedded database runs in this thread,
 * so requests are measured on PostgreSQL. `deno task test` allows FFI for this clock alone.
 */

/** The longest stretch that a neighbour should wait for, in milliseconds of the processor. */
export const MAX_STRETCH_MS = 50;

/** What `fixedWork` takes on a quiet machine. */
const FIXED_WORK_MS = 8;

/**
 * The runs of which the best one counts. The first one compiles, and a collection of the garbage of
 * all tests of the process lengthens several in a row.
 */
const RUNS = 10;

/**
 * Runs the work up to ten times. Fails if each run has a stretch that is longer than the limit.
 */
export async function assertStretches(
  what: string,
  work: () => unknown,
  maxMs = MAX_STRETCH_MS,
): Promise<void> {
  const stretches: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const limit = maxMs * slowness();
    const stretch = await longestStretch(work);
    if (stretch <= limit) return;
    stretches.push(Math.round(stretch));
  }
  assert(false, `${what}: works ${stretches.join(", ")} ms without a turn, at most ${maxMs} ms`);
}

/** The longest stretch of the work, in milliseconds of the processor. */
export async function longestStretch(work: () => unknown): Promise<number> {
  let [longest, last, isRunning] = [0, threadMs(), true];
  const look = () => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const turn = () => {
    look();
    if (isRunning) setTimeout(turn);
  };
  setTimeout(turn);
  try {
    await work();
  } finally {
    look();
    isRunning = false;
  }
  return longest;
}

/** How many times slower this machine is now than a quiet one, at least 1. */
function slowness(): number {
  const started = threadMs();
  fixedWork();
  return Math.max(1, (threadMs() - started) / FIXED_WORK_MS);
}

const TEXT = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ id: `${i}`, title: "A" })));

function fixedWork(): number {
  return JSON.stringify(JSON.parse(TEXT)).length;
}

const CLOCK_THREAD_CPUTIME_ID = 3;

/** The time that this thread has run, in milliseconds. `process.threadCpuUsage` counts ticks of 10 ms. */
const threadMs = Deno.build.os === "linux" ? linuxClock() : () => performance.now();

function linuxClock(): () => number {
  const { symbols } = Deno.dlopen("libc.so.6", {
    clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
  });
  const time = new BigInt64Array(2);
  return () => {
    symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time);
    return Number(time[0]) * 1000 + Number(time[1]) / 1e6;
  };
}
