import type { Result, Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { lockProducts } from "./row.ts";

/** A statement that runs before the writes of a product, and the check of its result. */
export interface Check {
  statement: Statement;
  /** Throws the error of a result that forbids the writes. */
  verify(result: Result<Statement>, tx: Transaction): void | Promise<void>;
}

/**
 * Locks the product and runs the statements of the checks in one round trip. Throws the
 * error of the first check that fails. Without checks, it does nothing.
 */
export async function runChecks(
  tx: Transaction,
  id: string,
  checks: readonly Check[],
): Promise<void> {
  if (checks.length === 0) return;
  const [, ...results] = await tx.send(
    lockProducts([id], "no key update"),
    ...checks.map(({ statement }) => statement),
  );
  for (const [i, check] of checks.entries()) {
    await check.verify(results[i]!, tx);
  }
}
