import { pause } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/fair_share.ts";
import { Queue } from "../db/connections/queue.ts";

/** The length from which the text of a body takes a turn. Shorter ones take a few milliseconds. */
const LONG_TEXT = 32_768;

/** The time after which work that can be divided ends its turn, in milliseconds. */
const TURN_MS = 10;

/** Whose turn it is, and until when it is waited for. */
interface Turn {
  caller: Caller;
  deadline: number;
}

/**
 * Parses and validates long bodies one at a time, and yields to other requests in
 * between. Organizations and callers take turns.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");

  /**
   * Runs `work` on a body in the caller's turn, if its text is long. Throws
   * `SERVICE_UNAVAILABLE` at the request's deadline.
   */
  async run<T>(
    { caller, deadline }: Turn,
    text: string,
    work: () => T,
  ): Promise<T> {
    if (text.length < LONG_TEXT) return work();
    using _turn = await this.#queue.enter(caller, "long", deadline);
    await pause(1);
    return work();
  }

  /** The results of `work` for each item, in as many turns as needed. */
  async map<T, R>(
    turn: Turn,
    text: string,
    items: readonly T[],
    work: (item: T) => R,
  ): Promise<R[]> {
    const results: R[] = [];
    while (results.length < items.length) {
      await this.run(turn, text, () => {
        const end = performance.now() + TURN_MS;
        do results.push(work(items[results.length]!)); while (
          results.length < items.length && performance.now() < end
        );
      });
    }
    return results;
  }
}
