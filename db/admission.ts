import { ApiError } from "../schema/error.ts";

/** Operations that may wait; beyond them a client is told at once to come back. */
const MAX_WAITING = 1000;

interface Waiting {
  admit(): void;
}

/**
 * Lets at most `places` operations run at once; the others wait in the order
 * they came. postgres.js loses track of transactions when more operations than
 * connections are under way (porsager/postgres#1189), so `places` is the size
 * of the pool.
 */
export class Admission {
  readonly #places: number;
  readonly #queue = new Set<Waiting>();
  #running = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** How many run and how many wait, for the metrics. */
  get load(): { running: number; waiting: number } {
    return { running: this.#running, waiting: this.#queue.size };
  }

  /**
   * Waits for a place until `deadline` (milliseconds of `performance.now()`).
   * The caller must `leave` when its operation is over. Throws
   * `SERVICE_UNAVAILABLE` when too many wait, or the deadline passes.
   */
  async enter(deadline: number): Promise<void> {
    if (this.#running < this.#places) {
      this.#running++;
      return;
    }
    if (this.#queue.size >= MAX_WAITING) {
      throw unavailable("Too many requests wait for the database");
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { admit: resolve };
    const timer = setTimeout(() => {
      this.#queue.delete(waiting);
      reject(unavailable("The database had no time for this request"));
    }, Math.max(0, deadline - performance.now()));
    this.#queue.add(waiting);
    await promise.finally(() => clearTimeout(timer));
  }

  /** Hands the place to the one that has waited longest. */
  leave(): void {
    const [next] = this.#queue;
    if (next) {
      this.#queue.delete(next);
      next.admit();
    } else {
      this.#running--;
    }
  }
}

/** A failure that a client may try again after a second. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, {
    cause,
    headers: { "retry-after": "1" },
  });
}
