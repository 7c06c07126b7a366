import { ApiError, unavailable } from "../../../schema/errors.ts";
import { organization, sql } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import {
  type KeyedOutcome,
  type KeyedRequest,
  withIdempotencyKey,
} from "../../../db/idempotency.ts";
import { reserveFor } from "../../../db/long_text.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import type { BatchOperation, Placed } from "./operation.ts";
import { adviseRestorations, type Changing, planBatch } from "./plan.ts";
import { BatchResults, type ResultOptions, type ShownJson } from "./results.ts";
import type { Write } from "../../../db/products/change/change.ts";
import { possibleCreation } from "../../../db/products/errors/complete_errors.ts";
import { resolveNames } from "../../../db/products/names.ts";
import { selectProducts, selectVersions } from "../../../db/products/read.ts";
import type { Pace } from "../../../schema/turns.ts";
import { writeRestorations } from "../../history/db/write_restorations.ts";

/*
 * Writes a batch, whose operations `features/batch/routes.ts` has read:
 *
 *     resolveNames     names.ts           puts ids in place of the names in their bodies
 *     planBatch        plan.ts            locks and finds their products, and plans the change of each operation
 *     writeTogether    write_together.ts  writes the changes, without refused ones (called by `writeRestorations`)
 *     selectProducts   read.ts            reads the products for the results
 *
 * Operations that depend on an earlier one are planned after that is written. Each step adds the
 * results of operations that end with it (`results.ts`).
 */

export interface BatchOptions extends Omit<ResultOptions, "isKept"> {
  request: KeyedRequest;
  /** Lets other requests run. */
  pace: Pace;
}

/** The results of a batch as a JSON array, and the product forms that its operations change. */
export interface BatchOutcome
  extends KeyedOutcome, Pick<BatchResults, "unusedForms" | "sharedForms"> {
}

/**
 * Executes the operations in one transaction and returns their results as a JSON
 * array. Operations on the same product run in their order. Unless the batch is atomic, a
 * failed operation does not affect the others. If the database fails, nothing is
 * written. Requests with the same `Idempotency-Key` write once. Throws
 * `VALIDATION_ERROR`, and writes nothing, if the products that it writes or the results
 * exceed 16 MiB, or the results 1 MiB with a key.
 *
 * The products are read after the transaction, unless a key stores the response with it. A
 * result shows the version that the transaction has written. A product that the batch leaves
 * unchanged may show a later change by another request.
 */
export async function writeBatch(
  database: Queries,
  operations: readonly (BatchOperation | ApiError)[],
  { isMinimal, isAtomic, request, pace }: BatchOptions,
): Promise<BatchOutcome> {
  const isKept = request.key !== undefined;
  const begin = () => new BatchResults({ isKept, isMinimal, isAtomic });
  let results = begin();
  const outcome = await withIdempotencyKey(
    database,
    request,
    async (tx, storeResponse) => {
      // The pool may repeat the transaction.
      results = begin();
      let next = await resolveOperations(tx, operations, results);
      while (next.length > 0) {
        const { changing, later } = await planBatch(tx, next, results, pace);
        await writePlanned(tx, changing, results, pace);
        next = later;
      }
      if (!isKept) {
        await tx.commit();
        return { id: null, response: null };
      }
      const [products] = await tx.send(selectProducts(results.ids));
      const response = results.toString(products);
      await tx.commit(...storeResponse(sql`
        select o.id as organization_id, null::uuid as record_id, ${response}::text as answer
        from organizations o
        where o.id = ${organization}
      `));
      return { id: null, response };
    },
    () => readResults(database, results),
  );
  const { unusedForms, sharedForms } = results;
  return { ...outcome, unusedForms, sharedForms };
}

/** Replaces names in operations by ids. One with unknown names gets its error. */
async function resolveOperations(
  tx: Transaction,
  operations: readonly (BatchOperation | ApiError)[],
  results: BatchResults,
): Promise<Placed[]> {
  const resolved = await resolveNames(tx, operations.map(unresolved));
  const found = await adviseRestorations(
    tx,
    resolved.map((outcome, index) => ({ operation: operations[index]!, outcome })),
    results,
  );
  return found.flatMap((named, index): Placed[] => {
    const operation = operations[index]!;
    if (named instanceof ApiError) {
      const isUpsert = !(operation instanceof ApiError) && operation.method === "upsert";
      if (isUpsert && operation.creationError) {
        // Which of its two errors applies depends on whether a product has its key.
        return [{ index, operation: { ...operation, body: {}, updateError: named } }];
      }
      results.fail(index, named);
      return [];
    }
    if (operation instanceof ApiError) return [];
    return "body" in operation
      ? [{ index, operation: { ...operation, body: named.body } }]
      : [{ index, operation }];
  });
}

/** Returns the change of an operation before products are found, or its error. */
function unresolved(operation: BatchOperation | ApiError): Write | ApiError {
  if (operation instanceof ApiError) return operation;
  switch (operation.method) {
    case "create":
      return { method: "create", id: uuidv7(), body: operation.body };
    case "update":
      return { method: "update", id: operation.id, body: operation.body };
    case "upsert":
      return operation.updateError ?? possibleCreation(operation.body);
    default:
      // It has no body, so there is nothing to resolve. An empty change keeps the order.
      return possibleCreation({});
  }
}

/** Writes the changes of operations, and adds their results. */
async function writePlanned(
  tx: Transaction,
  changing: readonly Changing[],
  results: BatchResults,
  pace: Pace,
): Promise<void> {
  const outcome = await writeRestorations(tx, changing, pace);
  const { done, unchanged, faults, versions, skipped } = outcome;
  for (const [{ index }, fault] of faults) results.fail(index, fault);
  for (const cause of unchanged) {
    const { index, change: { id }, planned } = cause;
    results.succeed(index, 200, id, planned!.bytes, skipped.get(cause));
  }
  for (const cause of done) {
    const { index, operation, change } = cause;
    const { method, id } = change;
    if (method !== "delete" && change.sharedForm) results.sharedForms.set(index, change.sharedForm);
    if (operation.method === "delete") {
      results.deleted.add(id);
      results.delete(index, operation.sentId, true);
    } else {
      const isNew = method === "create" && operation.method !== "restore";
      const status = isNew ? 201 : 200;
      const { version, bytes } = versions.get(id)!;
      results.version = version;
      results.succeed(index, status, id, bytes, skipped.get(cause));
    }
  }
}

async function readResults(
  database: Queries,
  results: BatchResults,
): Promise<string> {
  if (results.ids.length === 0) return results.toString([]);
  await reserveFor(database, results.bytes);
  try {
    return results.toString(await readShown(database, results));
  } catch (error) {
    throw unavailable(
      "The batch is written, but its products could not be read for the response: get them",
      { cause: error },
    );
  }
}

/** The products of the results: the written versions, and the current state of the other products. */
async function readShown(
  database: Queries,
  { ids, version }: BatchResults,
): Promise<ShownJson[]> {
  const written = version === undefined ? [] : await database.scan(selectVersions(ids, version));
  const found = new Set(written.map(({ id }) => id));
  const others = ids.filter((id) => !found.has(id));
  if (others.length === 0) return written;
  return [...written, ...await database.scan(selectProducts(others))];
}
