import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause } from "./deadline.ts";

/** The least time between two connection attempts of a slot. */
const RECONNECT_MS = 250;

/** A slot of the pool. It connects on first use, and replaces a lost connection. */
export class Slot {
  readonly #open: () => Connection;
  #connection: Connection | undefined;
  #openedAt = -Infinity;
  #isClosed = false;
  #wasUsed = false;

  constructor(open: () => Connection) {
    this.#open = open;
  }

  /** Whether the slot has a connection that is not lost. */
  get isOpen(): boolean {
    return this.#connection?.isLost === false;
  }

  /** Returns the connection, or opens one. Throws `SERVICE_UNAVAILABLE` if closed. */
  connection(): Connection | Promise<Connection> {
    this.#wasUsed = true;
    return this.isOpen ? this.#connection! : this.#reconnected();
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
