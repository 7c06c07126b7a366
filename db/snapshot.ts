import { sql, type Statement } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";

/**
 * Runs the work of an export on a snapshot, with these settings. Its transaction gets no id,
 * so readers of changes do not wait for it. A retry would write its output twice: after a
 * connection loss, it throws instead.
 */
export async function inSnapshot<T>(
  database: Queries,
  settings: readonly Statement[],
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let hasStarted = false;
  return await database.transaction(async (tx) => {
    if (hasStarted) {
      throw new Error("The export is incomplete: the connection was lost");
    }
    await tx.send(
      sql`set transaction isolation level repeatable read, read only`,
      ...settings,
    );
    hasStarted = true;
    const result = await work(tx);
    await tx.commit();
    return result;
  });
}
