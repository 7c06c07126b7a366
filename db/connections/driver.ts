import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import postgres from "postgres";
import { type Address, tlsOf } from "./socket.ts";

export type Driver = postgres.Sql;

/** The reply to a raw query, whose values are bytes. */
export type RawReply = postgres.RowList<(Buffer | null)[][]>;

export interface ConnectionSettings {
  /** The URL of a PostgreSQL 15 or later. */
  url?: string | undefined;
  statementTimeoutMs: number;
  /** Whether statements are prepared. False behind PgBouncer in transaction mode. */
  prepare: boolean;
}

/**
 * Sessions are read-only by default. If BEGIN READ WRITE fails, the statements sent
 * with it cannot write (25006).
 */
const READ_ONLY = { default_transaction_read_only: true };

/** The driver with one connection, through the sockets of `socket`. */
export function openDriver(
  settings: ConnectionSettings,
  { isEmbedded, ...hooks }: {
    isEmbedded: boolean;
    socket(address: Address): Duplex;
    onclose(): void;
  },
): Driver {
  const options = {
    ...hooks,
    max: 1,
    prepare: settings.prepare,
    // Cancelling its catalogue query can end the process (porsager/postgres#1192).
    fetch_types: false,
    connect_timeout: CONNECT_SECONDS,
    // `database.ts` closes idle connections: the driver would set a timer per statement.
    idle_timeout: 0,
    // A maximum lifetime would end connections within transactions.
    max_lifetime: null,
    onnotice: () => {},
    types: { date: TEXT_DATES },
    transform: { undefined: null },
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
        ...settings.prepare && { ...READ_ONLY, ...limitsOf(settings) },
      },
    });
}

const CONNECT_SECONDS = 5;

/** Settings of the planner. */
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
    ...PLANNER,
  };
}

/** Dates and times stay in PostgreSQL's text format. */
const TEXT_DATES = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: string) => value,
  parse: (value: string) => value,
};
