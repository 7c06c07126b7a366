import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import {
  type ConnectionSettings,
  openDriver,
  type RawReply,
} from "./driver.ts";
import { executor } from "./executor.ts";
import { parsed } from "./rows.ts";
import { announcesEnd, openSocket } from "./socket.ts";
import { parametersOf, type Result, type Statement } from "./sql.ts";

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
  /** Sends a statement outside a transaction. */
  read<S extends Statement>(
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
  const run = (text: string) => execute<Reply>(text);

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
      return parsed<S>(
        await execute<RawReply>(text, parameters, statement.prepare),
      );
    },
    async read(statement, organizationId) {
      try {
        return await connection.send(statement, organizationId);
      } catch (error) {
        // postgres.js 3.4.9 would append the next statement's rows to the rows that it
        // received before the error.
        await connection.rollback();
        throw error;
      }
    },
    async begin(writer) {
      // A statement after a lock must see what the lock's last holder has committed.
      const begun = await run(
        `begin read write, isolation level read committed; set local catalogue.writer = '${writer}'`,
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
