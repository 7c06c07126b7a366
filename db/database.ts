import { type ConnectionSettings, openConnection } from "./connections/connection.ts";
import { maintain, openEmbedded } from "./connections/embedded.ts";
import { pause } from "./connections/deadline.ts";
import { isConflict, isConnectionLoss } from "./connections/errors.ts";
import { Pool } from "./connections/pool.ts";
import { type Caller, type Kind, type Load, Queue } from "./connections/queue.ts";
import { type Result, type Results, sql, type Statement } from "./connections/sql.ts";
import {
  type Author,
  inTransaction,
  type Transaction,
  type TransactionPlan,
} from "./connections/transaction.ts";

/*
 * Gives operations access to the database: look-ups, scans and transactions, with deadlines and
 * retries.
 */

/** Observes an operation: called at its start, it returns a function to call at its end. */
export type Observe = (operation: string) => (error?: unknown) => void;

/** The memory of a request for the texts that it reads. */
export interface Memory {
  /** The size of the texts that may be read at once, in bytes. */
  readonly bytes: number;
  /** Waits until texts of this size may be read. Throws `SERVICE_UNAVAILABLE` at the deadline. */
  reserve(bytes: number): Promise<void>;
}

/** What bounds the queries of a request. */
export interface Limits {
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  /** Without it, the queries are the service's own. */
  caller?: Caller | undefined;
  /** Who changes products. */
  author?: Author | undefined;
  /** The memory for long texts. Without it, they are not limited. */
  memory?: Memory | undefined;
}

/** Queries of the database. Each is a statement or a transaction. */
export interface Queries {
  readonly memory: Memory | undefined;
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
  /**
   * Writes in the background. Drops the statements under load, and ignores errors. Settles
   * when they are written or dropped.
   */
  inBackground(statements: (tx: Transaction) => readonly Statement[]): Promise<void>;
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
export const ping = sql`select`;

/** The interval at which unused connections are closed, or the embedded database is maintained. */
const HOUSEKEEPING_MS = 60_000;

/**
 * Opens the database. `observe` watches the operations of callers: `look-up`, `scan`
 * and `transaction`. The folder `connections/` works around three weaknesses of
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
  { observe }: { observe?: Observe } = {},
): Promise<Database> {
  const embedded = settings.url ? undefined : await openEmbedded(settings.dataDir);
  const pool = new Pool(() => openConnection(settings, embedded?.socket), {
    connections: embedded ? 1 : settings.poolSize,
    // An embedded database that does not respond is busy, not dead.
    statementTimeoutMs: embedded ? Infinity : settings.statementTimeoutMs,
  });
  const background = new Queue(MAX_TASKS, "background", 1);
  const shared: Shared = { pool, observe, background };
  const queries = (limits: Limits) => new CallerQueries(shared, limits);
  /** Whether the embedded database is being maintained, which happens once at a time. */
  let isMaintained = false;
  async function maintainOnce() {
    if (isMaintained) return;
    isMaintained = true;
    await maintain(queries({ deadline: Infinity }))
      .finally(() => isMaintained = false);
  }
  const housekeeping = setInterval(() => {
    if (embedded) return runInBackground(background, Infinity, maintainOnce);
    pool.closeUnused();
    pool.renewPlans();
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

interface Shared {
  pool: Pool;
  observe: Observe | undefined;
  /** Optional tasks. While too many wait, new ones are dropped. */
  background: Queue;
  /** Whether Citus distributes the database, which does not change. */
  isDistributed?: boolean;
}

/** The caller of the service's own operations, such as look-ups of credentials. */
const SERVICE: Caller = { organizationId: "", name: "" };

/** The tasks that run at once in the background. */
const MAX_TASKS = 2;

async function runInBackground(
  queue: Queue,
  deadline: number,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    using _ = await queue.enter(SERVICE, "short", deadline);
    await work();
  } catch {
    // The task is optional.
  }
}

const MAX_ATTEMPTS = 4;

class CallerQueries implements Queries {
  readonly memory: Memory | undefined;
  readonly #shared: Shared;
  readonly #caller: Caller | undefined;
  readonly #author: Author | undefined;
  readonly #deadline: number;

  constructor(shared: Shared, { caller, author, deadline, memory }: Limits) {
    this.memory = memory;
    this.#shared = shared;
    this.#caller = caller;
    this.#author = author;
    this.#deadline = deadline;
  }

  lookUp<S extends Statement>(statement: S): Promise<Result<S>> {
    return this.#run("look-up", "short", statement) as Promise<Result<S>>;
  }

  scan<S extends Statement>(statement: S): Promise<Result<S>> {
    return this.#run("scan", "long", statement) as Promise<Result<S>>;
  }

  async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    ...opening: Statement[]
  ): Promise<T> {
    const isDistributed = await this.#isDistributed();
    const plan = { isDistributed, author: this.#author, opening, work };
    return await this.#run("transaction", "long", plan) as T;
  }

  write<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>> {
    return this.transaction((tx) => tx.commit(...statements));
  }

  inBackground(statements: (tx: Transaction) => readonly Statement[]): Promise<void> {
    return runInBackground(
      this.#shared.background,
      this.#deadline,
      () => this.transaction((tx) => tx.commit(...statements(tx))),
    );
  }

  async #isDistributed(): Promise<boolean> {
    return this.#shared.isDistributed ??= await this.#findDistribution();
  }

  /** The extension alone distributes nothing. `sql/citus.sql` creates this domain as a mark. */
  async #findDistribution(): Promise<boolean> {
    const [row] = await this.lookUp(sql<{ is_distributed: boolean }>`
      select to_regtype('distributed') is not null as is_distributed
    `);
    return row!.is_distributed;
  }

  /**
   * Runs an operation with exclusive use of a connection, and again after a conflict or
   * a connection loss. A transaction whose outcome is unknown throws
   * `SERVICE_UNAVAILABLE`, so it is not repeated. Throws `SERVICE_UNAVAILABLE` at the
   * deadline.
   */
  async #run(
    name: string,
    kind: Kind,
    operation: Statement | TransactionPlan<unknown>,
  ): Promise<unknown> {
    const { pool, observe } = this.#shared;
    const caller = this.#caller;
    const organizationId = caller?.organizationId;
    const end = caller && observe?.(name);
    for (let attempt = 1;; attempt++) {
      try {
        const result = await pool.use<unknown>(
          caller ?? SERVICE,
          kind,
          this.#deadline,
          (lease) =>
            "work" in operation
              ? inTransaction(lease, operation, organizationId)
              : lease.connection.send(operation, organizationId),
        );
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
}
