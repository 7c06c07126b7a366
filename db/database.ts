import {
  type ConnectionSettings,
  openConnection,
  type Writer,
} from "./connections/connection.ts";
import { maintain, openEmbedded } from "./connections/embedded.ts";
import type { Caller } from "./connections/fair_share.ts";
import { type Observe, Pool } from "./connections/pool.ts";
import type { Load } from "./connections/queue.ts";
import {
  type Result,
  type Results,
  sql,
  type Statement,
} from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Memory } from "./long_text.ts";

/** What bounds the queries of a request. */
export interface Limits {
  /** In milliseconds of `performance.now()`. */
  deadline: number;
  /** Without it, the queries are the service's own. */
  caller?: Caller | undefined;
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
  /** Runs a transaction for SQL scripts: triggers maintain counts and stored JSON. */
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

/**
 * Opens the database. `observe` watches the operations of callers: `look-up`, `scan`,
 * `transaction` and `script`. The folder `connections/` works around three weaknesses of postgres.js
 * 3.4.9:
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
  const embedded = settings.url
    ? undefined
    : await openEmbedded(settings.dataDir);
  const pool = new Pool(() => openConnection(settings, embedded?.socket), {
    connections: embedded ? 1 : settings.poolSize,
    // An embedded database that does not respond is busy, not dead.
    statementTimeoutMs: embedded ? Infinity : settings.statementTimeoutMs,
    observe,
  });
  const backlog = new Backlog();
  const distribution = new Distribution();
  const queries = (limits: Limits) =>
    new PooledQueries(pool, backlog, distribution, limits);
  /** Whether the embedded database is being maintained, which happens once at a time. */
  let isMaintained = false;
  const housekeeping = setInterval(() => {
    if (!embedded) pool.closeUnused();
    else {backlog.add(async () => {
        if (isMaintained) return;
        isMaintained = true;
        await maintain(queries({ deadline: Infinity }))
          .finally(() => isMaintained = false);
      });}
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

class PooledQueries implements Queries {
  readonly memory: Memory | undefined;
  readonly #pool: Pool;
  readonly #backlog: Backlog;
  readonly #distribution: Distribution;
  readonly #limits: Limits;

  constructor(
    pool: Pool,
    backlog: Backlog,
    distribution: Distribution,
    limits: Limits,
  ) {
    this.#pool = pool;
    this.#backlog = backlog;
    this.#distribution = distribution;
    this.#limits = limits;
    this.memory = limits.memory;
  }

  lookUp<S extends Statement>(statement: S): Promise<Result<S>> {
    const { caller, deadline } = this.#limits;
    return this.#pool.run({
      name: "look-up",
      kind: "short",
      caller,
      deadline,
      statement,
    });
  }

  scan<S extends Statement>(statement: S): Promise<Result<S>> {
    const { caller, deadline } = this.#limits;
    return this.#pool.run({
      name: "scan",
      kind: "long",
      caller,
      deadline,
      statement,
    });
  }

  transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    ...opening: Statement[]
  ): Promise<T> {
    return this.#transact("transaction", "service", work, opening);
  }

  write<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>> {
    return this.transaction((tx) => tx.commit(...statements));
  }

  script<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transact("script", "script", work, []);
  }

  inBackground(...statements: Statement[]): void {
    this.#backlog.add(() => this.write(...statements));
  }

  async #transact<T>(
    name: string,
    writer: Writer,
    work: (tx: Transaction) => Promise<T>,
    opening: readonly Statement[],
  ): Promise<T> {
    const { caller, deadline } = this.#limits;
    return await this.#pool.run({
      name,
      kind: "long",
      caller,
      deadline,
      transaction: {
        writer,
        isDistributed: await this.#distribution.find(this),
        opening,
        work,
      },
    });
  }
}

/** Whether Citus distributes the database, which does not change. */
class Distribution {
  #isDistributed: boolean | undefined;

  /** Asks the database once. */
  async find(queries: Queries): Promise<boolean> {
    if (this.#isDistributed === undefined) {
      // The extension alone distributes nothing. `sql/citus.sql` creates this domain.
      const [row] = await queries.lookUp(sql<{ is_distributed: boolean }>`
        select to_regtype('product_json') is not null as is_distributed
      `);
      this.#isDistributed = row!.is_distributed;
    }
    return this.#isDistributed;
  }
}

/** A bounded queue of optional background tasks. A full queue drops new tasks. */
class Backlog {
  readonly #waiting: (() => Promise<unknown>)[] = [];
  #running = 0;

  add(work: () => Promise<unknown>): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(work);
    if (this.#running < MAX_RUNNING) this.#run();
  }

  async #run(): Promise<void> {
    this.#running++;
    let work;
    while ((work = this.#waiting.shift())) await work().catch(() => {});
    this.#running--;
  }
}

const MAX_WAITING = 1_000;
const MAX_RUNNING = 2;
