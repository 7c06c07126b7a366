import { Buffer } from "node:buffer";
import type { Match } from "../../schema/batch.ts";
import type { Entry, ProductBody } from "../../schema/bodies.ts";
import { failure, guarded } from "../../schema/defects.ts";
import { ApiError, detailAt, unavailable } from "../../schema/errors.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isOneOf, organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import type { Precondition } from "../entity_tag.ts";
import {
  type KeyedOutcome,
  type KeyedRequest,
  withIdempotencyKey,
} from "../idempotency.ts";
import { uuidv7 } from "../uuid.ts";
import { BatchResults, type ResultOptions } from "./batch_results.ts";
import type { Change, Update, Write } from "./change.ts";
import { productNotFound } from "./errors.ts";
import {
  readInGroups,
  readTags,
  selectProducts,
  sizeOfStored,
} from "./read.ts";
import {
  hasKey,
  isbnKeys,
  isFoundBy,
  type KeyedProduct,
  type LockKey,
  type ProductKey,
  sharedBy,
} from "./keys.ts";
import { planRestorations, restoreOnix, restoring } from "./restorations.ts";
import { findNamed } from "./names.ts";
import { changedFields } from "./upsert.ts";
import { lockAndFind, writeTogether } from "./write_together.ts";

/*
 * Operations become changes: their names become ids (`findIds`), their products are locked
 * and found (`lockMatches`), and each says what becomes of its product (`changeOf`). All are
 * written together. What depends on an earlier operation comes in a next pass.
 */

/** What a client says becomes of a product. Its body is valid. */
export type BatchOperation =
  | { method: "create"; body: ProductBody }
  | {
    method: "update";
    id: string;
    body: ProductBody;
    precondition?: Precondition | undefined;
  }
  | {
    method: "delete";
    id: string;
    /** The id as the client sent it. */
    sentId: string;
    precondition?: Precondition | undefined;
  }
  | {
    method: "restore";
    id: string;
    version?: string | undefined;
    at?: string | undefined;
    precondition?: Precondition | undefined;
  }
  | {
    method: "upsert";
    key: MatchedKey;
    body: ProductBody;
    /** Why it creates no product, if none has the key. */
    creationError?: ApiError | undefined;
  };

/** The value by which an upsert finds its product, and the field of the body that has it. */
export interface MatchedKey extends ProductKey {
  field: Match;
}

/** An operation at its place in the batch. */
interface Placed {
  index: number;
  operation: BatchOperation;
}

/** An operation that changes its product. */
interface Changing extends Placed {
  change: Change;
}

/** An existing product, with what an upsert can match, and its size. */
interface FoundProduct extends KeyedProduct {
  id: string;
  format_id: string | null;
  bytes: number | null;
}

export interface BatchOptions extends Omit<ResultOptions, "isKept"> {
  /** Called with the index of an operation whose product form has no effect. */
  ignoreForm: (index: number) => void;
  request: KeyedRequest;
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
  { isMinimal, isAtomic, ignoreForm, request }: BatchOptions,
): Promise<KeyedOutcome> {
  const isKept = request.key !== undefined;
  let results: BatchResults;
  return await withIdempotencyKey(
    database,
    request,
    async (tx, storeResponse) => {
      results = new BatchResults({ isKept, isMinimal, isAtomic });
      let next = await findIds(tx, operations, results);
      while (next.length > 0) {
        const { changing, later } = await plan(tx, next, results, ignoreForm);
        await write(tx, changing, results);
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
}

function bodyOf(operation: BatchOperation): ProductBody {
  return "body" in operation ? operation.body : {};
}

/** The operations with the ids that names stand for. One at fault gets its error. */
async function findIds(
  tx: Transaction,
  operations: readonly (BatchOperation | ApiError)[],
  results: BatchResults,
): Promise<Placed[]> {
  const found = await findNamed(
    tx,
    operations.map((operation): Write | ApiError => {
      if (operation instanceof ApiError) return operation;
      const body = bodyOf(operation);
      return operation.method === "update"
        ? { method: "update", id: operation.id, body }
        // Whether the entries of an upsert exist is not known yet.
        : { method: "create", id: uuidv7(), body, kept: {} };
    }),
  );
  return found.flatMap((named, index): Placed[] => {
    if (named instanceof ApiError) {
      results.fail(index, named);
      return [];
    }
    const operation = operations[index] as BatchOperation;
    return "body" in operation
      ? [{ index, operation: { ...operation, body: named.body } }]
      : [{ index, operation }];
  });
}

/** Writes the changes of operations, and adds their results. */
async function write(
  tx: Transaction,
  changing: readonly Changing[],
  results: BatchResults,
): Promise<void> {
  const { done, faults, sizes } = await writeTogether(
    tx,
    changing,
    restoreOnix(tx),
  );
  for (const [{ index }, fault] of faults) results.fail(index, fault);
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

/**
 * Plans the operations up to the first one that depends on another's changes. Operations
 * that change nothing get their results.
 */
async function plan(
  tx: Transaction,
  items: readonly Placed[],
  results: BatchResults,
  ignoreForm: BatchOptions["ignoreForm"],
): Promise<{ changing: Changing[]; later: Placed[] }> {
  const found = await lockMatches(tx, items);
  const { now, later } = independentPrefix(items, found);
  const restored = await planRestores(tx, now, results);
  const planned = now.flatMap((item) => {
    const change = restored.get(item) ?? changeOf(item, found, results);
    return change ? [{ ...item, change }] : [];
  });
  for (const { change, index } of planned) {
    if (isFormUnused(change, found)) ignoreForm(index);
  }
  const valid = await checkPreconditions(tx, planned, results);
  const changed = new Set(
    valid.flatMap(({ change }) => change.method === "update" ? change.id : []),
  );
  results.expect(
    found.reduce(
      (sum, { id, bytes }) => changed.has(id) ? sum + (bytes ?? 0) : sum,
      0,
    ),
  );
  return { changing: await withChanges(tx, valid, found, results), later };
}

/**
 * Locks the products that the operations address, in the order of their ids, and returns
 * their values after that, and the sizes of their documents, valid or not.
 */
async function lockMatches(
  tx: Transaction,
  items: readonly Placed[],
): Promise<FoundProduct[]> {
  const ids: string[] = [];
  const keys: ProductKey[] = [];
  const locks: LockKey[] = [];
  for (const { operation } of items) {
    if (operation.method === "restore") locks.push(restoring(operation));
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

/** What the operations restore. One that restores nothing gets its result. */
async function planRestores(
  tx: Transaction,
  items: readonly Placed[],
  results: BatchResults,
): Promise<Map<Placed, Change>> {
  const changes = new Map<Placed, Change>();
  const restores = items.flatMap((item) =>
    item.operation.method === "restore"
      ? [{ item, restoration: item.operation }]
      : []
  );
  if (restores.length === 0) return changes;
  const planned = await planRestorations(
    tx,
    restores.map(({ restoration }) => restoration),
    (bytes) => results.expect(bytes),
  );
  restores.forEach(({ item }, i) => {
    const plan = planned[i]!;
    if (plan instanceof ApiError) results.fail(item.index, plan);
    else if (plan.isDone) {
      results.succeed(item.index, 200, plan.change.id, plan.bytes);
    } else changes.set(item, plan.change);
  });
  return changes;
}

/** The keys by which an upsert would find the written product. */
function writtenKeys(operation: BatchOperation): ProductKey[] {
  return isbnKeys(bodyOf(operation));
}

/** The longest prefix whose operations address and write different products and keys. */
function independentPrefix(
  items: readonly Placed[],
  found: readonly FoundProduct[],
): { now: Placed[]; later: Placed[] } {
  const written = new Set<string>();
  for (const [at, { operation }] of items.entries()) {
    const touched = [
      ...found.filter((product) => addresses(operation, product))
        .map(({ id }) => id),
      ...operation.method === "upsert" ? [nameOf(operation.key)] : [],
      // A product that an earlier operation restores is not found yet.
      ..."id" in operation ? [operation.id] : [],
    ];
    if (touched.some((name) => written.has(name))) {
      return { now: items.slice(0, at), later: items.slice(at) };
    }
    const names = writtenKeys(operation).map(nameOf);
    for (const name of [...touched, ...names]) written.add(name);
  }
  return { now: [...items], later: [] };
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

function nameOf({ match, value }: ProductKey): string {
  return `${match} ${value}`;
}

/** What becomes of the product of an operation. One that changes none gets its result. */
function changeOf(
  { index, operation }: Placed,
  found: readonly FoundProduct[],
  results: BatchResults,
): Change | undefined {
  const meant = found.filter((product) => addresses(operation, product));
  const id = meant[0]?.id;
  switch (operation.method) {
    case "create":
      return { method: "create", id: uuidv7(), body: operation.body };
    case "update":
      if (id) return { method: "update", id, body: operation.body };
      return void results.fail(index, productNotFound(operation.id));
    case "restore":
      return;
    case "delete": {
      if (id) return { method: "delete", id };
      const failed = operation.precondition?.();
      if (failed) return void results.fail(index, failed);
      return void results.delete(index, operation.sentId, false);
    }
    case "upsert": {
      const { key, body, creationError } = operation;
      if (meant.length > 1) {
        return void results.fail(index, ambiguous(key, meant));
      }
      if (id) return { method: "update", id, body, isWhole: true };
      if (creationError) return void results.fail(index, creationError);
      return { method: "create", id: uuidv7(), body, key };
    }
  }
}

/** The error of a key that several products have. */
function ambiguous({ field }: MatchedKey, products: readonly FoundProduct[]) {
  const message = sharedBy("ISBN", products);
  return new ApiError("AMBIGUOUS", message, {
    details: [detailAt(`/${field}`, `ambiguous: ${message}`)],
  });
}

/** Whether the product has no format that could store its product form. */
function isFormUnused(change: Change, found: readonly FoundProduct[]): boolean {
  if (change.method === "delete") return false;
  const stored = found.find(({ id }) => id === change.id)?.format_id ?? null;
  const { product_form_id, format_id = stored } = change.body;
  return !!product_form_id && format_id === null;
}

/** The operations whose precondition holds (RFC 9110, 13). The others get their result. */
async function checkPreconditions(
  tx: Transaction,
  changing: readonly Changing[],
  results: BatchResults,
): Promise<Changing[]> {
  const ids = changing.flatMap(({ operation, change }) =>
    preconditionOf(operation) ? change.id : []
  );
  const tags = ids.length > 0 ? await readTags(tx, ids) : new Map();
  return changing.filter(({ index, operation, change }) => {
    const failed = preconditionOf(operation)?.(tags.get(change.id));
    if (failed) results.fail(index, failed);
    return !failed;
  });
}

function preconditionOf(operation: BatchOperation): Precondition | undefined {
  return "precondition" in operation ? operation.precondition : undefined;
}

/** The operations that change something. An upsert that changes nothing gets its result. */
async function withChanges(
  tx: Transaction,
  planned: readonly Changing[],
  found: readonly FoundProduct[],
  results: BatchResults,
): Promise<Changing[]> {
  const upserts = new Map<string, { item: Placed; change: Update }>();
  const changing: Changing[] = [];
  for (const item of planned) {
    const { change } = item;
    if (change.method === "update" && item.operation.method === "upsert") {
      upserts.set(change.id, { item, change });
    } else changing.push(item);
  }
  const sizes = found.filter(({ id }) => upserts.has(id));
  for await (const products of readInGroups(tx, sizes)) {
    for (const { id, product } of products) {
      const { item, change } = upserts.get(id)!;
      const stored = parseExact(product) as Entry;
      const body = guarded(
        () => changedFields(stored, change.body),
        () => void results.fail(item.index, failure()),
      );
      if (!body) continue;
      if (Object.keys(body).length > 0) {
        changing.push({ ...item, change: { ...change, body } });
      } else {
        const bytes = Buffer.byteLength(product);
        results.succeed(item.index, 200, id, bytes);
      }
    }
  }
  return changing;
}
