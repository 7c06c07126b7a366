import { unavailable } from "../../schema/errors.ts";
import type { Connection, Reply, Writer } from "./connection.ts";
import type { Lease } from "./pool.ts";
import type { Results, Statement } from "./sql.ts";
import { isConflict, isConnectionLoss } from "./sqlstate.ts";

/** A transaction, which goes to the server in flights: several statements at a time. */
export interface Transaction {
  /** Sends the statements together, and gives the rows of each. Throws the first failure. */
  send<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>>;
  /**
   * The same for the last statements, with COMMIT behind them. Throws
   * `SERVICE_UNAVAILABLE` where the outcome is not known.
   */
  commit<const S extends readonly Statement[]>(
    ...statements: S
  ): Promise<Results<S>>;
}

/**
 * Runs `work` in a transaction, which is rolled back unless `work` commits it.
 * BEGIN travels with the first flight and COMMIT with the last one, so that a
 * transaction of one flight takes one round trip.
 */
export async function inTransaction<T>(
  { connection, check }: Lease,
  { writer, organizationId }: {
    writer: Writer;
    organizationId?: string | undefined;
  },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let hasBegun = false;
  let hasEnded = false;
  let isCommitted = false;

  async function fly<const S extends readonly Statement[]>(
    statements: S,
    isLast: boolean,
  ): Promise<Results<S>> {
    check();
    // It would be a transaction of its own.
    if (hasEnded) throw new Error("The transaction has ended");
    hasEnded = isLast;
    const begin = hasBegun ? [] : [connection.begin(writer)];
    hasBegun = true;
    if (!connection.isWarm) await begin[0];
    const outcomes = await Promise.allSettled([
      ...begin,
      ...statements.map((statement) =>
        connection.send(statement, organizationId)
      ),
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
    return results.slice(begin.length, begin.length + statements.length) as
      & Reply[]
      & Results<S>;
  }

  try {
    const result = await work({
      send: (...statements) => fly(statements, false),
      commit: (...statements) => fly(statements, true),
    });
    if (!isCommitted) throw new Error("The transaction was not committed");
    return result;
  } catch (error) {
    // A COMMIT that was cancelled leaves the session in its transaction.
    if (hasBegun) await connection.rollback();
    throw error;
  }
}

/**
 * Whether the transaction may have been committed although it failed: COMMIT got
 * no answer that says otherwise, or the connection was lost with COMMIT on its
 * way. A session that the server has ended before COMMIT has not committed.
 */
function isInDoubt(
  error: unknown,
  isCommit: boolean,
  { isEnded }: Connection,
): boolean {
  return isCommit ? !isConflict(error) : isConnectionLoss(error) && !isEnded;
}
