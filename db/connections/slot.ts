import { unavailable } from "../../schema/errors.ts";
import type { Connection } from "./connection.ts";
import { pause } from "./deadline.ts";

/** The least time between two connections of a slot. */
const RECONNECT_MS = 250;

/** A slot for one operation at a time, with the connection that its operations use one after another. */
export class Slot {
  readonly #open: () => Connection;
  #connection: Connection | undefined;
  #openedAt = -Infinity;
  #isClosed = false;
  #wasUsed = false;

  constructor(open: () => Connection) {
    this.#open = open;
  }

  /** Whether it has a connection that is not known to be lost. */
  get isOpen(): boolean {
    return this.#connection?.isLost === false;
  }

  /** The connection, a new one where the last was lost. Throws `SERVICE_UNAVAILABLE` once the slot is closed. */
  connection(): Connection | Promise<Connection> {
    this.#wasUsed = true;
    return this.isOpen ? this.#connection! : this.#reconnected();
  }

  async #reconnected(): Promise<Connection> {
    await pause(this.#openedAt + RECONNECT_MS - performance.now());
    if (this.#isClosed) throw unavailable("The service is being stopped");
    this.#openedAt = performance.now();
    return this.#connection = this.#open();
  }

  /** Closes the connection of a free slot that was not used since the last call. */
  closeUnused(): void {
    if (!this.#wasUsed) this.#connection?.close(1).catch(() => {});
    this.#wasUsed = false;
  }

  async close(seconds: number): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close(seconds);
  }
}
