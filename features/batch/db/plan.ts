import { Buffer } from "node:buffer";
import { catchDefect, defectError } from "../../../schema/defects.ts";
import { ApiError, detailAt, invalid } from "../../../schema/errors.ts";
import { isOneOf, sql } from "../../../db/connections/sql.ts";
import type { Transaction } from "../../../db/connections/transaction.ts";
import type { Queries } from "../../../db/database.ts";
import type { Precondition } from "../../../db/entity_tag.ts";
import { uuidv7 } from "../../../db/uuid.ts";
import { type BatchOperation, bodyIn, type MatchedKey, type Placed } from "./operation.ts";
import type { BatchResults } from "./results.ts";
import type { Change, Update, Write } from "../../../db/products/change/change.ts";
import { parseProduct } from "../../../db/products/documents/document.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import {
  hasKey,
  isbnKeys,
  isFoundBy,
  type KeyedProduct,
  keyName,
  type LockKey,
  type ProductKey,
  restorationKey,
  sharedKeyMessage,
} from "../../../db/products/change/keys.ts";
import { resolveNames } from "../../../db/products/names.ts";
import { isFormUnused } from "../../../db/products/statements/product_forms.ts";
import { readTags } from "../../../db/products/read.ts";
import { readInGroups, sizeOfStored } from "../../../db/products/read_many.ts";
import { planRestorations } from "../../history/db/restorations.ts";
import { isMissing, restoreAdvice } from "../../history/db/versions.ts";
import type { RestoringCause } from "../../history/db/write_restorations.ts";
import { changedFields } from "../../../db/products/change/changed_fields.ts";
import type { Pace } from "../../../schema/turns.ts";
import { lockAndFind } from "../../../db/products/write_together.ts";

/*
 * Plans the changes of a batch. In: validated operations. Out: the changes that can be written
 * together. Functions named `plan…` return changes, functions named `end…` the operations that
 * remain. Both add the results of the operations that end with them.
 *
 * For example, of two updates and a deletion of the first product, the updates are planned
 * together, and the deletion in the next round.
 */

/** An operation that changes its product. */
export interface Changing extends Placed, RestoringCause {
  change: Change;
}

/** An existing product, with what an upsert can match, and its size. */
interface FoundProduct extends KeyedProduct {
  id: string;
  format_id: string | null;
  bytes: number | null;
}

/** Plans the operations up to the first one that depends on another's changes. */
export async function planBatch(
  tx: Transaction,
  operations: readonly Placed[],
  results: BatchResults,
  pace: Pace,
): Promise<{ changing: Changing[]; later: Placed[] }> {
  const found = await lockMatches(tx, operations);
  const { now, later } = independentPrefix(operations, found);
  const possible = await endUncreatable(tx, now, found, results);
  const restores = await planRestores(tx, possible, results, pace);
  const others = await planOthers(tx, possible, found, results);
  const planned = [...restores, ...others].toSorted((a, b) => a.index - b.index);
  for (const { index, change } of planned) {
    if (change.method === "delete") continue;
    const storedFormat = () => found.find(({ id }) => id === change.id)?.format_id ?? null;
    if (isFormUnused(change.body, storedFormat)) results.unusedForms.add(index);
  }
  const current = await endOutdated(tx, planned, results);
  results.expect(sizeOfUpdated(current, found));
  return { changing: await endUnchanged(tx, current, found, results, pace), later };
}

/**
 * Locks the products that the operations address, in the order of their ids. Then returns their
 * values and the sizes of their newest documents.
 */
async function lockMatches(
  tx: Transaction,
  operations: readonly Placed[],
): Promise<FoundProduct[]> {
  const ids: string[] = [];
  const keys: ProductKey[] = [];
  const locks: LockKey[] = [];
  for (const { operation } of operations) {
    if (operation.method === "restore") locks.push(restorationKey(operation.id));
    if (operation.method === "upsert") {
      keys.push(operation.key);
      locks.push(operation.key, ...writtenKeys(operation));
    } else if (operation.method !== "create") ids.push(operation.id);
  }
  if (ids.length + keys.length === 0) return [];
  return await lockAndFind(
    tx,
    locks,
    sql`(p.id ${isOneOf(ids)} or ${hasKey(keys)})`,
    sql<FoundProduct>`
      select
        p.id, p.isbn13, p.isbn10, p.product_code, p.format_id,
        ${sizeOfStored} as bytes
      from products p
    `,
  );
}

/** The keys by which an upsert would find the written product. */
function writtenKeys(operation: BatchOperation): ProductKey[] {
  return isbnKeys(bodyIn(operation));
}

/** The longest prefix whose operations address and write different products and keys. */
function independentPrefix(
  operations: readonly Placed[],
  found: readonly FoundProduct[],
): { now: Placed[]; later: Placed[] } {
  const written = new Set<string>();
  let hasRestored = false;
  for (const [at, { operation }] of operations.entries()) {
    const touched = [
      ...found.filter((product) => addresses(operation, product))
        .map(({ id }) => id),
      ...operation.method === "upsert" ? [keyName(operation.key)] : [],
      // A product that an earlier operation restores is not found yet.
      ..."id" in operation ? [operation.id] : [],
    ];
    // The codes and ISBNs of the version are not known yet.
    const mayBeRestored = hasRestored && operation.method === "upsert";
    if (mayBeRestored || touched.some((name) => written.has(name))) {
      return { now: operations.slice(0, at), later: operations.slice(at) };
    }
    hasRestored ||= operation.method === "restore";
    const names = writtenKeys(operation).map(keyName);
    for (const name of [...touched, ...names]) written.add(name);
  }
  return { now: [...operations], later: [] };
}

function addresses(operation: BatchOperation, product: FoundProduct): boolean {
  switch (operation.method) {
    case "create":
      return false;
    case "upsert":
      return isFoundBy(operation.key, product);
    default:
      return product.id === operation.id;
  }
}

/** Ends the upserts that find no product and must not create one. */
async function endUncreatable(
  tx: Transaction,
  operations: readonly Placed[],
  found: readonly FoundProduct[],
  results: BatchResults,
): Promise<readonly Placed[]> {
  const errors = new Map(operations.flatMap((placed) => {
    const { operation } = placed;
    if (operation.method !== "upsert") return [];
    const { key, updateError, creationError } = operation;
    const isFound = found.some((product) => addresses(operation, product));
    // Errors of the body take precedence over an unknown code.
    const error = key.match === "product_code" ? updateError ?? creationError : creationError;
    return isFound || !error ? [] : [[placed, error] as const];
  }));
  if (errors.size === 0) return operations;
  const completed = await resolveNames<Write>(tx, [...errors.values()]);
  errors.keys().forEach(({ index }, i) => results.fail(index, completed[i] as ApiError));
  return operations.filter((placed) => !errors.has(placed));
}

/**
 * The error of a restoration after a deletion in the same batch. A batch makes one version per
 * product, in this case a deletion, so no version has the state before it.
 */
const DELETED_HERE = detailAt(
  "",
  "contradictory: An earlier operation deletes the product: restore it in a request of its own",
);

/** Plans the restorations. Those without a difference end here. */
async function planRestores(
  tx: Transaction,
  operations: readonly Placed[],
  results: BatchResults,
  pace: Pace,
): Promise<Changing[]> {
  const changing: Changing[] = [];
  const restores = operations.flatMap((placed) => {
    const { index, operation } = placed;
    if (operation.method !== "restore") return [];
    if (!results.deleted.has(operation.id)) return [{ placed, restoration: operation }];
    results.fail(index, invalid("The operation", [DELETED_HERE]));
    return [];
  });
  if (restores.length === 0) return changing;
  const planned = await planRestorations(
    tx,
    restores.map(({ restoration }) => restoration),
    { pace, expect: (bytes) => results.expect(bytes) },
  );
  restores.forEach(({ placed }, i) => {
    const plan = planned[i]!;
    if (plan instanceof ApiError) results.fail(placed.index, plan);
    else if (plan.isDone) {
      results.succeed(placed.index, 200, plan.change.id, plan.bytes);
    } else changing.push({ ...placed, change: plan.change, planned: plan });
  });
  return changing;
}

/** Plans the other operations. Those without a product, or with several, end here. */
async function planOthers(
  tx: Transaction,
  operations: readonly Placed[],
  found: readonly FoundProduct[],
  results: BatchResults,
): Promise<Changing[]> {
  const changes = await adviseRestorations(
    tx,
    operations.map(({ operation }) => ({
      operation,
      outcome: changeBy(operation, found.filter((product) => addresses(operation, product))),
    })),
    results,
  );
  return operations.flatMap((placed, i) => {
    const { index, operation } = placed;
    const change = changes[i];
    if (change instanceof ApiError) results.fail(index, change);
    else if (change) return [{ ...placed, change }];
    else if (operation.method === "delete") results.delete(index, operation.sentId, false);
    return [];
  });
}

/**
 * Adds to the errors of deleted products how to restore them. Not to that of a product which this
 * batch deletes: if the batch is refused, the product is still there.
 */
export async function adviseRestorations<T>(
  tx: Transaction,
  outcomes: readonly { operation: BatchOperation | ApiError; outcome: T }[],
  { deleted }: BatchResults,
): Promise<(T | ApiError)[]> {
  const missing = outcomes.map(({ operation, outcome }) =>
    "id" in operation && !deleted.has(operation.id) && isMissing(operation.id, outcome)
      ? operation.id
      : ""
  );
  const ids = [...new Set(missing)].filter((id) => id !== "");
  if (ids.length === 0) return outcomes.map(({ outcome }) => outcome);
  const lookUp: Queries["lookUp"] = async (statement) => (await tx.send(statement))[0]!;
  const advice = await restoreAdvice({ lookUp }, ids);
  return outcomes.map(({ outcome }, i) => advice.get(missing[i]!) ?? outcome);
}

/**
 * Returns the change of an operation on the products that it addresses, or its error. Undefined for
 * a deletion that finds none, and for a restoration.
 */
function changeBy(
  operation: BatchOperation,
  targets: readonly FoundProduct[],
): Change | ApiError | undefined {
  const id = targets[0]?.id;
  switch (operation.method) {
    case "create":
      return { method: "create", id: uuidv7(), body: operation.body };
    case "update":
      return id ? { method: "update", id, body: operation.body } : productNotFound(operation.id);
    case "delete":
      return id ? { method: "delete", id } : operation.precondition?.();
    case "restore":
      return;
    case "upsert": {
      const { key, body, updateError } = operation;
      if (targets.length > 1) return ambiguousKey(key, targets);
      if (updateError) return updateError;
      return id
        ? { method: "update", id, body, isWhole: true }
        : { method: "create", id: uuidv7(), body, key };
    }
  }
}

/** The error of a key that several products have. */
function ambiguousKey(
  { match }: MatchedKey,
  products: readonly FoundProduct[],
) {
  const message = sharedKeyMessage("ISBN", products);
  return new ApiError("AMBIGUOUS", message, {
    details: [detailAt(`/${match}`, `ambiguous: ${message}`)],
  });
}

/** Ends the operations whose precondition does not hold (RFC 9110, 13). */
async function endOutdated(
  tx: Transaction,
  changing: readonly Changing[],
  results: BatchResults,
): Promise<Changing[]> {
  const ids = changing.flatMap(({ operation, change }) =>
    pendingPrecondition(operation) ? change.id : []
  );
  const tags = ids.length > 0 ? await readTags(tx, ids) : new Map();
  return changing.filter(({ index, operation, change }) => {
    const failed = pendingPrecondition(operation)?.(tags.get(change.id));
    if (failed) results.fail(index, failed);
    return !failed;
  });
}

/** The precondition that is still to be checked. */
function pendingPrecondition(
  operation: BatchOperation,
): Precondition | undefined {
  return operation.method === "update" || operation.method === "delete"
    ? operation.precondition
    : undefined;
}

/** The size of the products that are updated. */
function sizeOfUpdated(
  changing: readonly Changing[],
  found: readonly FoundProduct[],
): number {
  const updated = new Set(
    changing.flatMap(({ change: { method, id } }) => method === "update" ? id : []),
  );
  return found.filter(({ id }) => updated.has(id))
    .reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** Ends the upserts that change nothing. */
async function endUnchanged(
  tx: Transaction,
  planned: readonly Changing[],
  found: readonly FoundProduct[],
  results: BatchResults,
  pace: Pace,
): Promise<Changing[]> {
  const upserts = new Map<string, { placed: Placed; change: Update }>();
  const changing: Changing[] = [];
  for (const placed of planned) {
    const { change } = placed;
    if (change.method === "update" && placed.operation.method === "upsert") {
      upserts.set(change.id, { placed, change });
    } else changing.push(placed);
  }
  const sizes = found.filter(({ id }) => upserts.has(id));
  for await (const products of readInGroups(tx, sizes)) {
    for (const { id, product } of products) {
      const { placed, change } = upserts.get(id)!;
      const stored = await parseProduct(product, pace);
      const body = catchDefect(
        () => changedFields(stored, change.body),
        () => void results.fail(placed.index, defectError()),
      );
      if (!body) continue;
      if (Object.keys(body).length > 0) {
        changing.push({ ...placed, change: { ...change, body } });
      } else {
        const bytes = Buffer.byteLength(product);
        results.succeed(placed.index, 200, id, bytes);
      }
    }
  }
  return changing;
}
