import { pause } from "../db/connections/deadline.ts";
import { type Caller, type Permit, Queue } from "../db/connections/queue.ts";

/** Shorter work in all needs no pause, in milliseconds. */
const SHORT_MS = 1;

/** The time after which divided work lets other requests run. */
const STRETCH_MS = 10;

/** Divided work that lasts longer before it waits is followed by as much time for others. */
const LONG_MS = 20;

/** The time that an import waits until it may go on. */
const MAX_WAIT_MS = 10_000;

/**
 * Parses and validates what requests have sent, one after the other. After longer work,
 * other requests have as much time, so that parsing takes at most half of the processor.
 * Waiting organizations and callers are served in turn.
 */
export class ParseQueue {
  readonly #queue = new Queue(1, "service");
  /** The milliseconds of work by which other requests are behind, and when the last one ended. */
  #worked = 0;
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
      else this.#pauseBefore(permit, this.#worked);
    }
  }

  /**
   * Returns the function that long work awaits between its parts, none of which lasts long.
   * It throws the errors of `Queue.enter`.
   */
  pacer(caller: Caller): () => Promise<void> {
    let end = 0;
    return async () => {
      const now = performance.now();
      if (now < end) return;
      const permit = await this.#queue.enter(caller, "long", now + MAX_WAIT_MS);
      const started = performance.now();
      end = started + STRETCH_MS;
      // The timer runs as soon as the work waits for something, and others have run.
      setTimeout(() => {
        this.#count(started);
        this.#pauseBefore(permit, 0);
      });
    };
  }

  /** Counts the work since `started`, less the time that others had before it. */
  #count(started: number): void {
    const now = performance.now();
    const before = Math.max(0, this.#worked - (started - this.#ended));
    this.#worked = before + now - started;
    this.#ended = now;
  }

  /** Lets other requests run before the next work: for this time, or longer after long work. */
  #pauseBefore(permit: Permit, ms: number): void {
    const time = this.#worked > LONG_MS ? this.#worked : ms;
    this.#worked = 0;
    pause(time).then(() => permit[Symbol.dispose]());
  }
}
