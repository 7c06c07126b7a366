import type { Operations } from "../db/database.ts";
import type { Reads } from "../db/replica.ts";

/** Adds up the time in which at least one of the things that it times is under way. */
export class Stopwatch {
  #running = 0;
  #since = 0;
  #total = 0;

  async time<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now();
    try {
      return await work();
    } finally {
      if (--this.#running === 0) this.#total += performance.now() - this.#since;
    }
  }

  /** Milliseconds by now. */
  get ms(): number {
    return this.#running === 0
      ? this.#total
      : this.#total + performance.now() - this.#since;
  }
}

/** What a request spends its time on; looking up its key counts as both. */
export interface Timing {
  auth: Stopwatch;
  db: Stopwatch;
}

/** The operations, timed. */
export function timed(
  operations: Operations,
  stopwatch: Stopwatch,
): Operations {
  return {
    lookUp: (question) => stopwatch.time(() => operations.lookUp(question)),
    read: (question) => stopwatch.time(() => operations.read(question)),
    run: (work) => stopwatch.time(() => operations.run(work)),
    write: (question) => stopwatch.time(() => operations.write(question)),
    transaction: (work) => stopwatch.time(() => operations.transaction(work)),
  };
}

/** The reads, timed. */
export function timedReads(reads: Reads, stopwatch: Stopwatch): Reads {
  return {
    lookUp: (question) => stopwatch.time(() => reads.lookUp(question)),
    read: (question) => stopwatch.time(() => reads.read(question)),
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
