import type { Result, Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";

/** A statement that runs before the writes, and the check of its result, if any. */
export interface Check {
  statement: Statement;
  /** Throws the error of a result that forbids the writes. */
  verify?(result: Result<Statement>): void;
}

/** The error of a statement that did not find every row that the entries name. */
export class RowsMissing extends Error {
  override readonly name = "RowsMissing";
}

/** Checks that the statement finds this number of rows. Throws `RowsMissing`. */
export function finds(rows: number, statement: Statement): Check {
  return {
    statement,
    verify({ count }) {
      if (count !== rows) throw new RowsMissing();
    },
  };
}

/** Runs the checks in one round trip. Throws the error of the first that fails. */
export async function runChecks(
  tx: Transaction,
  checks: readonly Check[],
): Promise<void> {
  const results = await tx.send(...checks.map(({ statement }) => statement));
  checks.forEach(({ verify }, i) => verify?.(results[i]!));
}
