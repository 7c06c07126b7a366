import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause, withDeadline } from "./deadline.ts";
import { requiresNewConnection } from "./errors.ts";
import { type Caller, type Kind, type Load, type Permit, Queue } from "./queue.ts";

/* Lends connections to operations, one operation per connection. */

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
  hasOldPlans: boolean;
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
      (): Slot => ({
        openedAt: -Infinity,
        wasUsed: false,
        hasOldPlans: false,
      }),
    );
    this.#free = [...this.#slots];
    this.#queue = new Queue(connections, "database");
  }

  get load(): Load {
    return this.#queue.load;
  }

  /**
   * Gives an operation the exclusive use of a connection, and settles as the operation does.
   * Prefers a slot that is connected. At `deadline`, in milliseconds of `performance.now()`,
   * it throws `SERVICE_UNAVAILABLE`, even if the operation has not settled: the connection is
   * free again when it settles, or when the connection is dead.
   */
  async use<T>(
    caller: Caller,
    kind: Kind,
    deadline: number,
    operate: (lease: Lease) => Promise<T>,
  ): Promise<T> {
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
    } else if (slot.hasOldPlans) {
      slot.connection!.discardPlans();
    }
    slot.hasOldPlans = false;
    const connection = slot.connection!;
    const timeout = performance.now() + this.#statementTimeoutMs;
    let hasEnded = false;
    const end = (error?: unknown): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (requiresNewConnection(error)) connection.break();
      this.#release(slot, permit);
    };
    const ended = operate({
      connection,
      check() {
        if (hasEnded || performance.now() >= deadline) {
          throw unavailable("The operation is over");
        }
      },
    }).then((result) => {
      end();
      return result;
    }, async (error) => {
      // Ends the transaction. After a read too: postgres.js 3.4.9 would append the next
      // statement's rows to the rows that it received before the error.
      await connection.rollback();
      end(error);
      throw error;
    });
    return await withDeadline(deadline, ended, () => {
      // A connection that is silent after the statement timeout is dead.
      withDeadline(Math.max(deadline, timeout) + GRACE_MS, ended, () => {
        connection.break();
        return unavailable("The database connection does not respond");
      }).catch(end);
      return unavailable(LATE);
    });
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

  /**
   * Has each session plan its statements again. It may have planned them while the tables
   * were empty, and only ANALYZE and changes of the schema would end these plans.
   */
  renewPlans(): void {
    for (const slot of this.#slots) slot.hasOldPlans = true;
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
export interface Lease {
  readonly connection: Connection;
  /** Throws `SERVICE_UNAVAILABLE` after the end of the operation or its deadline. */
  check(): void;
}

function isOpen({ connection }: Slot): boolean {
  return connection?.isLost === false;
}
