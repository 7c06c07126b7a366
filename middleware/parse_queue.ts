import { pause } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/fair_share.ts";
import { type Place, Queue } from "../db/connections/queue.ts";

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

  /** The turns of work that is divided, and waits for other things in between. */
  turns(caller: Caller): Turns {
    return new Turns(this.#queue, caller);
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

/** The time that divided work waits for its turn. */
const MAX_WAIT_MS = 10_000;

/** The turns of work that is divided. Its disposal ends the last turn. */
export class Turns implements Disposable {
  readonly #queue: Queue;
  readonly #caller: Caller;
  /** The first turn is a short one without a wait: most work fits in it. */
  #end = performance.now() + SHORT_MS;
  #place: Place | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queue: Queue, caller: Caller) {
    this.#queue = queue;
    this.#caller = caller;
  }

  /** Waits for the next turn, if the last one is over. Throws `SERVICE_UNAVAILABLE` if it is too long. */
  async next(): Promise<void> {
    if (performance.now() < this.#end) return;
    this[Symbol.dispose]();
    await pause(1);
    const deadline = performance.now() + MAX_WAIT_MS;
    this.#place = await this.#queue.enter(this.#caller, "long", deadline);
    this.#end = performance.now() + TURN_MS;
    // Work that waits for something else does not keep its turn.
    this.#timer = setTimeout(() => this[Symbol.dispose](), TURN_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }
}
