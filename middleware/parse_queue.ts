import { pause } from "../db/connections/deadline.ts";
import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";

/** Shorter work in all needs no pause, in milliseconds. */
const SHORT_MS = 1;

/** The time after which divided work lets other requests run. */
const STRETCH_MS = 10;

/** A part of divided work that lasts longer is followed by as much time for others. */
const LONG_PART_MS = 20;

/** The time that an import waits until it may go on. */
const MAX_WAIT_MS = 10_000;

/**
 * Parses and validates what requests have sent, one after the other. After longer work,
 * other requests have as much time, so that parsing takes at most half of the processor.
 * Waiting organizations and callers are served in turn.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");
  /** How many milliseconds of work other requests are behind. */
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
   * Returns the function that long work awaits between its parts, none of which lasts long.
   * It throws the errors of `Queue.enter`.
   */
  pacer(caller: Caller): () => Promise<void> {
    let [now, end, longest] = [0, 0, 0];
    return async () => {
      const before = now;
      now = performance.now();
      longest = Math.max(longest, now - before);
      if (now < end) return;
      const permit = await this.#queue.enter(caller, "long", now + MAX_WAIT_MS);
      now = performance.now();
      end = now + STRETCH_MS;
      longest = 0;
      // The timer runs as soon as the work waits for something, and others have run. What it
      // waits for may be the embedded database: that is no part of the work.
      setTimeout(() => endAfter(longest > LONG_PART_MS ? longest : 0, permit));
    };
  }

  /** Counts the work since `started`, less the time that others had before it. */
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
