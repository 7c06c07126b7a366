import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { ApiError, below, invalid } from "../../schema/errors.ts";
import { COUNTED_FILTERS } from "../../schema/list_query.ts";
import type { ArrayName } from "../../schema/product.ts";
import { organization, sql } from "../connections/sql.ts";
import { brokenConstraint, ChangedMeanwhile, isLate } from "../connections/errors.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import { assertPrecondition, type Precondition } from "../entity_tag.ts";
import { type KeyedOutcome, type KeyedRequest, withIdempotencyKey } from "../idempotency.ts";
import type { SharedForm } from "../../schema/shared_form.ts";
import { uuidv7 } from "../uuid.ts";
import { type Change, type Creation, lockProducts, type Update } from "./change/change.ts";
import { fullProduct } from "./documents/document.ts";
import { lockKeys, restorationKey } from "./change/keys.ts";
import { getProduct, getWritten, readTags } from "./read.ts";
import { selectWritten, type ShortProductJson, storeWritten } from "./documents/store.ts";
import { storeExternalChanges, VERSION_STORED } from "./documents/external_changes.ts";
import { IN_PROGRAM, inProgram, isViolation, productNotFound, ruleOf } from "./errors/errors.ts";
import { findErrors } from "./errors/find_errors.ts";
import { resolveNamesOf } from "./names.ts";
import { isFormUnused, recordSharedForms } from "./statements/product_forms.ts";
import { writeProducts } from "./statements/write_statements.ts";

/*
 * Writes of one product: create, update, replace an array, delete. Each runs in a transaction of
 * its own, which `writeProduct` retries and whose failure it explains.
 */

/** The outcome of the product form in a body. */
export interface FormOutcome {
  /** The form that the write gave to the product's format. */
  sharedForm: SharedForm | undefined;
  /** Whether the product has no format that could store it. */
  isFormUnused: boolean;
}

/** The response to a creation. */
export interface CreationOutcome extends KeyedOutcome, FormOutcome {}

/** A full product after its update. */
export interface UpdatedProduct extends FormOutcome {
  product: string;
}

/**
 * Creates the product with its nested records. Requests with the same
 * `Idempotency-Key` create it once. Throws `VALIDATION_ERROR` with every error.
 */
export async function createProduct(
  database: Queries,
  body: ProductBody,
  request: KeyedRequest,
): Promise<CreationOutcome> {
  const given: Creation = { method: "create", id: uuidv7(), body };
  let change = given;
  let created: ShortProductJson | undefined;
  try {
    const outcome = await withIdempotencyKey(
      database,
      request,
      async (tx, storeResponse) => {
        change = await resolveNamesOf(tx, given);
        await recordSharedForms(tx, [change]);
        // Made within the transaction, so that a retry gives the product another code.
        const writes = writeProducts(tx, [change]);
        const stored = storeResponse(sql`
          select d.organization_id, d.product_id as record_id, ${fullProduct} as answer
          from (${selectWritten([change])}) d
        `);
        const storing = storeWritten(tx, change);
        const results = await tx.commit(...writes, ...storing, ...stored);
        [created] = results[writes.length + storing.length - 1] as ShortProductJson[];
        return { id: change.id, response: created!.product };
      },
      () => getWritten(database, created!),
    );
    return {
      ...outcome,
      sharedForm: change.sharedForm,
      isFormUnused: isFormUnused(body, () => null),
    };
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
): Promise<UpdatedProduct> {
  const given: Update = { method: "update", id, body };
  const isEmpty = Object.keys(body).length === 0;
  let change = given;
  // Counting reads the old values before the update locks the product.
  const isCounted = COUNTED_FILTERS.some((column) => column in body);
  const locks = isCounted ? [lockProducts([id], "no key update")] : [];
  const updated = await writeProduct(database, async (tx) => {
    if (precondition) await checkPrecondition(tx, id, precondition);
    if (isEmpty) return void await tx.commit();
    change = await resolveNamesOf(tx, given);
    await recordSharedForms(tx, [change]);
    const writes = writeProducts(tx, [change]);
    const results = await tx.commit(...locks, ...writes, ...storeWritten(tx, change));
    return (results.at(-1) as ShortProductJson[])[0];
  }, () => change);
  if (isEmpty) {
    const { product } = await getProduct(database, id);
    return { product, sharedForm: undefined, isFormUnused: false };
  }
  // The product did not exist. If it was restored since, this request has not written it.
  if (!updated) throw productNotFound(id);
  const product = updated.product ?? await getWritten(database, updated);
  return {
    product,
    sharedForm: change.sharedForm,
    isFormUnused: isFormUnused(body, () => JSON.parse(product).format_id),
  };
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
    return (await updateProduct(database, id, body, precondition)).product;
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
    await writeProduct(database, async (tx) => {
      if (precondition) await checkPrecondition(tx, id, precondition);
      await tx.commit(...writeProducts(tx, [deletion]));
    }, () => deletion);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "NOT_FOUND") throw error;
    if (precondition) assertPrecondition(precondition);
    return false;
  }
}

/** The maximum number of attempts of a write that other transactions overtake. */
const MAX_ATTEMPTS = 4;

/**
 * Runs a transaction that writes a product, and explains its failure. `changeOf` returns the
 * change that it wrote. The transaction is repeated if
 *
 * - SQL outside the service has changed the product since its last version was stored,
 * - later transactions have changed the product again and again, or
 * - the product was deleted and restored between two statements.
 *
 * A repetition locks the product first.
 */
async function writeProduct<T>(
  database: Queries,
  work: (tx: Transaction) => Promise<T>,
  changeOf: () => Change,
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await database.transaction(async (tx) => {
        if (attempt > 1) await lockFirst(tx, changeOf().id);
        return await work(tx);
      });
    } catch (error) {
      const isOvertaken = brokenConstraint(error) === VERSION_STORED || isLate(error);
      const failure = isOvertaken ? error : await explainFailure(database, error, changeOf());
      const canRepeat = isOvertaken || failure instanceof ChangedMeanwhile;
      if (!canRepeat || attempt === MAX_ATTEMPTS) throw failure;
    }
  }
}

/**
 * Locks the product before a retry: waits for restorations, takes the lock, and stores the version
 * of a change made outside the service. A transaction gets its version with its first lock. With
 * the lock of the product, no later transaction can change it first. Throws `NOT_FOUND`.
 */
async function lockFirst(tx: Transaction, id: string): Promise<void> {
  const lock = sql`
    select from products p
    where p.organization_id = ${organization} and p.id = ${id}
    for no key update
  `;
  // A row that was inserted again while the transaction waited for it is seen and locked now.
  const [, , found] = await tx.send(
    lockKeys([restorationKey(id)]),
    lock,
    lock,
    ...storeExternalChanges(tx, [id]),
  );
  if (found.length === 0) throw productNotFound(id);
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
 * Returns the error to throw for a failed transaction. A violation becomes `VALIDATION_ERROR` with
 * every error in the body, `NOT_FOUND`, `CONFLICT` for a product in use, or `ChangedMeanwhile` if
 * the change no longer violates anything. Other errors stay as they are.
 */
async function explainFailure(
  database: Queries,
  error: unknown,
  change: Change,
): Promise<unknown> {
  if (!isViolation(error)) return error;
  if (brokenConstraint(error) === IN_PROGRAM) return inProgram(error);
  // A failed deletion is explained like an update without fields: the product does not exist.
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
  return rule ? invalid("The body", [rule]) : new ChangedMeanwhile(error);
}
