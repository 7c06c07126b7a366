import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import postgres from "postgres";
import { type Address, endsSession, openSocket, tlsOf } from "./socket.ts";
import { Json, parametersOf, type Result, type Statement } from "./sql.ts";

export interface ConnectionSettings {
  /** A PostgreSQL 15 or later. */
  url?: string | undefined;
  statementTimeoutMs: number;
  /** `false` behind PgBouncer in transaction mode. */
  prepare: boolean;
}

/** The result of a statement, and the tag that the server closed it with. */
export type Reply<S extends Statement = Statement> = Result<S> & {
  readonly command: string;
};

/**
 * Who writes in a transaction: the service keeps counts and stored answers itself;
 * for a script of SQL, triggers do.
 */
export type Writer = "service" | "script";

/** One connection to the database, for one operation at a time. */
export interface Connection {
  /** Whether nothing sent on it is answered any more. */
  readonly isLost: boolean;
  /**
   * Whether the server has said that it ends the session: then nothing has come of
   * a statement without an answer. Not known through TLS.
   */
  readonly isEnded: boolean;
  /** Whether BEGIN and the statements after it may be sent together. */
  readonly isWarm: boolean;
  /** Sends a statement, whose `organization` is this one. */
  send<S extends Statement>(
    statement: S,
    organizationId?: string,
  ): Promise<Reply<S>>;
  begin(writer: Writer): Promise<Reply>;
  commit(): Promise<Reply>;
  /** Ends the transaction, if there is one; a connection that cannot is broken off. */
  rollback(): Promise<void>;
  /** Breaks it off. Every statement that runs on it fails now. */
  break(): void;
  /** Says goodbye, and waits at most so many seconds for the server to hang up. */
  close(seconds: number): Promise<void>;
}

/**
 * Sessions only read unless a transaction says otherwise. So where BEGIN fails
 * alone, what was sent with it writes nothing (25006).
 */
const READ_ONLY = { default_transaction_read_only: true };

/**
 * A connection that is opened by its first statement: to the server, or to what
 * is behind `embedded`.
 *
 * It is opened once. postgres.js 3.4.9 would open a new socket where the old one
 * broke, but goes on there with what it knew of the old one: a statement that
 * nobody will answer, so that answers may reach the wrong statement; an error
 * that the next statement gets; bytes that keep the new start-up message from
 * being sent; a transaction's handle that writes in the next one's
 * (porsager/postgres#1133, #1155). And where a server hangs up at start-up, it
 * connects again at once, for ever (#1193). Here a lost connection stays lost.
 */
export function openConnection(
  settings: ConnectionSettings,
  embedded?: () => Duplex,
): Connection {
  let socket: Duplex | undefined;
  let lastBytes: Buffer | undefined;
  let isLost = false;
  let isWarm = false;

  const options = {
    max: 1,
    prepare: settings.prepare,
    // The catalogue query it stands for can end the process when it is cancelled (porsager/postgres#1192).
    fetch_types: false,
    connect_timeout: CONNECT_SECONDS,
    // The driver would set and clear its timer for every statement; `database.ts` closes what is idle.
    idle_timeout: 0,
    // It would end transactions in their midst.
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
      // postgres.js 3.4.9 keeps no error that is not followed by ReadyForQuery.
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
        // PgBouncer in transaction mode refuses them: there they belong to the role.
        ...settings.prepare && { ...READ_ONLY, ...limitsOf(settings) },
      },
    });

  const run = (text: string) => driver.unsafe(text).execute() as Promise<Reply>;

  const connection: Connection = {
    get isLost() {
      return isLost;
    },
    get isEnded() {
      return lastBytes !== undefined && endsSession(lastBytes);
    },
    get isWarm() {
      return isWarm;
    },
    send<S extends Statement>(statement: S, organizationId?: string) {
      const { text, parameters } = parametersOf(statement, organizationId);
      const values = parameters.map((value) =>
        value instanceof Json
          ? driver.json(value.value as postgres.JSONValue)
          : value as postgres.ParameterOrJSON<never>
      );
      const { prepare } = statement;
      return driver.unsafe(text, values, { prepare, simple: false } as object)
        .execute() as unknown as Promise<Reply<S>>;
    },
    async begin(writer) {
      const begun = await run(
        `begin read write; set local catalogue.writer = '${writer}'`,
      );
      // postgres.js may change the order of statements while it connects, and
      // PgBouncer takes no READ_ONLY: there each BEGIN is awaited.
      isWarm = settings.prepare;
      return begun;
    },
    commit: () => run("commit"),
    async rollback() {
      await run("rollback").catch(() => connection.break());
    },
    break() {
      isLost = true;
      // The driver fails what still waits for an answer, which it may have overlooked.
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

const CONNECT_SECONDS = 5;

/** PostgreSQL's own is for discs that turn: with it, a search reads a table rather than an index of a quarter its size. */
export const RANDOM_PAGE_COST = 1.1;

/** Each time-out bounds another way to stand still; a lock is given up before the statement is. */
function limitsOf({ statementTimeoutMs }: ConnectionSettings) {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.min(2_000, statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
    random_page_cost: RANDOM_PAGE_COST,
  };
}

/** Dates and times stay the text that PostgreSQL takes and gives. */
const TEXT_DATES = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: string) => value,
  parse: (value: string) => value,
};
