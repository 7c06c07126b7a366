import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import postgres from "postgres";
import { type Address, endsSession, openSocket, tlsOf } from "./socket.ts";
import { Json, parametersOf, type Result, type Statement } from "./sql.ts";

export interface ConnectionSettings {
  /** The URL of a PostgreSQL 15 or later. */
  url?: string | undefined;
  statementTimeoutMs: number;
  /** Whether statements are prepared. False behind PgBouncer in transaction mode. */
  prepare: boolean;
}

/** The result of a statement, and its command tag. */
export type Reply<S extends Statement = Statement> = Result<S> & {
  readonly command: string;
};

/**
 * The writer of a transaction. The service maintains counts and stored answers
 * itself; for SQL scripts, triggers maintain them.
 */
export type Writer = "service" | "script";

/** A connection to the database, for one operation at a time. */
export interface Connection {
  /** Whether the connection is of no more use. */
  readonly isLost: boolean;
  /**
   * Whether the server announced the end of the session. Statements without a
   * reply then had no effect. Unknown through TLS.
   */
  readonly isEnded: boolean;
  /** Whether BEGIN and the statements after it may be sent together. */
  readonly canPipeline: boolean;
  /** Sends a statement for this organization. */
  send<S extends Statement>(
    statement: S,
    organizationId?: string,
  ): Promise<Reply<S>>;
  begin(writer: Writer): Promise<Reply>;
  commit(): Promise<Reply>;
  /** Ends the transaction, if there is one. Breaks the connection if that fails. */
  rollback(): Promise<void>;
  /** Closes the socket at once. Running statements fail. */
  break(): void;
  /** Closes the session, and waits for at most `seconds`. */
  close(seconds: number): Promise<void>;
}

/**
 * Sessions are read-only by default. If BEGIN READ WRITE fails, the statements sent
 * with it cannot write (25006).
 */
const READ_ONLY = { default_transaction_read_only: true };

/**
 * A connection to the server, or to the embedded database. Its first statement
 * opens it.
 *
 * A lost connection stays lost. postgres.js 3.4.9 would reconnect with the state of
 * the old socket: an unanswered statement, so that replies reach the wrong
 * statement; an error for the next statement; unsent bytes that block the start-up
 * message; a transaction handle that writes in the next transaction
 * (porsager/postgres#1133, #1155). If the server hangs up at start-up, it
 * reconnects at once and without end (#1193).
 */
export function openConnection(
  settings: ConnectionSettings,
  embedded?: () => Duplex,
): Connection {
  let socket: Duplex | undefined;
  let lastBytes: Buffer | undefined;
  let isLost = false;
  let canPipeline = false;

  const options = {
    max: 1,
    prepare: settings.prepare,
    // The cancellation of its catalogue query can end the process (porsager/postgres#1192).
    fetch_types: false,
    connect_timeout: CONNECT_SECONDS,
    // The driver would set a timer for every statement. `database.ts` closes idle connections instead.
    idle_timeout: 0,
    // A maximum lifetime would end connections within transactions.
    max_lifetime: null,
    onnotice: () => {},
    onclose: () => connection.break(),
    types: { date: TEXT_DATES },
    transform: { undefined: null },
    socket(address: Address): Duplex {
      if (socket) {
        connection.break();
        throw Object.assign(new Error("The connection was lost"), {
          code: "CONNECTION_CLOSED",
        });
      }
      socket = embedded ? embedded() : openSocket(address);
      // postgres.js 3.4.9 drops errors that no ReadyForQuery follows.
      socket.on("data", (bytes) => lastBytes = bytes);
      return socket;
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>;

  const driver = embedded
    ? postgres({
      ...options,
      host: "embedded",
      user: "postgres",
      database: "postgres",
      password: "",
    })
    : postgres(settings.url!, {
      ...options,
      ...tlsOf(settings.url!),
      connection: {
        application_name: "catalogue",
        // PgBouncer in transaction mode refuses them. There, the role has them.
        ...settings.prepare && { ...READ_ONLY, ...limitsOf(settings) },
      },
    });

  const run = (text: string) => execute<Reply>(driver.unsafe(text));

  const connection: Connection = {
    get isLost() {
      return isLost;
    },
    get isEnded() {
      return lastBytes !== undefined && endsSession(lastBytes);
    },
    get canPipeline() {
      return canPipeline;
    },
    send<S extends Statement>(statement: S, organizationId?: string) {
      const { text, parameters } = parametersOf(statement, organizationId);
      const values = parameters.map((value) =>
        value instanceof Json
          ? driver.json(value.value as postgres.JSONValue)
          : value as postgres.ParameterOrJSON<never>
      );
      const { prepare } = statement;
      const options = { prepare, simple: false } as object;
      return execute<Reply<S>>(driver.unsafe(text, values, options));
    },
    async begin(writer) {
      const begun = await run(
        `begin read write; set local catalogue.writer = '${writer}'`,
      );
      // postgres.js may reorder statements while it connects, and PgBouncer refuses
      // READ_ONLY: in both cases BEGIN is awaited.
      canPipeline = settings.prepare;
      return begun;
    },
    commit: () => run("commit"),
    async rollback() {
      await run("rollback").catch(() => connection.break());
    },
    break() {
      isLost = true;
      // The driver fails the waiting statements, which it might otherwise overlook.
      driver.end({ timeout: 0 }).catch(() => {});
      socket?.destroy();
    },
    async close(seconds) {
      isLost = true;
      await driver.end({ timeout: seconds });
      socket?.destroy();
    },
  };
  return connection;
}

/**
 * Sends a query, and returns its result. V8 allocates the two functions that settle
 * the driver's promise in the old generation, where they keep the query until a full
 * garbage collection. So the result passes the query by.
 */
async function execute<Result>(
  query: postgres.PendingQuery<[]>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  Object.assign(query, { resolve, reject }).execute();
  try {
    return await promise;
  } finally {
    Object.assign(query, { resolve() {}, reject() {} });
  }
}

const CONNECT_SECONDS = 5;

/** PostgreSQL's default suits rotating disks: searches would read the table instead of an index of a quarter its size. */
export const RANDOM_PAGE_COST = 1.1;

/** The lock time-out is shorter than the statement's, so that waiting for a lock fails as such (55P03). */
function limitsOf({ statementTimeoutMs }: ConnectionSettings) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.min(2_000, statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
    random_page_cost: RANDOM_PAGE_COST,
  };
}

/** Dates and times stay in PostgreSQL's text format. */
const TEXT_DATES = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: string) => value,
  parse: (value: string) => value,
};
