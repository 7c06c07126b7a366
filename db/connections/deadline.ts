/** One that waits for something, until it is too late. */
interface Wait {
  deadline: number;
  giveUp(): void;
}

/** A wait ends at most so much later than its deadline. */
const TICK_MS = 10;

const waits = new Set<Wait>();
let clock: ReturnType<typeof setInterval> | undefined;

/**
 * Settles as the promise does, or throws what `otherwise` gives where that has
 * not happened at `deadline`, in milliseconds of `performance.now()`. What the
 * promise stands for goes on.
 *
 * All waits share one clock: a request waits several times, and a timer for
 * each would cost it more than most of its other work.
 */
export function before<T>(
  deadline: number,
  promise: Promise<T>,
  otherwise: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const wait = { deadline, giveUp: () => reject(otherwise()) };
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
    wait.giveUp();
  }
}

/** Settles after so many milliseconds; at once where there are none. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
