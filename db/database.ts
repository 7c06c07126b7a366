import type { Load } from "./connections/queue.ts";
import {
  type ConnectionSettings,
  openConnection,
} from "./connections/connection.ts";
import { openEmbedded } from "./connections/embedded.ts";
import { Gathering, type Question, type Run } from "./connections/gathering.ts";
import { Pool } from "./connections/pool.ts";
import { retrying } from "./connections/retry.ts";
import type { Sql, Tx } from "./connections/sql.ts";
import {
  inTransaction,
  outsideTransaction,
  type Perform,
} from "./connections/transaction.ts";
import type { Watch } from "./connections/tracing.ts";

/** What a request may do with the database, until its deadline. */
export interface Operations {
  /**
   * Asks a question that finds a few rows by their keys. Questions on one topic
   * that wait for a connection at the same time are asked in one statement.
   */
  lookUp<Ask, Answer>(question: Question<Ask, Answer>): Promise<Answer>;
  /** The same for questions that may take long: a look-up waits for none of them. */
  read<Ask, Answer>(question: Question<Ask, Answer>): Promise<Answer>;
  /**
   * Runs statements that need no transaction, one after another; safe to run
   * again, which happens where the connection was lost. A single write may be
   * one, where writing it twice does no harm.
   */
  run<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Asks for a change, and has it made as by `transaction`. Those on one topic
   * that wait for a connection at the same time are made in one transaction,
   * and each in its own where that fails.
   */
  write<Ask, Answer>(question: Question<Ask, Answer, Tx>): Promise<Answer>;
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
  readonly load: Load;
  /** Lets what runs finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseSettings extends ConnectionSettings {
  /** Where the embedded database is kept, which serves without a `url`; without it in memory. */
  dataDir?: string | undefined;
  poolSize: number;
}

/** A connection that nobody uses for so long is closed. */
const IDLE_MS = 60_000;

/**
 * Opens the database, and tells `watch` of what happens there. Three things
 * that postgres.js 3.4.9 leaves to its caller happen here and nowhere else:
 *
 * - One operation at a time on a connection. The driver's own pool sends more
 *   down a busy one, and loses track of transactions then: acknowledged writes
 *   were in nobody's transaction (porsager/postgres#1189, #1204). Nor do reads
 *   share one: where a statement must be prepared anew, after a change of the
 *   schema, the others get each other's answers. So each place has a connection
 *   of its own, and whoever finds no place waits.
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
  const pool = (connections: number) =>
    new Pool(() => openConnection(settings, embedded?.socket), {
      connections,
      // An embedded one does not go silent: what takes long there is at work.
      statementTimeoutMs: embedded ? Infinity : settings.statementTimeoutMs,
    }, watch);
  const size = embedded ? 1 : settings.poolSize;
  const third = size > 1 ? Math.ceil(size / 3) : 0;
  const long = pool(size - third);
  const short = third > 0 ? pool(third) : long;
  const pools = [...new Set([long, short])];
  const lookUps = new Gathering<Sql>();
  const reads = new Gathering<Sql>();
  const writes = new Gathering<Tx>();

  const housekeeping = embedded ? undefined : setInterval(() => {
    for (const pool of pools) pool.closeUnused();
  }, IDLE_MS);

  return {
    until(deadline) {
      const reading = running(long, deadline, outsideTransaction);
      const writing = running(long, deadline, inTransaction);
      const lookingUp = running(short, deadline, outsideTransaction);
      return {
        lookUp: (question) => lookUps.ask(question, deadline, lookingUp),
        read: (question) => reads.ask(question, deadline, reading),
        run: reading,
        write: (question) => writes.ask(question, deadline, writing),
        transaction: writing,
      };
    },
    get load() {
      const sum: Load = { used: 0, waiting: 0 };
      for (const { load } of pools) {
        sum.used += load.used;
        sum.waiting += load.waiting;
      }
      return sum;
    },
    async close(seconds = 3) {
      clearInterval(housekeeping);
      const deadline = performance.now() + seconds * 1000;
      await Promise.all(pools.map((pool) => pool.close(deadline)));
      await embedded?.close();
    },
  };
}

/**
 * Runs work on a connection of the pool, in a transaction or outside one as
 * `perform` does, and again where that is worth it.
 */
function running<S extends Sql>(
  pool: Pool,
  deadline: number,
  perform: Perform<S>,
): Run<S> {
  return (work) =>
    retrying(() =>
      pool.operate(
        deadline,
        (connection, lent) => perform(connection, lent, work),
      )
    );
}
