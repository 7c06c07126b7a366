import type { Connection } from "./connection.ts";
import { pause } from "./deadline.ts";
import { type Caller, type Kind, type Load, Queue } from "./queue.ts";
import { type Lease, Slot } from "./slot.ts";
import { isConflict, isConnectionLoss } from "./errors.ts";

interface PoolSettings {
  connections: number;
  /** The server-side statement timeout, or `Infinity` for the embedded database. */
  statementTimeoutMs: number;
}

/** Observes an operation: called at its start, it returns a function to call at its end. */
export type Observe = (operation: string) => (error?: unknown) => void;

/** A use of one connection. */
export interface Operation {
  name: string;
  kind: Kind;
  caller: Caller;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  observe?: Observe | undefined;
}

/** Attempts per operation. */
const MAX_ATTEMPTS = 3;

/** A pool whose connections serve one operation at a time. */
export class Pool {
  readonly #slots: Slot[];
  readonly #queue: Queue<Slot>;

  constructor(
    open: () => Connection,
    { connections, statementTimeoutMs }: PoolSettings,
  ) {
    this.#slots = Array.from(
      { length: connections },
      () => new Slot(open, statementTimeoutMs),
    );
    this.#queue = new Queue(this.#slots);
  }

  get load(): Load {
    return this.#queue.load;
  }

  /**
   * Runs `work` with exclusive use of a connection until it settles, and again after
   * a conflict or a connection loss. A transaction whose outcome is unknown throws
   * `SERVICE_UNAVAILABLE`, so it is not repeated. Throws `SERVICE_UNAVAILABLE` at the
   * deadline.
   */
  async operate<T>(
    { name, kind, caller, deadline, observe }: Operation,
    work: (lease: Lease) => Promise<T>,
  ): Promise<T> {
    const end = observe?.(name);
    for (let attempt = 1;; attempt++) {
      try {
        const slot = await this.#queue.acquire(deadline, caller, kind);
        const release = () => this.#queue.release(slot, caller, kind);
        const result = await slot.run(work, deadline, release);
        end?.();
        return result;
      } catch (error) {
        const canRetry = isConflict(error) || isConnectionLoss(error);
        if (attempt === MAX_ATTEMPTS || !canRetry) {
          end?.(error);
          throw error;
        }
        // The random pause separates conflicting operations.
        await pause(Math.random() * 20 * attempt);
      }
    }
  }

  /** Closes connections that are unused since the last call. */
  closeUnused(): void {
    for (const slot of this.#queue.free) slot.closeUnused();
  }

  /** Lets running operations finish until `deadline`, then closes every connection. */
  async close(deadline: number): Promise<void> {
    while (this.load.used > 0 && performance.now() < deadline) await pause(5);
    const left = Math.max(100, deadline - performance.now()) / 1000;
    await Promise.all(this.#slots.map((slot) => slot.close(left)));
  }
}
