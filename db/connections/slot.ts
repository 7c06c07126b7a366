import { unavailable } from "./queue.ts";
import type { Connection } from "./connection.ts";
import { pause } from "./deadline.ts";

/** A place opens no more than four connections a second, whatever happens to them. */
const RECONNECT_MS = 250;

/** A place for one operation, with the connection that its operations share one after another. */
export class Place {
  readonly #open: () => Connection;
  #connection: Connection | undefined;
  #openedAt = -Infinity;
  #isClosed = false;
  #wasUsed = false;

  constructor(open: () => Connection) {
    this.#open = open;
  }

  /** Whether it has a connection that is good for all that is known. */
  get isOpen(): boolean {
    return this.#connection?.isLost === false;
  }

  /** The connection, a new one where the last was lost. Throws `SERVICE_UNAVAILABLE` once it is closed. */
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

  /**
   * Closes the connection where nobody has asked for it since this was last
   * called; for a place that is free.
   */
  closeUnused(): void {
    if (!this.#wasUsed) this.#connection?.close(1).catch(() => {});
    this.#wasUsed = false;
  }

  async close(seconds: number): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close(seconds);
  }
}
