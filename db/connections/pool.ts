import { Admission, type Load, unavailable } from "./queue.ts";
import type { Connection } from "./connection.ts";
import { before } from "./deadline.ts";
import { endsSession } from "./sqlstate.ts";
import { Place } from "./slot.ts";
import type { Tx } from "./sql.ts";
import { lend } from "./transaction.ts";
import { type Watch, watched } from "./tracing.ts";

export interface PoolSettings {
  connections: number;
  /** A server that lives has ended a statement after so many milliseconds; `Infinity` where it cannot go silent. */
  statementTimeoutMs: number;
}

/** What an operation does with a connection, of which it is lent the statements. */
export type Work<T> = (connection: Connection, lent: Tx) => Promise<T>;

/** How long a server may take to answer after it has given a statement up. */
const GRACE_MS = 2_000;

/** Connections for operations of one kind, each for one operation at a time. */
export class Pool {
  readonly #places: Place[];
  readonly #admission: Admission<Place>;
  readonly #statementTimeoutMs: number;
  readonly #watch: Watch | undefined;

  constructor(
    open: () => Connection,
    { connections, statementTimeoutMs }: PoolSettings,
    watch?: Watch,
  ) {
    this.#places = Array.from({ length: connections }, () => new Place(open));
    this.#admission = new Admission(this.#places);
    this.#statementTimeoutMs = statementTimeoutMs;
    this.#watch = watch;
  }

  get load(): Load {
    return this.#admission.load;
  }

  /**
   * Runs `work` on a connection, and keeps its place there until it has settled.
   * Throws `SERVICE_UNAVAILABLE` at `deadline`, in milliseconds of
   * `performance.now()`, whatever becomes of it.
   */
  async operate<T>(deadline: number, work: Work<T>): Promise<T> {
    const place = await this.#enter(deadline);
    const running = this.#perform(place, deadline, work);
    const leave = () => this.#admission.leave(place);
    running.then(leave, leave);
    return await before(
      deadline,
      running,
      () => unavailable("The database did not answer in time"),
    );
  }

  async #enter(deadline: number): Promise<Place> {
    const asked = performance.now();
    try {
      return await this.#admission.enter(deadline);
    } finally {
      this.#watch?.waited(performance.now() - asked);
    }
  }

  async #perform<T>(
    place: Place,
    deadline: number,
    work: Work<T>,
  ): Promise<T> {
    let isOver = false;
    const connection = await place.connection();
    const lent = lend(
      connection,
      () => isOver || performance.now() >= deadline,
    );
    const visible = this.#watch ? watched(lent, this.#watch) : lent;
    try {
      return await before(
        this.#silentAt(deadline),
        work(connection, visible),
        () => {
          connection.break();
          return unavailable("The connection went silent");
        },
      );
    } catch (error) {
      if (endsSession(error)) connection.break();
      throw error;
    } finally {
      isOver = true;
    }
  }

  /** When a server that lives has ended all that was sent to it until the deadline. */
  #silentAt(deadline: number): number {
    const ended = performance.now() + this.#statementTimeoutMs;
    return Math.max(deadline, ended) + GRACE_MS;
  }

  /** Closes the connections that nobody has used since this was last called. */
  closeUnused(): void {
    for (const place of this.#admission.free) place.closeUnused();
  }

  /** Lets what runs finish until `deadline`, then closes every connection. */
  async close(deadline: number): Promise<void> {
    // Whoever has every place has seen every operation end.
    const taken = await Promise.allSettled(
      this.#places.map(() => this.#admission.enter(deadline)),
    );
    const left = Math.max(100, deadline - performance.now()) / 1000;
    await Promise.all(this.#places.map((place) => place.close(left)));
    for (const place of taken) {
      if (place.status === "fulfilled") this.#admission.leave(place.value);
    }
  }
}
