import { Backlog } from "./connections/backlog.ts";
import {
  type ConnectionSettings,
  openConnection,
} from "./connections/connection.ts";
import { openEmbedded } from "./connections/embedded.ts";
import { type Lease, type Operation, Pool } from "./connections/pool.ts";
import type { Caller, Kind, Load } from "./connections/queue.ts";
import { type Result, sql, type Statement } from "./connections/sql.ts";
import { isConflict, isConnectionLoss } from "./connections/sqlstate.ts";
import { inTransaction, type Transaction } from "./connections/transaction.ts";
import { pause } from "./connections/deadline.ts";

/** What a request may do with the database. Each operation is one statement or one transaction. */
export interface Operations {
  /** Runs a statement that finds a few rows by their keys. */
  lookUp<S extends Statement>(statement: S): Promise<Result<S>>;
  /** Runs a statement that may read many rows. Look-ups do not wait for it. */
  scan<S extends Statement>(statement: S): Promise<Result<S>>;
  /**
   * Runs `work` in a transaction, which `work` commits. It runs again where
   * PostgreSQL asks for that (40001, 40P01) or the connection was lost before
   * COMMIT, so it must have no other effect.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** The same for SQL that does not keep counts and stored answers itself: triggers do. */
  script<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Runs a transaction of these statements after the answer, if there is time for it. Its failure is not reported. */
  afterwards(...statements: Statement[]): void;
}

/** The only way to a connection. */
export interface Database {
  /**
   * Operations for this caller, whose organization is `$1` in their statements.
   * They are given up at `deadline`, in milliseconds of `performance.now()`, with
   * `SERVICE_UNAVAILABLE`; then a transaction is not committed, unless its COMMIT
   * was on its way.
   */
  until(deadline: number, caller?: Caller): Operations;
  readonly load: Load;
  /** Lets running operations finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseSettings extends ConnectionSettings {
  /** Where the embedded database is kept, which serves without a `url`; without it in memory. */
  dataDir?: string | undefined;
  poolSize: number;
}

/** Whether the database answers. */
export const readiness = sql`select`;

/** After how many milliseconds an unused connection is closed. */
const IDLE_MS = 60_000;

/** How often an operation is tried. */
const MAX_ATTEMPTS = 3;

/** The service itself: it looks up credentials, and asks whether the database answers. */
const SERVICE: Caller = { organizationId: "", name: "" };

/**
 * Opens the database. Three things that postgres.js 3.4.9 leaves to its caller
 * happen here and in `connections/`, and nowhere else:
 *
 * - A connection runs one operation at a time. The driver's own pool sends more
 *   down a busy connection and then loses track of transactions: acknowledged
 *   writes were in no transaction (porsager/postgres#1189, #1204). Reads do not
 *   share one either: where a statement is prepared again after a change of the
 *   schema, the others get each other's answers.
 * - A lease ends with its operation, and a lost connection is not used again, so
 *   no statement can run in another operation's transaction.
 * - Operations have deadlines. A statement on a silent connection is never answered.
 */
export async function openDatabase(
  settings: DatabaseSettings,
): Promise<Database> {
  const embedded = settings.url
    ? undefined
    : await openEmbedded(settings.dataDir);
  const pool = new Pool(() => openConnection(settings, embedded?.socket), {
    connections: embedded ? 1 : settings.poolSize,
    // The embedded database does not go silent: it is busy.
    statementTimeoutMs: embedded ? Infinity : settings.statementTimeoutMs,
  });
  const backlog = new Backlog();
  const housekeeping = embedded
    ? undefined
    : setInterval(() => pool.closeUnused(), IDLE_MS);

  return {
    until: (deadline, caller) => operationsOf(pool, backlog, deadline, caller),
    get load() {
      return pool.load;
    },
    async close(seconds = 3) {
      clearInterval(housekeeping);
      await pool.close(performance.now() + seconds * 1000);
      await embedded?.close();
    },
  };
}

function operationsOf(
  pool: Pool,
  backlog: Backlog,
  deadline: number,
  caller?: Caller,
): Operations {
  const organizationId = caller?.organizationId;
  function operate<T>(kind: Kind, work: (lease: Lease) => Promise<T>) {
    const operation: Operation = { caller: caller ?? SERVICE, kind, deadline };
    return retrying(() => pool.operate(operation, work));
  }
  const transaction: Operations["transaction"] = (work) =>
    operate(
      "long",
      (lease) =>
        inTransaction(lease, { writer: "service", organizationId }, work),
    );
  return {
    lookUp: (statement) =>
      operate("short", (lease) => read(lease, statement, organizationId)),
    scan: (statement) =>
      operate("long", (lease) => read(lease, statement, organizationId)),
    transaction,
    script: (work) =>
      operate(
        "long",
        (lease) =>
          inTransaction(lease, { writer: "script", organizationId }, work),
      ),
    afterwards: (...statements) =>
      backlog.add(() => transaction((tx) => tx.commit(...statements))),
  };
}

/**
 * Runs one statement. After a failure another one must succeed: postgres.js 3.4.9
 * adds the next rows of the connection behind those that came before the failure.
 */
async function read<S extends Statement>(
  { connection, check }: Lease,
  statement: S,
  organizationId?: string,
): Promise<Result<S>> {
  check();
  try {
    return await connection.send(statement, organizationId);
  } catch (error) {
    await connection.rollback();
    throw error;
  }
}

/**
 * Runs the operation, and again where PostgreSQL asks for that or the connection
 * was lost. A transaction that may have been committed fails with neither.
 */
async function retrying<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      const isWorthwhile = isConflict(error) || isConnectionLoss(error);
      if (attempt === MAX_ATTEMPTS || !isWorthwhile) throw error;
      // A random pause keeps two operations from meeting again.
      await pause(Math.random() * 20 * attempt);
    }
  }
}
