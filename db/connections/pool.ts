import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { before, pause } from "./deadline.ts";
import { type Caller, type Kind, type Load, Queue } from "./queue.ts";
import { Slot } from "./slot.ts";
import { endsSession } from "./sqlstate.ts";

export interface PoolSettings {
  connections: number;
  /** After how many milliseconds the server ends a statement; `Infinity` where it cannot go silent. */
  statementTimeoutMs: number;
}

/** An operation: whose it is, of which kind, and until when it may take. */
export interface Operation {
  caller: Caller;
  kind: Kind;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
}

/** The use of a connection by one operation. Nothing may be sent on it once it is over. */
export interface Lease {
  readonly connection: Connection;
  /** Throws `SERVICE_UNAVAILABLE` once the operation is over, or its deadline has passed. */
  check(): void;
}

/** How long a server may take to answer after it has ended a statement. */
const GRACE_MS = 2_000;

/** Connections that serve one operation at a time. */
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
   * Runs `work` on a connection, which stays its own until it has settled.
   * Throws `SERVICE_UNAVAILABLE` at the deadline, whatever becomes of the work.
   */
  async operate<T>(
    { caller, kind, deadline }: Operation,
    work: (lease: Lease) => Promise<T>,
  ): Promise<T> {
    const slot = await this.#queue.acquire(deadline, caller, kind);
    const running = this.#perform(slot, deadline, work);
    const release = () => this.#queue.release(slot, caller, kind);
    running.then(release, release);
    return await before(
      deadline,
      running,
      () => unavailable("The database did not answer in time"),
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
      return await before(this.#silentAt(deadline), work(lease), () => {
        connection.break();
        return unavailable("The connection went silent");
      });
    } catch (error) {
      if (endsSession(error)) connection.break();
      throw error;
    } finally {
      isOver = true;
    }
  }

  /** By when a server that lives has ended everything that is sent until the deadline. */
  #silentAt(deadline: number): number {
    const ended = performance.now() + this.#statementTimeoutMs;
    return Math.max(deadline, ended) + GRACE_MS;
  }

  /** Closes the connections that were not used since the last call. */
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
