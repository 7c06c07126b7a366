import type { Statement } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";

const DRY_RUN = new Error("A dry run is rolled back");

/**
 * Runs `work` in a transaction, and commits it. For a dry run it is rolled back instead, so that
 * its result is that of a real run.
 */
export async function transactionOrDryRun<T>(
  database: Queries,
  isDryRun: boolean,
  work: (tx: Transaction) => Promise<T>,
  ...opening: Statement[]
): Promise<T> {
  let result: T;
  await database.transaction(async (tx) => {
    result = await work(tx);
    if (isDryRun) throw DRY_RUN;
    await tx.commit();
  }, ...opening).catch((error) => {
    if (error !== DRY_RUN) throw error;
  });
  return result!;
}
