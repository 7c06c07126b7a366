import { type Result, sql, type Statement } from "../connections/sql.ts";
import { brokenConstraint } from "../connections/sqlstate.ts";
import type { Transaction } from "../connections/transaction.ts";

/** A statement that runs before the writes, and the check of its result, if any. */
export interface Check {
  statement: Statement;
  /** Throws the error of a result that forbids the writes. */
  verify?(result: Result<Statement>, tx: Transaction): void | Promise<void>;
}

/** Runs the statements of the checks in one round trip. Throws the error of the first that fails. */
export async function runChecks(
  tx: Transaction,
  checks: readonly Check[],
): Promise<void> {
  const results = await tx.send(...checks.map(({ statement }) => statement));
  for (const [i, check] of checks.entries()) {
    await check.verify?.(results[i]!, tx);
  }
}

/** The constraint that a write violates if it does not find every row that it names. */
export const ROWS_FOUND = "rows_found";

/** Whether a write did not find every row that it names. */
export function missesRows(error: unknown): boolean {
  return brokenConstraint(error) === ROWS_FOUND;
}

/** The condition that the rows of `from` are this many. Otherwise, the statement fails. */
export function finds(rows: number, from: Statement): Statement {
  return sql`((select count(*) ${from}) = ${rows})::rows_found`;
}
