import { Backlog } from "./connections/backlog.ts";
import { openConnection, type Writer } from "./connections/connection.ts";
import { Distribution } from "./connections/distribution.ts";
import type { ConnectionSettings } from "./connections/driver.ts";
import { openEmbedded } from "./connections/embedded.ts";
import { maintain } from "./connections/maintenance.ts";
import { type Observe, Pool } from "./connections/pool.ts";
import type { Caller, Kind, Load } from "./connections/queue.ts";
import {
  type Result,
  type Results,
  sql,
  type Statement,
} from "./connections/sql.ts";
import { inTransaction, type Transaction } from "./connections/transaction.ts";

/** What may bound and watch the queries of a request. */
export interface Limits {
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  /** Without it, the queries are the service's own. */
  caller?: Caller | undefined;
  observe?: Observe | undefined;
}

/** Queries of the database. Each is a statement or a transaction. */
export interface Queries {
  /** Runs a statement that reads a few rows by their keys. */
  lookUp<S extends Statement>(statement: S): Promise<Result<S>>;
  /** Runs a statement that may read many rows, without delaying look-ups. */
  scan<S extends Statement>(statement: S): Promise<Result<S>>;
  /**
   * Runs `work` in a transaction, which `work` must commit. `work` runs again after
   * a conflict (40001, 40P01) or a connection loss before COMMIT, so it must have
   * no other side effects. The statements of `opening` precede those of `work`, in
   * the same round trip.
   */
  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    ...opening: Statement[]
  ): Promise<T>;
  /** Runs the statements in a transaction, retried like `transaction`. */
  write<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>>;
  /** Runs a transaction for SQL scripts: triggers maintain counts and stored answers. */
  script<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Writes in the background. Drops the statements under load, and ignores errors. */
  inBackground(...statements: Statement[]): void;
}

/** The only access to database connections. */
export interface Database extends AsyncDisposable {
  /**
   * The queries of a caller. They throw `SERVICE_UNAVAILABLE` at the deadline. A
   * transaction is then not committed, unless its COMMIT was already sent.
   */
  for(limits: Limits): Queries;
  readonly load: Load;
  /** Waits up to `seconds` for running operations, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseSettings extends ConnectionSettings {
  /** The folder of the embedded database, which is used without `url`. Default: memory. */
  dataDir?: string | undefined;
  poolSize: number;
}

/** The statement that checks whether the database responds. */
export const readiness = sql`select`;

/** The interval at which unused connections are closed, or the embedded database is maintained. */
const HOUSEKEEPING_MS = 60_000;

/** The caller of the service's own operations, such as look-ups of credentials. */
const SERVICE: Caller = { organizationId: "", name: "" };

/**
 * Opens the database. This file and `connections/` work around three weaknesses of
 * postgres.js 3.4.9:
 *
 * - A connection runs one operation at a time. The driver's pool sends several
 *   operations down a connection and loses track of transactions: acknowledged
 *   writes ran outside them (porsager/postgres#1189, #1204). Concurrent reads got
 *   each other's rows when a statement was prepared again after a schema change.
 * - A lease ends with its operation, and a lost connection is not reused, so no
 *   statement runs in another operation's transaction.
 * - Operations have deadlines: a statement on a dead connection never settles.
 */
export async function openDatabase(
  settings: DatabaseSettings,
): Promise<Database> {
  const embedded = settings.url
    ? undefined
    : await openEmbedded(settings.dataDir);
  const pool = new Pool(() => openConnection(settings, embedded?.socket), {
    connections: embedded ? 1 : settings.poolSize,
    // An embedded database that does not respond is busy, not dead.
    statementTimeoutMs: embedded ? Infinity : settings.statementTimeoutMs,
  });
  const backlog = new Backlog();
  const parts = { pool, backlog, distribution: new Distribution(pool) };
  const queries = (limits: Limits) => queriesOf(parts, limits);
  const housekeeping = setInterval(() => {
    if (embedded) {
      backlog.add(() => maintain(queries({ deadline: Infinity }).scan));
    } else pool.closeUnused();
  }, HOUSEKEEPING_MS);

  async function close(seconds = 3): Promise<void> {
    clearInterval(housekeeping);
    await pool.close(performance.now() + seconds * 1000);
    await embedded?.close();
  }

  return {
    for: queries,
    get load() {
      return pool.load;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function queriesOf(
  { pool, backlog, distribution }: {
    pool: Pool;
    backlog: Backlog;
    distribution: Distribution;
  },
  { caller, ...limits }: Limits,
): Queries {
  const organizationId = caller?.organizationId;
  const common = { ...limits, caller: caller ?? SERVICE };
  function reads(name: string, kind: Kind): Queries["lookUp"] {
    const operation = { ...common, name, kind };
    return (statement) =>
      pool.operate(
        operation,
        ({ connection }) => connection.read(statement, organizationId),
      );
  }
  function transactions(name: string, writer: Writer) {
    const operation = { ...common, name, kind: "long" } as const;
    return async <T>(
      work: (tx: Transaction) => Promise<T>,
      ...opening: Statement[]
    ): Promise<T> => {
      const isDistributed = await distribution.find(operation);
      const options = { writer, opening, isDistributed, organizationId };
      return await pool.operate(
        operation,
        (lease) => inTransaction(lease, options, work),
      );
    };
  }
  const transaction = transactions("transaction", "service");
  const write: Queries["write"] = (...statements) =>
    transaction((tx) => tx.commit(...statements));
  return {
    lookUp: reads("look-up", "short"),
    scan: reads("scan", "long"),
    transaction,
    write,
    script: transactions("script", "script"),
    inBackground: (...statements) => backlog.add(() => write(...statements)),
  };
}
