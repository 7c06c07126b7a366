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
import {
  type Ask,
  errorsOf,
  explain,
  foundInPrograms,
  inProgram,
  isRefusal,
} from "./violations.ts";

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
 * are looked for: by their errors first, then by halves.
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
    const refusals = await refusalsOf(ask, tasks);
    const innocent = tasks.filter(({ index, id }) => {
      const refusal = refusals.get(id);
      if (refusal) run.settle(index, refusal);
      return !refusal;
    });
    const isFound = innocent.length < tasks.length;
    const half = isFound ? innocent.length : Math.ceil(innocent.length / 2);
    await writeTasks(run, innocent.slice(0, half));
    await writeTasks(run, innocent.slice(half));
  }
}

/** What can be seen to be wrong, by the ids of the products. */
async function refusalsOf(
  ask: Ask,
  tasks: readonly Task[],
): Promise<Map<string, ApiError>> {
  const { kept, gone } = parted(tasks);
  const errors = await errorsOf(ask, kept);
  const [used] = await ask([foundInPrograms(gone.map(({ id }) => id))]);
  return new Map([
    ...kept.flatMap(({ id }, i): [string, ApiError][] =>
      errors[i]?.length ? [[id, invalid("The body", errors[i])]] : []
    ),
    ...used!.map(({ product_id }): [string, ApiError] => [
      product_id,
      inProgram(),
    ]),
  ]);
}

function parted(tasks: readonly Task[]) {
  return {
    kept: tasks.filter(({ deletedAs }) => deletedAs === undefined),
    gone: tasks.filter(({ deletedAs }) => deletedAs !== undefined),
  };
}

async function writeTogether(
  { tx, isMinimal, settle }: Run,
  tasks: readonly Task[],
): Promise<void> {
  const { kept, gone } = parted(tasks);
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
    isMinimal ? minimalAnswer : fullAnswer,
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
