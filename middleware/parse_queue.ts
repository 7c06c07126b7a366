import { pause } from "../db/connections/deadline.ts";
import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";
import type { Pace } from "../schema/turns.ts";

/** Work that took less time in total needs no pause, in milliseconds. */
const SHORT_MS = 1;

/** The time after which long work lets other requests run, in milliseconds. */
const STRETCH_MS = 10;

/** A part of long work that takes longer is followed by as much time for others, in milliseconds. */
const LONG_PART_MS = 20;

/** The longest wait of an import for its turn, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/**
 * Keeps parsing from taking the processor from other requests. Bodies are parsed and validated one
 * after the other. After long work, other requests get as much time, so that parsing takes at most
 * half of the processor: after 40 ms of parsing, the next body waits for 40 ms. Waiting organizations
 * and callers take turns.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");
  /** The milliseconds of work that are not yet balanced by time for other requests. */
  #worked = 0;
  /** When the last work ended. */
  #ended = 0;

  /** Runs `work`, at once if nothing is parsed. Throws the errors of `Queue.enter`. */
  async run<T>(
    { caller, deadline }: { caller: Caller; deadline: number },
    work: () => T,
  ): Promise<T> {
    const permit = await this.#queue.enter(caller, "long", deadline);
    const started = performance.now();
    try {
      return work();
    } finally {
      this.#count(started);
      if (this.#worked < SHORT_MS) permit[Symbol.dispose]();
      else {
        endAfter(this.#worked, permit);
        this.#worked = 0;
      }
    }
  }

  /**
   * Returns a function that long work awaits between its short parts, so that other requests run in
   * between. It throws the errors of `Queue.enter`. Until it is time, it returns nothing to wait for.
   */
  pacer(caller: Caller): Pace {
    let [now, end, longest] = [0, 0, 0];
    const letOthersRun = async () => {
      const permit = await this.#queue.enter(caller, "long", now + MAX_WAIT_MS);
      now = performance.now();
      end = now + STRETCH_MS;
      longest = 0;
      // The timer runs once the work waits for something, and other requests have run. If it waits
      // for the embedded database, the time of that does not count as work.
      setTimeout(() => endAfter(longest > LONG_PART_MS ? longest : 0, permit));
    };
    return () => {
      const before = now;
      now = performance.now();
      longest = Math.max(longest, now - before);
      if (now >= end) return letOthersRun();
    };
  }

  /** Adds the work since `started`, and subtracts the time that others had before it. */
  #count(started: number): void {
    const now = performance.now();
    const before = Math.max(0, this.#worked - (started - this.#ended));
    this.#worked = before + now - started;
    this.#ended = now;
  }
}

/** Lets other requests run for this time before the next work. */
function endAfter(ms: number, permit: Permit): void {
  pause(ms).then(() => permit[Symbol.dispose]());
}
