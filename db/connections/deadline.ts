interface Wait {
  deadline: number;
  expire(): void;
}

/** The longest time from a deadline to the end of its wait. */
const TICK_MS = 10;

const waits = new Set<Wait>();
let clock: ReturnType<typeof setInterval> | undefined;

/**
 * Settles as the promise does, or throws the error of `otherwise` at `deadline`, in
 * milliseconds of `performance.now()`. The work behind the promise continues.
 *
 * All waits share a timer: a request waits several times, and a timer for each wait
 * would cost more than most of its other work.
 */
export function before<T>(
  deadline: number,
  promise: Promise<T>,
  otherwise: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const wait = { deadline, expire: () => reject(otherwise()) };
    begin(wait);
    promise.then(
      (value) => {
        end(wait);
        resolve(value);
      },
      (error) => {
        end(wait);
        reject(error);
      },
    );
  });
}

function begin(wait: Wait): void {
  waits.add(wait);
  clock ??= setInterval(tick, TICK_MS);
}

function end(wait: Wait): void {
  waits.delete(wait);
  if (waits.size > 0) return;
  clearInterval(clock);
  clock = undefined;
}

function tick(): void {
  const now = performance.now();
  for (const wait of waits) {
    if (wait.deadline > now) continue;
    end(wait);
    wait.expire();
  }
}

/** Settles after `ms` milliseconds, and at once if `ms` is not positive. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
