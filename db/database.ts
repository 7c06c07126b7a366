import { Admission, unavailable } from "./admission.ts";
import {
  type Connection,
  type ConnectionSettings,
  openConnection,
} from "./connection.ts";
import { before } from "./deadline.ts";
import { openEmbedded } from "./embedded.ts";
import { endsSession } from "./fault.ts";
import { Place } from "./place.ts";
import { retrying } from "./retry.ts";
import type { Sql, Tx } from "./sql.ts";
import { inTransaction, lend } from "./transaction.ts";
import { type Watch, watched } from "./watch.ts";

/** What a request may do with the database, until its deadline. */
export interface Operations {
  /**
   * Runs statements that need no transaction, one after another; safe to run
   * again, which happens where the connection was lost.
   */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction, committed when it returns and rolled back
   * when it throws. Runs it again where PostgreSQL asks for that (40001, 40P01)
   * or the connection was lost before the commit, so it must have no other effect.
   */
  transaction<T>(work: (sql: Tx) => Promise<T>): Promise<T>;
}

/** The only way to a connection. */
export interface Database {
  /**
   * Operations that are given up at `deadline`, in milliseconds of
   * `performance.now()`, with `SERVICE_UNAVAILABLE`. A transaction that was
   * given up is not committed, but for one whose commit was on its way.
   */
  until(deadline: number): Operations;
  /** How many operations run, and how many wait for a connection. */
  readonly load: { running: number; waiting: number };
  /** Lets what runs finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseSettings extends ConnectionSettings {
  /** Where the embedded database is kept, which serves without a `url`; without it in memory. */
  dataDir?: string | undefined;
  poolSize: number;
}

/** How long a server may take to answer after it has given a statement up. */
const GRACE_MS = 2_000;

/** A connection that nobody uses for so long is closed. */
const IDLE_MS = 60_000;

/**
 * Opens the database, and tells `watch` of what happens there. Three things
 * that postgres.js 3.4.9 leaves to its caller happen here and nowhere else:
 *
 * - One operation at a time on a connection. The driver's own pool sends more
 *   down a busy one, and loses track of transactions then: acknowledged writes
 *   were in nobody's transaction (porsager/postgres#1189, #1204). So each place
 *   has a connection of its own, and whoever finds no place waits.
 * - What was lent is dead once its operation is over, and a connection that was
 *   lost is not used again: nothing can be written in another's transaction.
 * - Deadlines. A statement on a connection that went silent is never answered.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  watch?: Watch,
): Promise<Database> {
  const embedded = settings.url
    ? undefined
    : await openEmbedded(settings.dataDir);
  const places = Array.from(
    { length: embedded ? 1 : settings.poolSize },
    () => new Place(() => openConnection(settings, embedded?.socket)),
  );
  const admission = new Admission(places);
  const housekeeping = embedded ? undefined : setInterval(() => {
    for (const place of admission.free) place.closeUnused();
  }, IDLE_MS);

  function visible<S extends Sql>(sql: S): S {
    return watch ? watched(sql, watch) : sql;
  }

  async function enter(deadline: number): Promise<Place> {
    const asked = performance.now();
    try {
      return await admission.enter(deadline);
    } finally {
      watch?.waited(performance.now() - asked);
    }
  }

  /** Runs `work` on a place, and keeps the place until it has settled. */
  async function operate<T>(
    deadline: number,
    work: (connection: Connection, lent: Tx) => Promise<T>,
  ): Promise<T> {
    const place = await enter(deadline);
    const running = perform(place, deadline, work);
    // An embedded one does not go silent: what takes long there is at work.
    const settled = embedded ? running : unlessSilent(place, deadline, running);
    const leave = () => admission.leave(place);
    settled.then(leave, leave);
    return await before(
      deadline,
      settled,
      () => unavailable("The database did not answer in time"),
    );
  }

  /**
   * The operation, broken off where it has not ended when a server that lives
   * would have ended all that was sent until the deadline.
   */
  function unlessSilent<T>(
    place: Place,
    deadline: number,
    running: Promise<T>,
  ): Promise<T> {
    const ended = performance.now() + settings.statementTimeoutMs;
    return before(Math.max(deadline, ended) + GRACE_MS, running, () => {
      place.abandon();
      return unavailable("The connection went silent");
    });
  }

  return {
    until: (deadline) => ({
      read: (work) =>
        retrying(() =>
          operate(deadline, (_connection, lent) => work(visible(lent)))
        ),
      transaction: (work) =>
        retrying(() =>
          operate(
            deadline,
            (connection, lent) =>
              inTransaction(connection, lent, (sql) => work(visible(sql))),
          )
        ),
    }),
    get load() {
      return admission.load;
    },
    async close(seconds = 3) {
      clearInterval(housekeeping);
      const deadline = performance.now() + seconds * 1000;
      // Whoever has every place has seen every operation end.
      const taken = await Promise.allSettled(
        places.map(() => admission.enter(deadline)),
      );
      const left = Math.max(100, deadline - performance.now()) / 1000;
      await Promise.all(places.map((place) => place.close(left)));
      for (const place of taken) {
        if (place.status === "fulfilled") admission.leave(place.value);
      }
      await embedded?.close();
    },
  };
}

async function perform<T>(
  place: Place,
  deadline: number,
  work: (connection: Connection, lent: Tx) => Promise<T>,
): Promise<T> {
  let isOver = false;
  try {
    const connection = await place.connection();
    const lent = lend(
      connection,
      () => isOver || performance.now() >= deadline,
    );
    return await work(connection, lent);
  } catch (error) {
    if (endsSession(error)) place.abandon();
    throw error;
  } finally {
    isOver = true;
  }
}
