import { unavailable } from "../../schema/errors.ts";
import type { Connection, Reply, Writer } from "./connection.ts";
import type { Lease } from "./slot.ts";
import { type Results, sql, type Statement } from "./sql.ts";
import { isConflict, isConnectionLoss } from "./errors.ts";

/** A transaction, which pipelines statements: it sends several in one round trip. */
export interface Transaction {
  /** Whether Citus distributes the database. */
  readonly isDistributed: boolean;
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

/**
 * Runs `work` in a transaction, which is rolled back unless `work` commits it.
 * BEGIN is sent with the first statements and COMMIT with the last ones, so a
 * transaction can take a single round trip.
 */
export async function inTransaction<T>(
  { connection, check }: Lease,
  { writer, opening, isDistributed, organizationId }: {
    writer: Writer;
    /** Statements that are sent with BEGIN. */
    opening: readonly Statement[];
    isDistributed: boolean;
    organizationId?: string | undefined;
  },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let hasBegun = false;
  let hasEnded = false;
  let isCommitted = false;

  async function pipeline<const S extends readonly Statement[]>(
    statements: S,
    isLast: boolean,
  ): Promise<Results<S>> {
    check();
    // The statements would run outside the transaction.
    if (hasEnded) throw new Error("The transaction has ended");
    hasEnded = isLast;
    const begin = hasBegun ? [] : [connection.begin(writer)];
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
        ? unavailable("The database did not confirm the write", reason)
        : reason;
    }
    const results = outcomes.map((outcome) =>
      (outcome as PromiseFulfilledResult<Reply>).value
    );
    if (isLast) {
      if (results.at(-1)!.command !== "COMMIT") {
        throw new Error("The transaction was rolled back");
      }
      isCommitted = true;
    }
    const end = begin.length + all.length;
    return results.slice(end - statements.length, end) as Reply[] & Results<S>;
  }

  try {
    const result = await work({
      isDistributed,
      send: (...statements) => pipeline(statements, false),
      commit: (...statements) => pipeline(statements, true),
    });
    if (!isCommitted) throw new Error("The transaction was not committed");
    return result;
  } catch (error) {
    // A cancelled COMMIT leaves the transaction open.
    if (hasBegun) await connection.rollback();
    throw error;
  }
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
