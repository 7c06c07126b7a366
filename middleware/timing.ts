import type { Operations } from "../db/database.ts";
import type { Telemetry } from "./telemetry.ts";

/** Adds up the time during which at least one of its tasks runs. */
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

/** Times the operations, and runs each in a span of the request's trace. */
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
    write: (...statements) =>
      over("transaction", () => operations.write(...statements)),
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
