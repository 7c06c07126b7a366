import type { Telemetry } from "./telemetry.ts";

/** Adds up the time during which at least one part runs. */
export class Stopwatch {
  #running = 0;
  #since = 0;
  #total = 0;

  start(): void {
    if (this.#running++ === 0) this.#since = performance.now();
  }

  stop(): void {
    if (--this.#running === 0) this.#total += performance.now() - this.#since;
  }

  /** The time so far, in milliseconds. */
  get ms(): number {
    return this.#running === 0
      ? this.#total
      : this.#total + performance.now() - this.#since;
  }
}

/** The parts of a request's time. The look-up of its credentials counts as both. */
export interface Timing {
  auth: Stopwatch;
  db: Stopwatch;
}

/**
 * Times a part of a request, in a span of its trace. Call the result at the end, with
 * the error if there is one.
 */
export function begin(
  name: string,
  stopwatch: Stopwatch,
  telemetry: Telemetry,
): (error?: unknown) => void {
  stopwatch.start();
  const end = telemetry.start(name);
  return (error) => {
    end(error);
    stopwatch.stop();
  };
}

/** The value of `Server-Timing` (W3C Server Timing), in milliseconds. */
export function serverTiming({ auth, db }: Timing, total: number): string {
  return `auth;dur=${hundredths(auth.ms)}, db;dur=${
    hundredths(db.ms)
  }, total;dur=${hundredths(total)}`;
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
