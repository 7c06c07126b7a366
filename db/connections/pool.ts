import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause, withDeadline } from "./deadline.ts";
import { type Caller, type Kind, type Load, Queue } from "./queue.ts";
import { Slot } from "./slot.ts";
import { endsSession } from "./sqlstate.ts";

interface PoolSettings {
  connections: number;
  /** The server-side statement timeout, or `Infinity` for the embedded database. */
  statementTimeoutMs: number;
}

/** A request for a connection. */
export interface Operation {
  caller: Caller;
  kind: Kind;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
}

/** The exclusive use of a connection by one operation. */
export interface Lease {
  readonly connection: Connection;
  /** Call before each use. Throws `SERVICE_UNAVAILABLE` after the operation or its deadline. */
  check(): void;
}

/** The time that a reply may take after the end of its statement. */
const GRACE_MS = 2_000;

/** A pool whose connections serve one operation at a time. */
export class Pool {
  readonly #slots: Slot[];
  readonly #queue: Queue<Slot>;
  readonly #statementTimeoutMs: number;

  constructor(
    open: () => Connection,
    { connections, statementTimeoutMs }: PoolSettings,
  ) {
    this.#slots = Array.from({ length: connections }, () => new Slot(open));
    this.#queue = new Queue(this.#slots);
    this.#statementTimeoutMs = statementTimeoutMs;
  }

  get load(): Load {
    return this.#queue.load;
  }

  /**
   * Runs `work` with exclusive use of a connection until `work` settles. Throws
   * `SERVICE_UNAVAILABLE` at the deadline, even if `work` has not settled.
   */
  async operate<T>(
    { caller, kind, deadline }: Operation,
    work: (lease: Lease) => Promise<T>,
  ): Promise<T> {
    const slot = await this.#queue.acquire(deadline, caller, kind);
    const running = this.#perform(slot, deadline, work);
    const release = () => this.#queue.release(slot, caller, kind);
    running.then(release, release);
    return await withDeadline(
      deadline,
      running,
      () => unavailable("The database did not respond in time"),
    );
  }

  async #perform<T>(
    slot: Slot,
    deadline: number,
    work: (lease: Lease) => Promise<T>,
  ): Promise<T> {
    let isOver = false;
    const connection = await slot.connection();
    const lease = {
      connection,
      check() {
        if (isOver || performance.now() >= deadline) {
          throw unavailable("The operation is over");
        }
      },
    };
    try {
      return await withDeadline(this.#silentAt(deadline), work(lease), () => {
        connection.break();
        return unavailable("The database connection does not respond");
      });
    } catch (error) {
      if (endsSession(error)) connection.break();
      throw error;
    } finally {
      isOver = true;
    }
  }

  /** The time after which a silent connection is dead: the statement timeout has passed. */
  #silentAt(deadline: number): number {
    const ended = performance.now() + this.#statementTimeoutMs;
    return Math.max(deadline, ended) + GRACE_MS;
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
