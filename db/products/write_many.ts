import { Buffer } from "node:buffer";
import { ApiError, invalid } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import {
  type KeyedRequest,
  type Outcome,
  withIdempotencyKey,
} from "../idempotency.ts";
import { currentProducts } from "./documents.ts";
import { MAX_BYTES } from "./page.ts";
import { lockKeys, lockMatches } from "./upsert_keys.ts";
import {
  identifiersOf,
  type Item,
  lockedKeys,
  nextRound,
  type Operation,
} from "./rounds.ts";
import {
  failedPrecondition,
  type Success,
  type Task,
  taskOf,
} from "./tasks.ts";
import { type Run, writeTasks } from "./write_tasks.ts";

/** The options of a batch. */
export interface BatchOptions {
  /** Whether the answers contain only the products' ids. */
  isMinimal: boolean;
  /** Makes the error that fails the whole batch when an operation fails. Absent, operations fail separately. */
  failWith?: ((index: number, error: ApiError) => ApiError) | undefined;
  request: KeyedRequest;
}

/**
 * Executes the operations in one transaction and returns their answers as a JSON
 * array. Operations on the same product run in their order. Without `failWith`, a
 * failed operation does not affect the others. If the database fails, nothing is
 * written. Requests with the same `Idempotency-Key` write once. Throws
 * `VALIDATION_ERROR`, and writes nothing, if the answers exceed 16 MiB.
 */
export async function writeBatch(
  database: Queries,
  operations: readonly (Operation | ApiError)[],
  { isMinimal, failWith, request }: BatchOptions,
): Promise<Outcome> {
  return await withIdempotencyKey(database, request, async (tx, remember) => {
    const settled: string[] = [];
    let bytes = 0;
    const settle: Run["settle"] = (index, answer) => {
      const isFailure = answer instanceof ApiError;
      if (isFailure && failWith) throw failWith(index, answer);
      const text = isFailure ? failureText(answer) : successText(answer);
      bytes += Buffer.byteLength(text);
      if (bytes > MAX_BYTES) throw tooLarge();
      settled[index] = text;
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
    const { ids, keys } = identifiersOf(rest);
    // If SQL replaces a product while the first statement waits, the second finds it.
    const matches = lockMatches(ids, keys);
    const [, , found] = ids.length + keys.length > 0
      ? await run.tx.send(lockKeys(lockedKeys(rest)), matches, matches)
      : [[], [], []];
    const { now, later } = nextRound(rest, found);
    const tasks = now.flatMap((matched) => {
      const task = taskOf(matched);
      if ("id" in task) return [task];
      run.settle(matched.index, task);
      return [];
    });
    await writeTasks(run, await checkPreconditions(run, tasks));
    rest = later;
  }
}

/** Answers the tasks whose precondition fails (RFC 9110, 13), and returns the others. */
async function checkPreconditions(run: Run, tasks: Task[]): Promise<Task[]> {
  const conditional = tasks.filter(({ precondition }) => precondition);
  if (conditional.length === 0) return tasks;
  const [rows] = await run.tx.send(
    currentProducts(...conditional.map(({ id }) => id)),
  );
  const products = new Map(rows.map(({ id, product }) => [id, product]));
  return tasks.filter(({ index, id, precondition }) => {
    const error = failedPrecondition(precondition, products.get(id));
    if (error) run.settle(index, error);
    return !error;
  });
}

function tooLarge(): ApiError {
  return invalid("The body", [{
    pointer: "/return",
    code: "too_large",
    message:
      'The response would be larger than 16 MiB: send "return": "minimal" or fewer operations',
  }]);
}

function successText({ status, data }: Success): string {
  return `{"status":${status},"data":${data}}`;
}

function failureText({ status, code, message, details }: ApiError): string {
  return JSON.stringify({ status, error: { code, message, details } });
}
