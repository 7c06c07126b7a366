import { ApiError, unavailable } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { type KeyedOutcome, type KeyedRequest, withIdempotencyKey } from "../idempotency.ts";
import { uuidv7 } from "../uuid.ts";
import type { BatchOperation, Placed } from "./batch_operation.ts";
import { type Changing, planBatch } from "./batch_plan.ts";
import { BatchResults, type ResultOptions } from "./batch_results.ts";
import type { Write } from "./change.ts";
import { resolveNames, undecided } from "./names.ts";
import { selectProducts } from "./read.ts";
import { restoreOnix, withLostSeries } from "./restorations.ts";
import { writeTogether } from "./write_together.ts";

/*
 * The way of a batch, whose operations `routes/batch.ts` has read:
 *
 *     resolveNames     names.ts             puts ids in place of the names in their bodies
 *     planBatch        batch_plan.ts        locks and finds their products; each operation says what becomes of its own
 *     writeTogether    write_together.ts    writes that, without what is at fault
 *     selectProducts   read.ts              the products, for the results
 *
 * What depends on an earlier operation is planned after that is written. Each step leaves the
 * results of operations that end with it (`batch_results.ts`).
 */

export interface BatchOptions extends Omit<ResultOptions, "isKept"> {
  request: KeyedRequest;
}

/** The results of a batch as a JSON array, and the operations whose product form has no effect. */
export interface BatchOutcome extends KeyedOutcome {
  unusedForms: ReadonlySet<number>;
}

/**
 * Executes the operations in one transaction and returns their results as a JSON
 * array. Operations on the same product run in their order. Unless the batch is atomic, a
 * failed operation does not affect the others. If the database fails, nothing is
 * written. Requests with the same `Idempotency-Key` write once. Throws
 * `VALIDATION_ERROR`, and writes nothing, if the products that it writes or the results
 * exceed 16 MiB, or the results 1 MiB with a key.
 *
 * The products are read after the transaction, unless a key stores the response with it:
 * a result may then show a later change by another request.
 */
export async function writeBatch(
  database: Queries,
  operations: readonly (BatchOperation | ApiError)[],
  { isMinimal, isAtomic, request }: BatchOptions,
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
        const { changing, later } = await planBatch(tx, next, results);
        await writePlanned(tx, changing, results);
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
  return { ...outcome, unusedForms: results.unusedForms };
}

/** The operations with the ids that names stand for. One at fault gets its error. */
async function resolveOperations(
  tx: Transaction,
  operations: readonly (BatchOperation | ApiError)[],
  results: BatchResults,
): Promise<Placed[]> {
  const found = await resolveNames(tx, operations.map(unresolved));
  return found.flatMap((named, index): Placed[] => {
    const operation = operations[index]!;
    if (named instanceof ApiError) {
      const isUpsert = !(operation instanceof ApiError) && operation.method === "upsert";
      if (isUpsert && operation.creationError) {
        // Which of its two errors counts depends on whether a product has its key.
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

/** The change of an operation, as far as that is known before products are found, or its error. */
function unresolved(operation: BatchOperation | ApiError): Write | ApiError {
  if (operation instanceof ApiError) return operation;
  switch (operation.method) {
    case "create":
      return { method: "create", id: uuidv7(), body: operation.body };
    case "update":
      return { method: "update", id: operation.id, body: operation.body };
    case "upsert":
      return operation.updateError ?? undecided(operation.body);
    default:
      // It has no body, so there is nothing to resolve: this keeps the places.
      return undecided({});
  }
}

/** Writes the changes of operations, and adds their results. */
async function writePlanned(
  tx: Transaction,
  changing: readonly Changing[],
  results: BatchResults,
): Promise<void> {
  const { done, faults, sizes } = await writeTogether(
    tx,
    changing,
    restoreOnix(tx),
  );
  for (const [{ index, change }, fault] of faults) {
    results.fail(index, withLostSeries(fault, change));
  }
  for (const { index, operation, change: { method, id } } of done) {
    if (operation.method === "delete") {
      results.delete(index, operation.sentId, true);
    } else {
      const isNew = method === "create" && operation.method !== "restore";
      const status = isNew ? 201 : 200;
      results.succeed(index, status, id, sizes.get(id)!);
    }
  }
}

async function readResults(
  database: Queries,
  results: BatchResults,
): Promise<string> {
  if (results.ids.length === 0) return results.toString([]);
  const { memory } = database;
  if (results.bytes > (memory?.bytes ?? Infinity)) {
    await memory!.reserve(results.bytes);
  }
  try {
    return results.toString(await database.scan(selectProducts(results.ids)));
  } catch (error) {
    throw unavailable(
      "The batch is written, but its products could not be read for the response: get them",
      { cause: error },
    );
  }
}
