import { ApiError, invalid } from "../../schema/errors.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import {
  type Answer,
  answerProducts,
  fullAnswer,
  minimalAnswer,
} from "./documents.ts";
import { checkFound } from "./nested_rows.ts";
import { writing } from "./statements.ts";
import { deleted, type Done, type Task } from "./tasks.ts";
import { type Ask, explain, faultsOf, isRefusal } from "./violations.ts";

/** A batch on its way. */
export interface Run {
  tx: Transaction;
  isMinimal: boolean;
  /** Notes the answer to an operation. */
  settle(index: number, answer: Done | ApiError): void;
}

const SAVEPOINT = sql`savepoint tasks`;
const RELEASE = sql`release savepoint tasks`;
const ROLLBACK = sql`rollback to savepoint tasks`;

/**
 * Writes the tasks together, or without those that the database refuses, which
 * are looked for: by their faults first, then by halves.
 */
export async function writeTasks(run: Run, tasks: Task[]): Promise<void> {
  if (tasks.length === 0) return;
  try {
    await writeTogether(run, tasks);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await run.tx.send(ROLLBACK, RELEASE);
    const ask: Ask = (statements) => run.tx.send(...statements);
    if (tasks.length === 1) {
      const [task] = tasks as [Task];
      const reason = await explain(ask, error, task);
      if (!(reason instanceof ApiError)) throw reason;
      return run.settle(task.index, reason);
    }
    const faults = await faultsOf(ask, tasks);
    const innocent = tasks.filter(({ index }, i) => {
      if (!faults[i]?.length) return true;
      run.settle(index, invalid("The body", faults[i]));
      return false;
    });
    const isFound = innocent.length < tasks.length;
    const half = isFound ? innocent.length : Math.ceil(innocent.length / 2);
    await writeTasks(run, innocent.slice(0, half));
    await writeTasks(run, innocent.slice(half));
  }
}

async function writeTogether(
  { tx, isMinimal, settle }: Run,
  tasks: readonly Task[],
): Promise<void> {
  const kept = tasks.filter(({ deletedAs }) => deletedAs === undefined);
  const gone = tasks.filter(({ deletedAs }) => deletedAs !== undefined);
  const { expected, writes } = writing({
    changes: kept,
    deleted: gone.map(({ id }) => id),
  });
  const [, ...results] = await tx.send(
    SAVEPOINT,
    ...expected.map(({ statement }) => statement),
  );
  checkFound(expected, results);
  const answers = answerProducts(
    kept.map(({ id }) => id),
    { shown: isMinimal ? minimalAnswer : fullAnswer },
  );
  const [rows] = (await tx.send(...writes, answers, RELEASE)).slice(-2);
  const products = new Map(
    (rows as Answer[])
      .map(({ id, product }) => [id, product]),
  );
  for (const { index, id, isNew } of kept) {
    settle(index, { status: isNew ? 201 : 200, data: products.get(id)! });
  }
  for (const { index, deletedAs } of gone) {
    settle(index, deleted(deletedAs!, true));
  }
}
