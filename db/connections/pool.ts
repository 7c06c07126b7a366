import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause, withDeadline } from "./deadline.ts";
import {
  isConflict,
  isConnectionLoss,
  requiresNewConnection,
} from "./errors.ts";
import type { Caller } from "./fair_share.ts";
import { type Kind, type Load, Queue } from "./queue.ts";
import type { Result, Statement } from "./sql.ts";
import { inTransaction, type TransactionPlan } from "./transaction.ts";

/** Observes an operation: called at its start, it returns a function to call at its end. */
export type Observe = (operation: string) => (error?: unknown) => void;

interface PoolSettings {
  connections: number;
  /** The server-side statement timeout, or `Infinity` for the embedded database. */
  statementTimeoutMs: number;
  /** Observes the operations of callers, but not the service's own. */
  observe?: Observe | undefined;
}

/** Who uses a connection, for what, and for how long at most. */
export interface Use {
  name: string;
  kind: Kind;
  /** Without one, the operation is the service's own. */
  caller?: Caller | undefined;
  /** In milliseconds of `performance.now()`. */
  deadline: number;
}

/** The use for a statement outside a transaction, or for a transaction. */
type Operation<T> =
  & Use
  & ({ statement: Statement } | { transaction: TransactionPlan<T> });

/** A place for a connection, which is opened on first use, and again when it is lost. */
interface Slot {
  connection?: Connection;
  openedAt: number;
  wasUsed: boolean;
}

/** The exclusive use of a connection by one operation. */
interface Lease {
  readonly connection: Connection;
  /** Ends the lease, once. The error of its operation may require a new connection. */
  end(error?: unknown): void;
  /** Throws `SERVICE_UNAVAILABLE` after the end of the lease or the deadline. */
  check(): void;
}

/** Attempts per operation. */
const MAX_ATTEMPTS = 3;

/** The least time between two connection attempts of a slot. */
const RECONNECT_MS = 250;

/** The time that a reply may take after the end of its statement. */
const GRACE_MS = 2_000;

const LATE = "The database did not respond in time";

/** The caller of the service's own operations, such as look-ups of credentials. */
const SERVICE: Caller = { organizationId: "", name: "" };

/** A pool whose connections serve one operation at a time. */
export class Pool {
  readonly #open: () => Connection;
  readonly #settings: PoolSettings;
  readonly #slots: Slot[];
  /** As many as the queue has free places. */
  readonly #free: Slot[];
  readonly #queue: Queue;
  #isClosed = false;

  constructor(open: () => Connection, settings: PoolSettings) {
    this.#open = open;
    this.#settings = settings;
    this.#slots = Array.from(
      { length: settings.connections },
      (): Slot => ({ openedAt: -Infinity, wasUsed: false }),
    );
    this.#free = [...this.#slots];
    this.#queue = new Queue(settings.connections, "database");
  }

  get load(): Load {
    return this.#queue.load;
  }

  /**
   * Runs an operation with exclusive use of a connection, and again after a conflict or
   * a connection loss. A transaction whose outcome is unknown throws
   * `SERVICE_UNAVAILABLE`, so it is not repeated. Throws `SERVICE_UNAVAILABLE` at the
   * deadline.
   */
  run<S extends Statement>(
    operation: Use & { statement: S },
  ): Promise<Result<S>>;
  run<T>(operation: Use & { transaction: TransactionPlan<T> }): Promise<T>;
  async run(operation: Operation<unknown>): Promise<unknown> {
    const { name, kind, caller = SERVICE, deadline } = operation;
    const end = operation.caller && this.#settings.observe?.(name);
    for (let attempt = 1;; attempt++) {
      try {
        const lease = await this.#acquire(caller, kind, deadline);
        const result = await this.#use(lease, operation);
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

  /** Waits for a slot and its connection. Prefers a slot that is connected. */
  async #acquire(caller: Caller, kind: Kind, deadline: number): Promise<Lease> {
    const place = await this.#queue.enter(caller, kind, deadline);
    const slot = this.#free.splice(this.#free.findLastIndex(isOpen), 1)[0]!;
    slot.wasUsed = true;
    let hasEnded = false;
    const end = (error?: unknown) => {
      if (hasEnded) return;
      hasEnded = true;
      if (requiresNewConnection(error)) slot.connection?.break();
      this.#free.push(slot);
      place[Symbol.dispose]();
    };
    if (!isOpen(slot)) {
      const wait = slot.openedAt + RECONNECT_MS - performance.now();
      await pause(Math.min(wait, deadline - performance.now()));
      if (this.#isClosed || performance.now() >= deadline) {
        end();
        throw unavailable(this.#isClosed ? "The service is stopping" : LATE);
      }
      slot.openedAt = performance.now();
      slot.connection = this.#open();
    }
    return {
      connection: slot.connection!,
      end,
      check() {
        if (hasEnded || performance.now() >= deadline) {
          throw unavailable("The operation is over");
        }
      },
    };
  }

  /**
   * Runs an operation with its connection. At the deadline, it throws
   * `SERVICE_UNAVAILABLE`, even if the operation has not settled: the lease then ends
   * when it settles, or when the connection is dead.
   */
  async #use(
    { connection, check, end }: Lease,
    operation: Operation<unknown>,
  ): Promise<unknown> {
    const { caller, deadline } = operation;
    const started = performance.now();
    const organizationId = caller?.organizationId;
    const running = "statement" in operation
      ? connection.send(operation.statement, organizationId)
      : inTransaction(connection, operation.transaction, {
        organizationId,
        check,
      });
    const ended = running.catch(async (error) => {
      // Ends the transaction. After a read too: postgres.js 3.4.9 would append the next
      // statement's rows to the rows that it received before the error.
      await connection.rollback();
      throw error;
    });
    ended.then(() => end(), end);
    return await withDeadline(deadline, ended, () => {
      // A connection that is silent after the statement timeout is dead.
      const timeout = started + this.#settings.statementTimeoutMs;
      withDeadline(Math.max(deadline, timeout) + GRACE_MS, ended, () => {
        connection.break();
        return unavailable("The database connection does not respond");
      }).catch(end);
      return unavailable(LATE);
    });
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

function isOpen({ connection }: Slot): boolean {
  return connection?.isLost === false;
}
