import { unavailable } from "./queue.ts";
import type { Connection } from "./connection.ts";
import { isConflict } from "./sqlstate.ts";
import type { Sql, Tx } from "./sql.ts";

/**
 * What an operation is lent of a connection: the same statements, until `isOver`
 * says so. A statement made later would run in the midst of another operation,
 * and may be another organization's.
 */
export function lend({ sql }: Connection, isOver: () => boolean): Tx {
  function guarded<A extends unknown[], R>(make: (...given: A) => R) {
    return (...given: A): R => {
      if (isOver()) throw unavailable("The operation is over");
      return make(...given);
    };
  }
  return Object.assign(guarded(sql), {
    json: sql.json,
    unsafe: guarded(sql.unsafe),
  }) as unknown as Tx;
}

/** Runs `work` with what it is lent of a connection. */
export type Perform<S extends Sql> = <T>(
  connection: Connection,
  lent: Tx,
  work: (sql: S) => Promise<T>,
) => Promise<T>;

/**
 * Runs `work` in a transaction, committed when it returns and rolled back when
 * it throws, or when the connection's loan is over by then. Throws
 * `SERVICE_UNAVAILABLE` where nobody knows whether it was committed.
 *
 * Not with `begin` of postgres.js: when a connection breaks, that one writes
 * `rollback` where nothing is any more, an error that nobody can catch.
 */
export async function inTransaction<T>(
  connection: Connection,
  lent: Tx,
  work: (sql: Tx) => Promise<T>,
): Promise<T> {
  const rollback = () =>
    connection.sql.unsafe("rollback").catch(() => connection.break());
  let result: T;
  let commit;
  try {
    // Awaited: postgres.js may change the order of what is sent while it connects.
    await connection.sql.unsafe("begin");
    result = await work(lent);
    commit = lent.unsafe("commit");
  } catch (error) {
    await rollback();
    throw error;
  }
  const { command } = await commit.catch(async (error) => {
    // A commit that was cancelled leaves the session in its transaction.
    await rollback();
    if (isConflict(error)) throw error;
    throw unavailable("The database did not confirm the write", error);
  });
  // PostgreSQL answers so where a statement had failed, and `work` did not say it.
  if (command !== "COMMIT") throw new Error("The transaction was rolled back");
  return result;
}

/**
 * Runs `work` outside a transaction. After a failure it has a statement succeed:
 * postgres.js 3.4.9 has the rows of the next one begin behind those that came
 * before the failure, so that the first were not there.
 */
export async function outsideTransaction<T>(
  connection: Connection,
  lent: Tx,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  try {
    return await work(lent);
  } catch (error) {
    await connection.sql.unsafe("select").catch(() => connection.break());
    throw error;
  }
}
