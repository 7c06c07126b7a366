import type { Buffer } from "node:buffer";
import { connect, isIP } from "node:net";
import type { Duplex } from "node:stream";
import postgres from "postgres";
import { Json, parametersOf, type Result, sql, type Statement, unprepared } from "./sql.ts";

/*
 * One connection to PostgreSQL, through postgres.js. It runs one operation at a time, sends the
 * statements of an operation together, and is never reused after a loss.
 */

/** The result of a statement, and its command tag. */
export type Reply<S extends Statement = Statement> = Result<S> & {
  readonly command: string;
};

export interface ConnectionSettings {
  /** The URL of a PostgreSQL 15 or later. */
  url?: string | undefined;
  statementTimeoutMs: number;
  /** Whether statements are prepared. False behind PgBouncer in transaction mode. */
  prepare: boolean;
}

/**
 * A statement after a lock must see what the lock's last holder has committed. The service
 * maintains counts and stored JSON itself, in place of triggers.
 */
const BEGIN = unprepared(sql`
  begin read write, isolation level read committed;
  set local catalogue.writer = 'service'
`);
const COMMIT = unprepared(sql`commit`);
const ROLLBACK = unprepared(sql`rollback`);
const DISCARD_PLANS = unprepared(sql`discard plans`);

/** A connection to the database, for one operation at a time. */
export interface Connection {
  /** Whether the connection is of no more use. */
  readonly isLost: boolean;
  /**
   * Whether the server announced the end of the session. Statements without a
   * reply then had no effect. Always false with TLS, which hides the announcement.
   */
  readonly isEnded: boolean;
  /** Whether BEGIN and the statements after it may be sent together. */
  readonly canPipeline: boolean;
  send<S extends Statement>(
    statement: S,
    organizationId?: string,
  ): Promise<Reply<S>>;
  begin(): Promise<Reply>;
  commit(): Promise<Reply>;
  /** Ends the transaction, if there is one. Breaks the connection if that fails. */
  rollback(): Promise<void>;
  /** Has the session plan its prepared statements, and its checks of foreign keys, again. */
  discardPlans(): void;
  /** Closes the socket at once. Running statements fail. */
  break(): void;
  /** Closes the session, and waits for at most `seconds`. */
  close(seconds: number): Promise<void>;
}

/**
 * A connection to the server, or to the embedded database. Its first statement
 * opens it.
 *
 * A lost connection stays lost. postgres.js 3.4.9 would reconnect with the state of
 * the old socket: a statement without a reply, so that replies reach the wrong
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

  const driver = openDriver(settings, {
    isEmbedded: embedded !== undefined,
    onclose: () => connection.break(),
    socket(address) {
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
  });

  const execute = executor(driver);

  const connection: Connection = {
    get isLost() {
      return isLost;
    },
    get isEnded() {
      return lastBytes !== undefined && announcesEnd(lastBytes);
    },
    get canPipeline() {
      return canPipeline;
    },
    async send<S extends Statement>(statement: S, organizationId?: string) {
      const { text, parameters } = parametersOf(statement, organizationId);
      const texts = parameters.map(parameterText);
      return replyOf<S>(await execute(text, texts, statement.prepare));
    },
    async begin() {
      const begun = await connection.send(BEGIN);
      // postgres.js may reorder statements while it connects, and PgBouncer refuses
      // READ_ONLY: in both cases BEGIN is awaited.
      canPipeline = settings.prepare;
      return begun;
    },
    commit: () => connection.send(COMMIT),
    async rollback() {
      // The first statement opens the socket.
      if (!socket) return;
      await connection.send(ROLLBACK).catch(() => connection.break());
    },
    discardPlans() {
      // If the connection is lost, the next statement says so.
      if (settings.prepare) connection.send(DISCARD_PLANS).catch(() => {});
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

/** The reply to a raw query, whose values are bytes. */
type RawReply = postgres.RowList<(Buffer | null)[][]>;

/**
 * A query as postgres.js 3.4.9 sends it, with every field that it reads or sets: V8 then
 * specializes the driver for one shape. The driver's own class would keep memory. V8 allocates
 * the functions that its constructor assigns in the old generation, so that they keep the
 * query, its parameters and its reply until a full garbage collection. And it keeps the text
 * of each failed query.
 */
class RawQuery {
  readonly strings: readonly [string];
  readonly args = [];
  readonly options: { prepare: boolean; simple: boolean };
  readonly resolve: (reply: RawReply) => void;
  readonly reject: (error: unknown) => void;
  readonly tagged = false;
  readonly isRaw = true;
  readonly origin = "";
  readonly onlyDescribe = false;
  readonly forEachFn = undefined;
  readonly cursorFn = undefined;
  readonly cursorName = undefined;
  readonly cursorRows = undefined;
  active = false;
  cancelled = null;
  state = null;
  statement = null;
  string = "";
  signature: string | false = "";
  /** The driver would ask the server for the types of `args` first, in a round trip of its own. */
  parameters: (string | null)[];
  prepare = false;
  prepared = false;
  describeFirst: boolean | number = false;
  retried = undefined;

  constructor(
    text: string,
    parameters: (string | null)[],
    prepare: boolean,
    resolve: (reply: RawReply) => void,
    reject: (error: unknown) => void,
  ) {
    this.strings = [text];
    this.parameters = parameters;
    // Only a simple query may have several commands.
    this.options = { prepare, simple: parameters.length === 0 };
    this.resolve = resolve;
    this.reject = reject;
  }
}

/** Returns the function that sends queries through a driver. */
function executor(driver: postgres.Sql) {
  const { handler } = driver.unsafe("") as unknown as {
    handler(query: RawQuery): void;
  };
  return (text: string, parameters: (string | null)[], prepare: boolean) =>
    new Promise<RawReply>((resolve, reject) =>
      handler(new RawQuery(text, parameters, prepare, resolve, reject))
    );
}

/** A parameter in PostgreSQL's text format. */
function parameterText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Json ? JSON.stringify(value.value) : String(value);
}

const UTF_8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The rows of a raw reply as objects with parsed values. For long texts, `TextDecoder`
 * takes a tenth of the time of Deno's `Buffer.toString`, which the driver calls.
 *
 * Empties the raw reply, which stays in memory until a full garbage collection: V8
 * allocates the functions of the driver's query, which refer to it, in the old generation.
 */
function replyOf<S extends Statement>(raw: unknown): Reply<S> {
  const reply = raw as RawReply;
  const { columns, count, command } = reply;
  const rows: object[] & { count?: number; command?: string } = [];
  for (const values of reply) {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < values.length; at++) {
      const { name, parser } = columns[at]!;
      const bytes = values[at];
      const text = bytes ? UTF_8.decode(bytes) : null;
      row[name] = text !== null && parser ? parser(text) : text;
    }
    rows.push(row);
  }
  reply.length = 0;
  rows.count = count;
  rows.command = command;
  return rows as unknown as Reply<S>;
}

const CONNECT_SECONDS = 5;

/**
 * Sessions are read-only by default. If BEGIN READ WRITE fails, the statements sent
 * with it cannot write (25006).
 */
const READ_ONLY_SESSION = { default_transaction_read_only: true };

/** Settings of the planner. `sql/citus.sql` gives them to the nodes. */
export const PLANNER = {
  /** For SSDs. With the default of 4, searches read the table instead of a smaller index. */
  random_page_cost: 1.1,
  /** A page looks up each of its products once, so a cache would only cost time. */
  enable_memoize: "off",
  /** Compiling the expressions of a large list takes longer than evaluating them. */
  jit: "off",
};

/** The lock timeout is shorter, so that waiting for a lock fails with 55P03. */
function limitsOf({ statementTimeoutMs }: ConnectionSettings) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.min(2_000, statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
  };
}

const unchanged = (text: string) => text;

/** The types whose parameters the driver would format once more. Dates and times stay texts. */
const PARAMETER_TYPES = {
  boolean: {
    to: 16,
    from: [16],
    serialize: unchanged,
    parse: (text: string) => text === "t",
  },
  json: { to: 114, from: [114, 3802], serialize: unchanged, parse: JSON.parse },
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: unchanged,
    parse: unchanged,
  },
};

/** The driver with one connection, through the sockets of `socket`. */
function openDriver(
  settings: ConnectionSettings,
  { isEmbedded, ...hooks }: {
    isEmbedded: boolean;
    socket(address: Address): Duplex;
    onclose(): void;
  },
): postgres.Sql {
  const options = {
    ...hooks,
    max: 1,
    prepare: settings.prepare,
    // Cancelling its catalogue query can end the process (porsager/postgres#1192).
    fetch_types: false,
    connect_timeout: CONNECT_SECONDS,
    // The pool closes idle connections: the driver would set a timer per statement.
    idle_timeout: 0,
    // A maximum lifetime would end connections within transactions.
    max_lifetime: null,
    onnotice: () => {},
    types: PARAMETER_TYPES,
  } as postgres.Options<Record<string, postgres.PostgresType>>;

  return isEmbedded
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
        ...settings.prepare &&
          { ...READ_ONLY_SESSION, ...limitsOf(settings), ...PLANNER },
      },
    });
}

/** The address as the driver passes it. */
interface Address {
  host: string[];
  port: number[];
}

/**
 * Opens a socket to the server. The statements of a round trip are several small writes,
 * which must not wait for each other (RFC 9293, 3.7.4).
 */
function openSocket({ host: [host], port: [port] }: Address): Duplex {
  // The driver verifies the certificate against `host`.
  return Object.assign(connect(port!, host!).setNoDelay(), { host });
}

/** TLS modes that do not verify the certificate. */
const UNVERIFIED = ["disable", "allow", "prefer", "require"];

/**
 * The TLS options for a URL with an IP address and a verified certificate. The
 * driver omits the host then, and Deno would verify `localhost`.
 */
function tlsOf(url: string) {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get("sslmode") ?? searchParams.get("ssl");
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!mode || UNVERIFIED.includes(mode) || !isIP(host)) return {};
  return { ssl: { host } };
}

const ERROR_RESPONSE = "E".charCodeAt(0);

/** Terminated by an administrator, or by a session or transaction time-out. */
const SESSION_END = /\0C(?:57P01|57P05|25P03|25P04)\0/;

/**
 * Whether the bytes end with an ErrorResponse that ends the session: no
 * ReadyForQuery follows it. The codes exclude those of a pooler that lost its
 * server, which may have committed the transaction.
 */
function announcesEnd(bytes: Buffer): boolean {
  const code = SESSION_END.exec(bytes.toString("latin1"))?.index ?? 0;
  for (let at = 0; at < code; at++) {
    const isError = bytes[at] === ERROR_RESPONSE;
    if (isError && at + 1 + bytes.readInt32BE(at + 1) === bytes.length) {
      return true;
    }
  }
  return false;
}
