import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError, below, invalid, unavailable } from "../../schema/errors.ts";
import { COUNTED_FILTERS } from "../../schema/list_query.ts";
import type { ArrayName } from "../../schema/product.ts";
import { sql } from "../connections/sql.ts";
import { brokenConstraint, isLate } from "../connections/errors.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { assertPrecondition, type Precondition } from "../entity_tag.ts";
import { type KeyedOutcome, type KeyedRequest, withIdempotencyKey } from "../idempotency.ts";
import { uuidv7 } from "../uuid.ts";
import { type Change, type Creation, lockProducts, type Update } from "./change.ts";
import { fullProduct } from "./document.ts";
import { getWritten, readTags } from "./read.ts";
import { selectWritten, type ShortProductJson, storeWritten } from "./store.ts";
import { storeUnauthored, VERSION_STORED } from "./store_unauthored.ts";
import { IN_PROGRAM, inProgram, isViolation, productNotFound, ruleOf } from "./errors.ts";
import { findErrors } from "./find_errors.ts";
import { withIds } from "./names.ts";
import { writeProducts } from "./write_statements.ts";

/* The requests that write one product. */

/**
 * Creates the product with its nested records. Requests with the same
 * `Idempotency-Key` create it once. Throws `VALIDATION_ERROR` with every error.
 */
export async function createProduct(
  database: Queries,
  body: ProductBody,
  request: KeyedRequest,
): Promise<KeyedOutcome> {
  const given: Creation = { method: "create", id: uuidv7(), body };
  let change = given;
  try {
    return await withIdempotencyKey(
      database,
      request,
      async (tx, storeResponse) => {
        change = await withIds(tx, given);
        // Made in here: a transaction that is repeated gives the product another code.
        const writes = writeProducts(tx, [change]);
        const stored = storeResponse(sql`
          select d.organization_id, d.product_id as record_id, ${fullProduct} as answer
          from (${selectWritten(tx, [change])}) d
        `);
        const results = await tx.commit(
          ...writes,
          storeWritten(tx, change),
          ...stored,
        );
        const [created] = results[writes.length] as ShortProductJson[];
        return { id: change.id, response: created!.product };
      },
      getWritten,
    );
  } catch (error) {
    throw await explainFailure(database, error, change);
  }
}

/**
 * Updates the fields in the body, and returns the full product. Throws `NOT_FOUND`,
 * `PRECONDITION_FAILED`, or `VALIDATION_ERROR` with every error.
 */
export async function updateProduct(
  database: Queries,
  id: string,
  body: ProductBody,
  precondition?: Precondition,
): Promise<string> {
  const given: Update = { method: "update", id, body };
  let change = given;
  // Counting reads the old values before the update locks the product.
  const isCounted = COUNTED_FILTERS.some((column) => column in body);
  const locks = isCounted ? [lockProducts([id], "no key update")] : [];
  try {
    const results = await writeLast(database, id, async (tx) => {
      if (precondition) await checkPrecondition(tx, id, precondition);
      change = await withIds(tx, given);
      const writes = writeProducts(tx, [change]);
      const stored = writes.length > 0 ? [storeWritten(tx, change)] : [];
      return await tx.commit(...locks, ...writes, ...stored);
    });
    const [updated] = (results.at(-1) ?? []) as ShortProductJson[];
    return updated?.product ?? await getWritten(database, id);
  } catch (error) {
    throw await explainFailure(database, error, change);
  }
}

/** Replaces an array at its own path, and returns the full product. Throws as `updateProduct` does. */
export async function replaceProductArray(
  database: Queries,
  id: string,
  array: ArrayName,
  entries: readonly Entry[],
  precondition?: Precondition,
): Promise<string> {
  try {
    const body = { [array]: entries };
    return await updateProduct(database, id, body, precondition);
  } catch (error) {
    throw error instanceof ApiError ? below(`/${array}`, error) : error;
  }
}

/**
 * Deletes the product with its nested records. Returns whether it existed. Throws
 * `PRECONDITION_FAILED`, or `CONFLICT` for a product in a publishing program.
 */
export async function deleteProduct(
  database: Queries,
  id: string,
  precondition?: Precondition,
): Promise<boolean> {
  const deletion: Change = { method: "delete", id };
  try {
    await writeLast(database, id, async (tx) => {
      if (precondition) await checkPrecondition(tx, id, precondition);
      await tx.commit(...writeProducts(tx, [deletion]));
    });
    return true;
  } catch (error) {
    const explained = await explainFailure(database, error, deletion);
    const isUnknown = explained instanceof ApiError &&
      explained.code === "NOT_FOUND";
    if (!isUnknown) throw explained;
    if (precondition) assertPrecondition(precondition);
    return false;
  }
}

/**
 * Runs a transaction that writes a product. If SQL beside the service has changed the product
 * since its last version was stored, or later transactions have overtaken this one again and
 * again, runs it once more. That run locks the product first, and stores the version that SQL has
 * made. A transaction gets its version with its first lock, so no later one overtakes that run.
 */
async function writeLast<T>(
  database: Queries,
  id: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction(work);
  } catch (error) {
    if (brokenConstraint(error) !== VERSION_STORED && !isLate(error)) throw error;
    return await database.transaction(
      work,
      lockProducts([id], "no key update"),
      storeUnauthored([id]),
    );
  }
}

/** Locks the product, and checks its precondition. Violates `rows_found` if it does not exist. */
async function checkPrecondition(
  tx: Transaction,
  id: string,
  precondition: Precondition,
): Promise<void> {
  const lock = lockProducts([id], "no key update");
  const tags = await readTags(tx, [id], lock);
  assertPrecondition(precondition, tags.get(id.toLowerCase()));
}

/**
 * The error to throw for a failed transaction: other errors as they are, and for a
 * violation `VALIDATION_ERROR` with every error in the body, `NOT_FOUND`, `CONFLICT` for a
 * product in use or `SERVICE_UNAVAILABLE` for a concurrent change.
 */
async function explainFailure(
  database: Queries,
  error: unknown,
  change: Change,
): Promise<unknown> {
  if (!isViolation(error)) return error;
  if (brokenConstraint(error) === IN_PROGRAM) return inProgram(error);
  // A deletion fails as an update without fields does: the product is not there.
  const { id } = change;
  const write = change.method === "delete" ? { method: "update", id, body: {} } as const : change;
  const [details] = await findErrors(
    (...statements) => database.write(...statements),
    [write],
  );
  if (!details) return productNotFound(id);
  if (details.length > 0) return invalid("The body", details);
  // A concurrent transaction has changed the rows since the violation.
  const rule = ruleOf(error);
  if (rule) return invalid("The body", [rule]);
  return unavailable("The product is being changed by another request", {
    cause: error,
  });
}
