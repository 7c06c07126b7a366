import { ApiError } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Operations } from "../database.ts";
import { type KeyedRequest, once, type Outcome } from "../idempotency.ts";
import { currentProducts } from "./documents.ts";
import { lockFound, lockKeys } from "./matching.ts";
import { type Item, namedBy, nextRound, type Operation } from "./rounds.ts";
import { type Done, type Task, taskOf, unmet } from "./tasks.ts";
import { type Run, writeTasks } from "./write_tasks.ts";

/** How a batch is carried out. */
export interface BatchOptions {
  /** Whether products are answered by their ids alone. */
  isMinimal: boolean;
  /** Makes the failure of one operation that of the batch; without it, it is that operation's answer. */
  failWith?: ((index: number, error: ApiError) => ApiError) | undefined;
  request: KeyedRequest;
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
): Promise<Outcome> {
  return await once(database, request, async (tx, remember) => {
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
    const answer = `[${settled.join()}]`;
    await tx.commit(...remember(sql`
      select o.id as organization_id, null::uuid as record_id, ${answer}::text as answer
      from organizations o
      where o.id = ${organization}
    `));
    return { id: null, answer };
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
    await writeTasks(run, await meantOf(run, tasks));
    rest = later;
  }
}

/** The tasks whose products are those that the client means. */
async function meantOf(run: Run, tasks: Task[]): Promise<Task[]> {
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

function doneText({ status, data }: Done): string {
  return `{"status":${status},"data":${data}}`;
}

function failureText({ status, code, message, details }: ApiError): string {
  return JSON.stringify({ status, error: { code, message, details } });
}
