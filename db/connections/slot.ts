import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause, withDeadline } from "./deadline.ts";
import { requiresNewConnection } from "./errors.ts";

/** The exclusive use of a connection by one operation. */
export interface Lease {
  readonly connection: Connection;
  /**
   * A transaction calls it before each round trip. Throws `SERVICE_UNAVAILABLE` after
   * the operation or its deadline.
   */
  check(): void;
}

/** The least time between two connection attempts of a slot. */
const RECONNECT_MS = 250;

/** The time that a reply may take after the end of its statement. */
const GRACE_MS = 2_000;

/** A slot of the pool. It connects on first use, and replaces a lost connection. */
export class Slot {
  readonly #open: () => Connection;
  readonly #statementTimeoutMs: number;
  #connection: Connection | undefined;
  #openedAt = -Infinity;
  #isClosed = false;
  #wasUsed = false;

  constructor(open: () => Connection, statementTimeoutMs: number) {
    this.#open = open;
    this.#statementTimeoutMs = statementTimeoutMs;
  }

  /** Whether the slot has a connection that is not lost. */
  get isOpen(): boolean {
    return this.#connection?.isLost === false;
  }

  /**
   * Runs `work` with the connection, and calls `release` when the slot is free again.
   * Throws `SERVICE_UNAVAILABLE` at the deadline, even if `work` has not settled: the
   * slot is then free when `work` settles, or when the connection is dead.
   */
  async run<T>(
    work: (lease: Lease) => Promise<T>,
    deadline: number,
    release: () => void,
  ): Promise<T> {
    this.#wasUsed = true;
    const started = performance.now();
    let isOver = false;
    const check = () => {
      if (isOver || performance.now() >= deadline) {
        throw unavailable("The operation is over");
      }
    };
    const end = (error?: unknown) => {
      if (isOver) return;
      isOver = true;
      if (error !== undefined && requiresNewConnection(error)) {
        this.#connection?.break();
      }
      release();
    };
    const running = this.isOpen
      ? work({ connection: this.#connection!, check })
      : this.#reconnected().then((connection) => work({ connection, check }));
    running.then(() => end(), end);
    return await withDeadline(deadline, running, () => {
      // A connection that is silent after the statement timeout is dead.
      const ended = Math.max(deadline, started + this.#statementTimeoutMs);
      withDeadline(ended + GRACE_MS, running, () => {
        this.#connection?.break();
        return unavailable("The database connection does not respond");
      }).catch(end);
      return unavailable("The database did not respond in time");
    });
  }

  async #reconnected(): Promise<Connection> {
    await pause(this.#openedAt + RECONNECT_MS - performance.now());
    if (this.#isClosed) throw unavailable("The service is stopping");
    this.#openedAt = performance.now();
    return this.#connection = this.#open();
  }

  /** Closes the connection if it is unused since the last call. The slot must be free. */
  closeUnused(): void {
    if (!this.#wasUsed) this.#connection?.close(1).catch(() => {});
    this.#wasUsed = false;
  }

  async close(seconds: number): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close(seconds);
  }
}
