import { unavailable } from "../../schema/errors.ts";
import type { Connection, Reply } from "./connection.ts";
import type { Lease } from "./pool.ts";
import { isConflict, isConnectionLoss } from "./errors.ts";
import { type Results, sql, type Statement } from "./sql.ts";

/*
 * Runs a transaction in few round trips: BEGIN goes with the first statements, COMMIT with the
 * last.
 */

/** A transaction, which pipelines statements: it sends several in one round trip. */
export interface Transaction {
  /** Whether Citus distributes the database. */
  readonly isDistributed: boolean;
  /** Who makes its changes of products. Absent for the service itself. */
  readonly author: Author | undefined;
  /** Sends the statements together, and returns their results. Throws the first error. */
  send<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>>;
  /**
   * Sends the last statements together with COMMIT, and returns their results.
   * Throws `SERVICE_UNAVAILABLE` if the outcome is unknown.
   */
  commit<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>>;
}

/** Who changes products, for their history. */
export interface Author {
  /** `api_key:` and the public id, or `user:` and the subject of the token. Null for a command. */
  by: string | null;
  /** The `operationId`, or the command. */
  operation: string;
  requestId: string | null;
}

/** A transaction, before it runs. */
export interface TransactionPlan<T> {
  isDistributed: boolean;
  author: Author | undefined;
  /** Statements that are sent with BEGIN. */
  opening: readonly Statement[];
  /** Must commit the transaction. */
  work: (tx: Transaction) => Promise<T>;
}

/**
 * Runs the plan in a transaction. If it throws, the caller must send ROLLBACK: a
 * cancelled COMMIT leaves the transaction open.
 *
 * BEGIN is sent with the first statements and COMMIT with the last ones. What is sent
 * when, one line a round trip:
 *
 *     work                            the connection sends            the server
 *     ------------------------------  ------------------------------  --------------------
 *     tx.commit(a, b)                 BEGIN  opening  a  b  COMMIT    stores all or nothing
 *
 *     const [x] = await tx.send(a)    BEGIN  opening  a               holds a's locks
 *     await tx.send(b, c)             b  c                            skips c if b fails
 *     tx.commit(d)                    d  COMMIT                       stores all or nothing
 *
 *     tx.send(a), then throws         BEGIN  opening  a
 *                                     ROLLBACK                        stores nothing
 *
 * A new connection, or one through PgBouncer, sends BEGIN alone first. After an error, the
 * server skips what was sent with it, and turns COMMIT into ROLLBACK.
 */
export async function inTransaction<T>(
  lease: Lease,
  { isDistributed, author, opening, work }: TransactionPlan<T>,
  organizationId: string | undefined,
): Promise<T> {
  const { connection } = lease;
  let hasBegun = false;
  let hasEnded = false;
  let isCommitted = false;

  async function pipeline<const S extends readonly Statement[]>(
    statements: S,
    isLast: boolean,
  ): Promise<Results<S>> {
    lease.check();
    // The statements would run outside the transaction.
    if (hasEnded) throw new Error("The transaction has ended");
    hasEnded = isLast;
    const begin = hasBegun ? [] : [connection.begin()];
    const all = hasBegun ? statements : [...opening, ...statements];
    hasBegun = true;
    if (!connection.canPipeline) await begin[0];
    const outcomes = await Promise.allSettled([
      ...begin,
      ...all.map((statement) => connection.send(statement, organizationId)),
      ...isLast ? [connection.commit()] : [],
    ]);
    const failed = outcomes.findIndex(({ status }) => status === "rejected");
    if (failed >= 0) {
      const { reason } = outcomes[failed] as PromiseRejectedResult;
      const isCommit = isLast && failed === outcomes.length - 1;
      throw isLast && isInDoubt(reason, isCommit, connection)
        ? unavailable("The database did not confirm the write", {
          cause: reason,
        })
        : reason;
    }
    const results = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<Reply>).value);
    if (isLast) {
      if (results.at(-1)!.command !== "COMMIT") {
        throw new Error("The transaction was rolled back");
      }
      isCommitted = true;
    }
    const end = begin.length + all.length;
    return results.slice(end - statements.length, end) as Reply[] & Results<S>;
  }

  const result = await work({
    isDistributed,
    author,
    send: (...statements) => pipeline(statements, false),
    commit: (...statements) => pipeline(statements, true),
  });
  if (!isCommitted) throw new Error("The transaction was not committed");
  return result;
}

/**
 * Whether a failed transaction may have been committed: COMMIT failed without a
 * conflict, or the connection was lost after COMMIT was sent. A transaction whose
 * session the server ended before COMMIT was not committed.
 */
function isInDoubt(
  error: unknown,
  isCommit: boolean,
  { isEnded }: Connection,
): boolean {
  return isCommit ? !isConflict(error) : isConnectionLoss(error) && !isEnded;
}

/** Opens a transaction of SQL scripts: triggers maintain counts and stored JSON. */
export const asScript = sql`set local catalogue.writer = 'script'`;

/** Removes the time limits of a transaction. `transaction_timeout` is new in PostgreSQL 17. */
export const noTimeLimits: readonly Statement[] = [
  sql`set local statement_timeout = 0`,
  sql`set local lock_timeout = 0`,
  sql`
    select set_config(s.name, '0', true)
    from pg_settings s
    where s.name = 'transaction_timeout'
  `,
];

/** The settings of a long export: no time limits, also while the client reads slowly. */
export const readerSettings: readonly Statement[] = [
  ...noTimeLimits,
  sql`set local idle_in_transaction_session_timeout = 0`,
];
