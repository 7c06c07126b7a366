import { pause } from "../db/connections/deadline.ts";
import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";

/** The time after which work that can be divided ends its turn. */
const TURN_MS = 10;

/** The time of a first turn: the work on an ordinary record fits in it on a busy machine. */
const FIRST_MS = 5;

/** Work that takes less time needs no pause after it. */
const SHORT_MS = 1;

/** Longer input, in characters, always takes a turn: much of it at once would be long work. */
const SHORT_LENGTH = 16_384;

/** The caller, the time until which it waits, and the length of the input. */
interface ParseRequest {
  caller: Caller;
  deadline: number;
  length?: number;
}

/**
 * Parses and validates queries and bodies: short ones at once, as long as that is short
 * work. After longer work, others wait until requests that do not parse have had as much
 * time, so that parsing takes at most half of the processor. Waiting organizations and
 * callers take turns.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");
  /** When the last turn of divided work ended. */
  readonly #last = { end: -Infinity };

  /**
   * Runs `work` on short input at once, else in the caller's turn, as after longer work of
   * others. Throws `SERVICE_UNAVAILABLE` at the request's deadline.
   */
  run<T>(
    { caller, deadline, length = 0 }: ParseRequest,
    work: () => T,
  ): T | Promise<T> {
    return this.#queue.load.used === 0 && length < SHORT_LENGTH
      ? this.#measured(work, (taken) => this.#holdBack(caller, taken))
      : this.#queue.enter(caller, "long", deadline).then((place) =>
        this.#measured(work, (taken) => leave(place, taken, length))
      );
  }

  /** Runs `work`, and then calls `end` with the time that it took. */
  #measured<T>(work: () => T, end: (taken: number) => void): T {
    const started = performance.now();
    try {
      return work();
    } finally {
      end(performance.now() - started);
    }
  }

  /** Makes others wait after longer work. The queue is idle. */
  #holdBack(caller: Caller, taken: number): void {
    if (taken < SHORT_MS) return;
    this.#queue.enter(caller, "long", Infinity)
      .then((place) => leave(place, taken));
  }

  /** The turns of work that is divided, and waits for other things in between. */
  turns(caller: Caller): Turns {
    return new Turns(this.#queue, caller, this.#last);
  }

  /** The results of `work` for each item, in as many turns as needed. */
  async map<T, R>(
    request: ParseRequest,
    items: readonly T[],
    work: (item: T) => R,
  ): Promise<R[]> {
    const results: R[] = [];
    while (results.length < items.length) {
      await this.run(request, () => {
        const end = performance.now() + TURN_MS;
        do results.push(work(items[results.length]!)); while (
          results.length < items.length && performance.now() < end
        );
      });
    }
    return results;
  }
}

/** Ends a turn, after longer work when as much time has passed again. */
function leave(place: Permit, taken: number, length = 0): void {
  const isShort = taken < SHORT_MS && length < SHORT_LENGTH;
  pause(isShort ? 0 : taken).then(() => place[Symbol.dispose]());
}

/** The time that divided work waits for its turn. */
const MAX_WAIT_MS = 10_000;

/** The turns of work that is divided. Its disposal ends the last turn. */
export class Turns implements Disposable {
  readonly #queue: Queue;
  readonly #caller: Caller;
  /** When the last turn of any work ended. */
  readonly #last: { end: number };
  /** The end of the turn. The first one begins with the work, without a wait. */
  #end: number | undefined;
  #place: Permit | undefined;
  /** The wait for the next turn. */
  #next: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(queue: Queue, caller: Caller, last: { end: number }) {
    this.#queue = queue;
    this.#caller = caller;
    this.#last = last;
  }

  /**
   * Waits for the next turn, if the last one is over. Parts of the work that wait at the same
   * time share it. Throws `SERVICE_UNAVAILABLE` if the wait is too long.
   */
  async next(): Promise<void> {
    this.#end ??= performance.now() + FIRST_MS;
    if (performance.now() < this.#end) return;
    await (this.#next ??= this.#begin().finally(() => this.#next = undefined));
  }

  async #begin(): Promise<void> {
    this[Symbol.dispose]();
    await pause(1);
    const deadline = performance.now() + MAX_WAIT_MS;
    this.#place = await this.#queue.enter(this.#caller, "long", deadline);
    // Between two turns, requests that need no turn get the processor.
    if (performance.now() < this.#last.end + SHORT_MS) await pause(1);
    this.#end = performance.now() + TURN_MS;
    // Work that waits for something else does not keep its turn.
    this.#timer = setTimeout(() => this[Symbol.dispose](), TURN_MS);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#place) this.#last.end = performance.now();
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }
}
