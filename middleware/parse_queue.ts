import { pause } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/fair_share.ts";
import { Queue } from "../db/connections/queue.ts";

/** The time after which work that can be divided ends its turn, in milliseconds. */
const TURN_MS = 10;

/** Work that takes less time needs no rest after it, in milliseconds. */
const SHORT_MS = 1;

/** Whose turn it is, and until when it is waited for. */
interface Turn {
  caller: Caller;
  deadline: number;
}

/**
 * Parses and validates queries and bodies one at a time. Organizations and callers take
 * turns. After longer work, the next turn begins when other requests have had as much
 * time, so that parsing takes at most half of the processor.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");

  /** Runs `work` in the caller's turn. Throws `SERVICE_UNAVAILABLE` at the request's deadline. */
  async run<T>({ caller, deadline }: Turn, work: () => T): Promise<T> {
    const turn = await this.#queue.enter(caller, "long", deadline);
    const started = performance.now();
    try {
      return work();
    } finally {
      const taken = performance.now() - started;
      if (taken < SHORT_MS) turn[Symbol.dispose]();
      else pause(taken).then(() => turn[Symbol.dispose]());
    }
  }

  /** The results of `work` for each item, in as many turns as needed. */
  async map<T, R>(
    turn: Turn,
    items: readonly T[],
    work: (item: T) => R,
  ): Promise<R[]> {
    const results: R[] = [];
    while (results.length < items.length) {
      await this.run(turn, () => {
        const end = performance.now() + TURN_MS;
        do results.push(work(items[results.length]!)); while (
          results.length < items.length && performance.now() < end
        );
      });
    }
    return results;
  }
}
