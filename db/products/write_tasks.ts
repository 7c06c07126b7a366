import { type ApiError, invalid } from "../../schema/errors.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { answerProducts, minimalAnswer } from "./answers.ts";
import { type Answer, fullAnswer } from "./documents.ts";
import { writing } from "./write.ts";
import { deletionAnswer, type Success, type Task } from "./tasks.ts";
import {
  explain,
  findErrors,
  idsInPrograms,
  inProgram,
  isViolation,
  type RunQueries,
} from "./violations.ts";

/** A batch in progress. */
export interface Run {
  tx: Transaction;
  isMinimal: boolean;
  /** Records the answer to the operation at this index. */
  settle(index: number, answer: Success | ApiError): void;
}

const SAVEPOINT = sql`savepoint tasks`;
const RELEASE = sql`release savepoint tasks`;
const ROLLBACK = sql`rollback to savepoint tasks`;

/**
 * Writes the tasks together. If one violates a rule, writes again without the tasks
 * whose bodies have errors. If none has, bisects the tasks.
 */
export async function writeTasks(run: Run, tasks: Task[]): Promise<void> {
  if (tasks.length === 0) return;
  try {
    await writeTogether(run, tasks);
  } catch (error) {
    if (!isViolation(error)) throw error;
    await run.tx.send(ROLLBACK, RELEASE);
    const runQueries: RunQueries = (statements) => run.tx.send(...statements);
    if (tasks.length === 1) {
      const [task] = tasks as [Task];
      return run.settle(task.index, await explain(runQueries, error, task));
    }
    const errors = await findTaskErrors(runQueries, tasks);
    const rest = tasks.filter(({ index, id }) => {
      const error = errors.get(id);
      if (error) run.settle(index, error);
      return !error;
    });
    if (rest.length < tasks.length) return await writeTasks(run, rest);
    const half = Math.ceil(rest.length / 2);
    await writeTasks(run, rest.slice(0, half));
    await writeTasks(run, rest.slice(half));
  }
}

/** The errors that stored rows and bodies show, by product id. */
async function findTaskErrors(
  runQueries: RunQueries,
  tasks: readonly Task[],
): Promise<Map<string, ApiError>> {
  const { changes, deletions } = splitTasks(tasks);
  const details = await findErrors(runQueries, changes);
  const [used] = await runQueries([
    idsInPrograms(deletions.map(({ id }) => id)),
  ]);
  const errors = new Map<string, ApiError>();
  changes.forEach(({ id }, i) => {
    if (details[i]?.length) errors.set(id, invalid("The body", details[i]));
  });
  for (const { product_id } of used!) errors.set(product_id, inProgram());
  return errors;
}

function splitTasks(tasks: readonly Task[]) {
  return {
    changes: tasks.filter(({ deletedAs }) => deletedAs === undefined),
    deletions: tasks.filter(({ deletedAs }) => deletedAs !== undefined),
  };
}

async function writeTogether(
  { tx, isMinimal, settle }: Run,
  tasks: readonly Task[],
): Promise<void> {
  const { changes, deletions } = splitTasks(tasks);
  const writes = writing(changes, deletions.map(({ id }) => id));
  const answers = answerProducts(
    tx,
    changes,
    { shown: isMinimal ? minimalAnswer : fullAnswer },
  );
  const results = await tx.send(SAVEPOINT, ...writes, answers, RELEASE);
  const [rows] = results.slice(-2);
  const products = new Map(
    (rows as Answer[]).map(({ id, product }) => [id, product]),
  );
  for (const { index, id, isNew } of changes) {
    settle(index, { status: isNew ? 201 : 200, data: products.get(id)! });
  }
  for (const { index, deletedAs } of deletions) {
    settle(index, deletionAnswer(deletedAs!, true));
  }
}
