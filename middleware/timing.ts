import type { Operations } from "../db/database.ts";
import type { Telemetry } from "./telemetry.ts";

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

/** The operations, timed, and each one a span of the request's trace. */
export function timed(
  operations: Operations,
  stopwatch: Stopwatch,
  { span }: Telemetry,
): Operations {
  const over = <T>(name: string, work: () => Promise<T>) =>
    stopwatch.time(() => span(`database ${name}`, work));
  return {
    lookUp: (statement) => over("look-up", () => operations.lookUp(statement)),
    scan: (statement) => over("scan", () => operations.scan(statement)),
    transaction: (work) =>
      over("transaction", () => operations.transaction(work)),
    script: (work) => over("script", () => operations.script(work)),
    afterwards: (...statements) => operations.afterwards(...statements),
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
