import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause, withDeadline } from "./deadline.ts";
import { requiresNewConnection } from "./errors.ts";
import {
  type Caller,
  type Kind,
  type Load,
  type Permit,
  Queue,
} from "./queue.ts";

interface PoolSettings {
  connections: number;
  /** The server-side statement timeout, or `Infinity` for the embedded database. */
  statementTimeoutMs: number;
}

/** At most one connection, which is opened on first use, and again when it is lost. */
interface Slot {
  connection?: Connection;
  openedAt: number;
  wasUsed: boolean;
}

/** The least time between two connection attempts of a slot. */
const RECONNECT_MS = 250;

/** The time that a reply may take after the end of its statement. */
const GRACE_MS = 2_000;

const LATE = "The database did not respond in time";

/** A pool whose connections serve one operation at a time. */
export class Pool {
  readonly #open: () => Connection;
  readonly #statementTimeoutMs: number;
  readonly #slots: Slot[];
  /** Those that no operation uses. */
  readonly #free: Slot[];
  readonly #queue: Queue;
  #isClosed = false;

  constructor(
    open: () => Connection,
    { connections, statementTimeoutMs }: PoolSettings,
  ) {
    this.#open = open;
    this.#statementTimeoutMs = statementTimeoutMs;
    this.#slots = Array.from(
      { length: connections },
      (): Slot => ({ openedAt: -Infinity, wasUsed: false }),
    );
    this.#free = [...this.#slots];
    this.#queue = new Queue(connections, "database");
  }

  get load(): Load {
    return this.#queue.load;
  }

  /**
   * Waits for the exclusive use of a connection until `deadline`, in milliseconds of
   * `performance.now()`. Prefers a slot that is connected. Throws `SERVICE_UNAVAILABLE` at
   * the deadline.
   */
  async acquire(caller: Caller, kind: Kind, deadline: number): Promise<Lease> {
    const permit = await this.#queue.enter(caller, kind, deadline);
    const slot = this.#free.splice(this.#free.findLastIndex(isOpen), 1)[0]!;
    slot.wasUsed = true;
    if (!isOpen(slot)) {
      const wait = slot.openedAt + RECONNECT_MS - performance.now();
      await pause(Math.min(wait, deadline - performance.now()));
      if (this.#isClosed || performance.now() >= deadline) {
        this.#release(slot, permit);
        throw unavailable(this.#isClosed ? "The service is stopping" : LATE);
      }
      slot.openedAt = performance.now();
      slot.connection = this.#open();
    }
    return new Lease(
      slot.connection!,
      deadline,
      this.#statementTimeoutMs,
      () => this.#release(slot, permit),
    );
  }

  #release(slot: Slot, permit: Permit): void {
    this.#free.push(slot);
    permit[Symbol.dispose]();
  }

  /** Closes connections that are unused since the last call. */
  closeUnused(): void {
    for (const slot of this.#free) {
      if (!slot.wasUsed) slot.connection?.close(1).catch(() => {});
      slot.wasUsed = false;
    }
  }

  /** Lets running operations finish until `deadline`, then closes every connection. */
  async close(deadline: number): Promise<void> {
    while (this.load.used > 0 && performance.now() < deadline) await pause(5);
    this.#isClosed = true;
    const left = Math.max(100, deadline - performance.now()) / 1000;
    await Promise.all(
      this.#slots.map(({ connection }) => connection?.close(left)),
    );
  }
}

/** The exclusive use of a connection by one operation. */
export class Lease {
  readonly connection: Connection;
  readonly #deadline: number;
  readonly #statementTimeoutMs: number;
  readonly #release: () => void;
  #hasEnded = false;

  constructor(
    connection: Connection,
    deadline: number,
    statementTimeoutMs: number,
    release: () => void,
  ) {
    this.connection = connection;
    this.#deadline = deadline;
    this.#statementTimeoutMs = statementTimeoutMs;
    this.#release = release;
  }

  /** Throws `SERVICE_UNAVAILABLE` after the end of the lease or the deadline. */
  check(): void {
    if (this.#hasEnded || performance.now() >= this.#deadline) {
      throw unavailable("The operation is over");
    }
  }

  /**
   * Settles as the operation does, and ends the lease. At the deadline, it throws
   * `SERVICE_UNAVAILABLE`, even if the operation has not settled: the lease then ends
   * when it settles, or when the connection is dead.
   */
  settle<T>(running: Promise<T>): Promise<T> {
    const started = performance.now();
    const ended = running.then((result) => {
      this.#end();
      return result;
    }, async (error) => {
      // Ends the transaction. After a read too: postgres.js 3.4.9 would append the next
      // statement's rows to the rows that it received before the error.
      await this.connection.rollback();
      this.#end(error);
      throw error;
    });
    return withDeadline(this.#deadline, ended, () => {
      // A connection that is silent after the statement timeout is dead.
      const timeout = started + this.#statementTimeoutMs;
      withDeadline(Math.max(this.#deadline, timeout) + GRACE_MS, ended, () => {
        this.connection.break();
        return unavailable("The database connection does not respond");
      }).catch((error) => this.#end(error));
      return unavailable(LATE);
    });
  }

  /** Ends the lease, once. The error of its operation may require a new connection. */
  #end(error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (requiresNewConnection(error)) this.connection.break();
    this.#release();
  }
}

function isOpen({ connection }: Slot): boolean {
  return connection?.isLost === false;
}
