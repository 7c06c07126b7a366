import { ApiError } from "../../schema/errors.ts";
import { sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Operations } from "../database.ts";
import { claim, type KeyedRequest, remember } from "../idempotency.ts";
import {
  answerProducts,
  currentProducts,
  fullAnswer,
  minimalAnswer,
} from "./documents.ts";
import { lockFound, lockKeys } from "./matching.ts";
import { checkFound } from "./nested_rows.ts";
import { type Item, namedBy, nextRound, type Operation } from "./rounds.ts";
import { writing } from "./statements.ts";
import { deleted, type Done, type Task, taskOf, unmet } from "./tasks.ts";
import { type Ask, explain, faultsOf, isRefusal } from "./violations.ts";
import { invalid } from "../../schema/errors.ts";

/** How a batch is carried out. */
export interface BatchOptions {
  /** Whether products are answered by their ids alone. */
  isMinimal: boolean;
  /** Makes the failure of one operation that of the batch; without it, it is that operation's answer. */
  failWith?: ((index: number, error: ApiError) => ApiError) | undefined;
  request?: KeyedRequest | undefined;
}

/** A batch on its way. */
interface Run {
  tx: Transaction;
  isMinimal: boolean;
  /** Notes the answer to an operation. */
  settle(index: number, answer: Done | ApiError): void;
}

/**
 * Carries the operations out, those on one product in their order, and gives
 * their answers as a JSON array. An operation that fails takes nothing of the
 * others with it. The batch is one transaction: where the database fails nothing
 * is written, and requests with the same `Idempotency-Key` write once.
 */
export async function writeBatch(
  database: Operations,
  operations: readonly (Operation | ApiError)[],
  { isMinimal, failWith, request }: BatchOptions,
): Promise<{ answers: string; isReplayed: boolean }> {
  return await database.transaction(async (tx) => {
    const earlier = request && await claim(tx, request);
    if (earlier) {
      await tx.commit();
      return { answers: earlier.answer, isReplayed: true };
    }
    const settled: string[] = [];
    const settle: Run["settle"] = (index, answer) => {
      const isFailure = answer instanceof ApiError;
      if (isFailure && failWith) throw failWith(index, answer);
      settled[index] = isFailure ? failureText(answer) : doneText(answer);
    };
    const valid = operations.flatMap((operation, index): Item[] => {
      if (!(operation instanceof ApiError)) return [{ index, operation }];
      settle(index, operation);
      return [];
    });
    await runAll({ tx, isMinimal, settle }, valid);
    const answers = `[${settled.join()}]`;
    await tx.commit(
      ...request
        ? [remember(request, { record_id: null, answer: answers })]
        : [],
    );
    return { answers, isReplayed: false };
  });
}

async function runAll(run: Run, items: Item[]): Promise<void> {
  let rest = items;
  while (rest.length > 0) {
    const { ids, keys } = namedBy(rest);
    const [, found] = ids.length + keys.length > 0
      ? await run.tx.send(lockKeys(keys), lockFound(ids, keys))
      : [[], []];
    const { now, later } = nextRound(rest, found);
    const tasks = now.flatMap((matched) => {
      const task = taskOf(matched);
      if ("id" in task) return [task];
      run.settle(matched.index, task);
      return [];
    });
    await write(run, await expected(run, tasks));
    rest = later;
  }
}

/** The tasks whose products are those that the client means. */
async function expected(run: Run, tasks: Task[]): Promise<Task[]> {
  const conditional = tasks.filter(({ precondition }) => precondition);
  if (conditional.length === 0) return tasks;
  const [rows] = await run.tx.send(
    currentProducts(...conditional.map(({ id }) => id)),
  );
  const products = new Map(rows.map(({ id, product }) => [id, product]));
  return tasks.filter(({ index, id, precondition }) => {
    const error = unmet(precondition, products.get(id));
    if (error) run.settle(index, error);
    return !error;
  });
}

const SAVEPOINT = sql`savepoint tasks`;
const RELEASE = sql`release savepoint tasks`;
const ROLLBACK = sql`rollback to savepoint tasks`;

/**
 * Writes the tasks together, or without those that the database refuses, which
 * are looked for: by their faults first, then by halves.
 */
async function write(run: Run, tasks: Task[]): Promise<void> {
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
    await write(run, innocent.slice(0, half));
    await write(run, innocent.slice(half));
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
    (rows as { id: string; product: string }[])
      .map(({ id, product }) => [id, product]),
  );
  for (const { index, id, isNew } of kept) {
    settle(index, { status: isNew ? 201 : 200, data: products.get(id)! });
  }
  for (const { index, deletedAs } of gone) {
    settle(index, deleted(deletedAs!, true));
  }
}

function doneText({ status, data }: Done): string {
  return `{"status":${status},"data":${data}}`;
}

function failureText({ status, code, message, details }: ApiError): string {
  return JSON.stringify({ status, error: { code, message, details } });
}
