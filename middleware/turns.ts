import { pause } from "../db/connections/deadline.ts";
import { type Caller, Queue } from "../db/connections/queue.ts";
import type { Context } from "./context.ts";

/** The length from which the text of a body takes a turn. Shorter ones take a few milliseconds. */
const LONG_TEXT = 32_768;

/** The time after which work that can be divided ends its turn, in milliseconds. */
const TURN_MS = 10;

/**
 * The turns of long bodies, whose parsing and validation would delay other requests.
 * Organizations and callers take turns, and all other requests are served between two
 * turns.
 */
export class Turns {
  readonly #queue = new Queue([{ isOpen: true }], "service");

  /**
   * Runs `work` on a body in the caller's turn, if its text is long. Throws
   * `SERVICE_UNAVAILABLE` at the request's deadline.
   */
  async take<T>(
    { caller, deadline }: Context & { caller: Caller },
    text: string,
    work: () => T,
  ): Promise<T> {
    if (text.length < LONG_TEXT) return work();
    const turn = await this.#queue.acquire(deadline, caller, "long");
    try {
      await pause(1);
      return work();
    } finally {
      this.#queue.release(turn, caller, "long");
    }
  }

  /** The results of `work` for each item, in as many turns as needed. */
  async map<T, R>(
    context: Context & { caller: Caller },
    text: string,
    items: readonly T[],
    work: (item: T) => R,
  ): Promise<R[]> {
    const results: R[] = [];
    while (results.length < items.length) {
      await this.take(context, text, () => {
        const end = performance.now() + TURN_MS;
        do results.push(work(items[results.length]!)); while (
          results.length < items.length && performance.now() < end
        );
      });
    }
    return results;
  }
}
