import postgres from "postgres";
import { Admission, unavailable } from "./admission.ts";
import { openEmbedded } from "./embedded.ts";
import { isConflict, isConnectionLoss, RowsMissing } from "./fault.ts";
import { type Watch, watched } from "./watch.ts";

/** Statements as tagged templates; what is interpolated travels as a parameter. */
export interface Sql {
  <T extends readonly object[] = postgres.Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly unknown[]
  ): postgres.PendingQuery<T & postgres.Row[]>;
  /** The names of columns or of a table; or a row with these columns, after `insert into`. */
  (names: string | readonly string[]): postgres.Helper<string[]>;
  (row: object, columns: readonly string[]): postgres.Helper<object>;
  /** A value that travels as `jsonb`. */
  json(value: unknown): postgres.Parameter;
  /** A statement out of a file of `sql/`; never text of anyone else. */
  unsafe(text: string): Statement;
}

declare const transactional: unique symbol;

/** The same inside a transaction: functions that need one say so by this type. */
export interface Tx extends Sql {
  readonly [transactional]: true;
}

/** What a request may do with the database, until its deadline. */
export interface Operations {
  /** Runs statements that need no transaction; safe to run twice. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction, committed when it returns and rolled back
   * when it throws. Runs it again, three times at most, where PostgreSQL asks
   * for that (40001, 40P01), so it must have no other effect.
   */
  transaction<T>(work: (sql: Tx) => Promise<T>): Promise<T>;
}

/** The only way to a connection. */
export interface Database {
  /** Operations that are given up at `deadline`, in milliseconds of `performance.now()`. */
  until(deadline: number): Operations;
  /** How many operations run, and how many wait for a connection. */
  readonly load: { running: number; waiting: number };
  /** Lets what runs finish for at most `seconds`, then closes every connection. */
  close(seconds?: number): Promise<void>;
}

export interface DatabaseSettings {
  /** A PostgreSQL 15 or later; without it the embedded one. */
  url?: string | undefined;
  /** Where the embedded database is kept; without it in memory. */
  dataDir?: string | undefined;
  poolSize: number;
  statementTimeoutMs: number;
  /** `false` behind PgBouncer in transaction mode. */
  prepare: boolean;
}

type Pool = postgres.Sql;
type Options = postgres.Options<Record<string, postgres.PostgresType>>;

/** An operation still running so long after its deadline has lost its connection. */
const STUCK_MS = 2_000;

/** How long a transaction's function may go on after its connection broke. */
const ABANDONED_MS = 1_000;

const MAX_ATTEMPTS = 3;

/**
 * Opens the database, and tells `watch` of what happens. Three things that postgres.js 3.4.9 leaves to its caller
 * happen here and nowhere else:
 *
 * - No more operations than connections: `Admission` says why.
 * - A transaction's handle is dead once the transaction is over. When a backend
 *   dies, the handle of postgres.js would go on to write on a connection that
 *   belongs to another request by then (porsager/postgres#1155).
 * - Deadlines. A query on a connection that went silent never settles, so the
 *   pool of a stuck operation is replaced.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  watch?: Watch,
): Promise<Database> {
  const embedded = settings.url
    ? undefined
    : await openEmbedded(settings.dataDir);
  const size = embedded ? 1 : settings.poolSize;
  const admission = new Admission(size);
  let pool = connect();

  function visible<S extends Sql>(sql: S): S {
    return watch ? watched(sql, watch) : sql;
  }

  function connect(): Pool {
    const options: Options = {
      max: size,
      prepare: settings.prepare,
      // The catalogue query it stands for can end the process when it is cancelled (porsager/postgres#1192).
      fetch_types: false,
      connect_timeout: 5,
      idle_timeout: embedded ? 0 : 60,
      // A database that is away is asked again soon, and not ever more rarely.
      backoff: () => 0.25,
      onnotice: () => {},
      types: { date: TEXT_DATES },
      transform: { undefined: null },
    };
    if (embedded) {
      return postgres({
        ...options,
        max_lifetime: null,
        host: "embedded",
        user: "postgres",
        database: "postgres",
        password: "",
        socket: embedded.socket,
      } as Options);
    }
    return postgres(settings.url!, {
      ...options,
      // PgBouncer in transaction mode refuses them: there they belong to the role.
      ...settings.prepare && {
        connection: {
          application_name: "catalogue",
          statement_timeout: settings.statementTimeoutMs,
          lock_timeout: Math.min(2_000, settings.statementTimeoutMs),
          idle_in_transaction_session_timeout: 10_000,
        },
      },
    });
  }

  async function operate<T>(
    deadline: number,
    work: (pool: Pool) => Promise<T>,
  ): Promise<T> {
    const asked = performance.now();
    await admission.enter(deadline)
      .finally(() => watch?.waited(performance.now() - asked));
    const mine = pool;
    let settled = false;
    const running = work(mine).finally(() => {
      settled = true;
      admission.leave();
    });
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(unavailable("The database did not answer in time"));
      setTimeout(() => {
        if (settled || pool !== mine) return;
        pool = connect();
        mine.end({ timeout: 1 }).catch(() => {});
      }, STUCK_MS);
    }, Math.max(0, deadline - performance.now()));
    return await Promise.race([running, late])
      .finally(() => clearTimeout(timer));
  }

  return {
    until: (deadline) => ({
      read: (work) =>
        retrying(
          isConnectionLoss,
          2,
          () =>
            operate(deadline, (pool) => work(visible(pool as unknown as Sql))),
        ),
      transaction: (work) =>
        retrying(
          isConflict,
          MAX_ATTEMPTS,
          () =>
            operate(
              deadline,
              (pool) => begin(pool, (sql) => work(visible(sql))),
            ),
        ),
    }),
    get load() {
      return admission.load;
    },
    async close(seconds = 3) {
      await pool.end({ timeout: seconds });
      await embedded?.close();
    },
  };
}

async function begin<T>(
  pool: Pool,
  work: (sql: Tx) => Promise<T>,
): Promise<T> {
  let over = false;
  let working: Promise<unknown> = Promise.resolve();
  try {
    return await pool.begin((sql) => {
      const handle = (...call: Parameters<typeof sql>) => {
        if (over) throw new Error("The transaction is over");
        return sql(...call);
      };
      const result = work(
        Object.assign(handle, {
          json: sql.json,
          unsafe: sql.unsafe,
        }) as unknown as Tx,
      );
      working = result;
      return result;
    }) as T;
  } finally {
    over = true;
    await settledWithin(working, ABANDONED_MS);
  }
}

async function settledWithin(
  promise: Promise<unknown>,
  ms: number,
): Promise<void> {
  let timer;
  const late = new Promise((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([promise.catch(() => {}), late]);
  clearTimeout(timer);
}

async function retrying<T>(
  worthwhile: (error: unknown) => boolean,
  attempts: number,
  operation: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (attempt === attempts || !worthwhile(error)) throw error;
      // So that two that were in each other's way do not meet again.
      const pause = Math.random() * 20 * attempt;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** A statement that is not sent yet. */
export type Statement<T extends object = postgres.Row> = postgres.PendingQuery<
  T[]
>;

/** A statement that must find exactly so many rows. */
export interface Exact {
  statement: Statement;
  rows: number;
}

/**
 * Sends the statements in one go, and gives the last one's rows. They run in
 * their order, and the first that fails is what it throws: `RowsMissing` where
 * one found fewer rows than it must.
 */
export async function pipelined<T extends object>(
  statements: readonly [...(Statement | Exact)[], Statement<T>],
): Promise<T[]> {
  const results = await Promise.all(
    statements.map((statement) =>
      "rows" in statement ? exactly(statement) : statement.execute()
    ),
  );
  return results.at(-1) as unknown as T[];
}

async function exactly({ statement, rows }: Exact) {
  const result = await statement.execute();
  if (result.count !== rows) throw new RowsMissing();
  return result;
}

/**
 * Has the statement planned for its own values each time, and keeps others from
 * queueing behind it on its connection. The tag has no option for it.
 */
export function unprepared<S extends object>(statement: S): S {
  const { options } = statement as unknown as { options: object };
  Object.assign(options, { prepare: false });
  return statement;
}

/** Dates and times stay the text that PostgreSQL takes and gives. */
const TEXT_DATES = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: string) => value,
  parse: (value: string) => value,
};
