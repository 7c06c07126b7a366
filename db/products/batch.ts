import { Buffer } from "node:buffer";
import { failedAt, type Match } from "../../schema/batch.ts";
import type { Entry, ProductBody } from "../../schema/bodies.ts";
import {
  ApiError,
  detailAt,
  invalidAt,
  unavailable,
} from "../../schema/errors.ts";
import { sentField } from "../../schema/named.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isOneOf, organization, sql } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import type { Precondition } from "../entity_tag.ts";
import {
  type KeyedOutcome,
  type KeyedRequest,
  MAX_STORED_BYTES,
  withIdempotencyKey,
} from "../idempotency.ts";
import { MAX_BYTES } from "../long_text.ts";
import { uuidv7 } from "../uuid.ts";
import {
  type ProductJson,
  productNotFound,
  readInGroups,
  readTags,
  selectProducts,
  sizeOfStored,
} from "./documents.ts";
import {
  hasKey,
  isbnKeys,
  isFoundBy,
  type KeyedProduct,
  type ProductKey,
  sharedBy,
} from "./keys.ts";
import { findNamed } from "./names.ts";
import { changedFields } from "./upsert.ts";
import {
  lockAndFind,
  type Write,
  writeTogether,
  type Written,
} from "./write_together.ts";

/** An operation of a batch: the product that it addresses, and what becomes of it. */
export interface BatchOperation {
  /** The id of the product, in lower case. */
  id?: string;
  /** The value by which an upsert finds the product. */
  key?: MatchedKey;
  /** The body for an existing product. */
  updated?: ProductBody;
  /** The body of a new product, or its error. Absent for an operation that creates none. */
  created?: ProductBody | ApiError;
  /** For a deletion, the id as the client sent it. */
  deletedAs?: string;
  precondition?: Precondition | undefined;
}

/** A key, and the field of the body that has it. */
export interface MatchedKey extends ProductKey {
  field: Match;
}

interface BatchItem extends BatchOperation {
  /** Its place in the batch. */
  index: number;
  /** The field that says the product form. */
  formField: string;
}

type PlannedWrite =
  & Write
  & Pick<BatchItem, "index" | "formField" | "deletedAs" | "precondition">;

/** An existing product, with what an upsert can match, and its size. */
interface FoundProduct extends KeyedProduct {
  id: string;
  format_id: string | null;
  bytes: number | null;
}

/** The options of a batch. */
export interface BatchOptions {
  /** Whether the results contain only the products' ids. */
  isMinimal: boolean;
  /** Whether an operation that fails fails the whole batch. */
  isAtomic: boolean;
  /** Called with a field that has no effect on a product. */
  ignore: (field: string) => void;
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
  { isMinimal, isAtomic, ignore, request }: BatchOptions,
): Promise<KeyedOutcome> {
  const isKept = request.key !== undefined;
  let results: BatchResults;
  return await withIdempotencyKey(
    database,
    request,
    async (tx, storeResponse) => {
      results = new BatchResults({ isKept, isMinimal, isAtomic });
      const items = operations.flatMap((operation, index): BatchItem[] => {
        if (!(operation instanceof ApiError)) {
          const formField = sentField(
            writtenBody(operation),
            "product_form_id",
          );
          return [{ ...operation, index, formField }];
        }
        results.fail(index, operation);
        return [];
      });
      let next = await findIds(tx, items, results);
      while (next.length > 0) {
        const { writes, later } = await plan(tx, next, results, ignore);
        results.add(await writeTogether(tx, writes));
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

/** What an operation writes. */
function writtenBody({ updated, created }: BatchOperation): ProductBody {
  return updated ?? (created instanceof ApiError ? {} : created ?? {});
}

/** The operations with the ids that names stand for. One at fault gets its error. */
async function findIds(
  tx: Transaction,
  items: readonly BatchItem[],
  results: BatchResults,
): Promise<BatchItem[]> {
  const found = await findNamed(
    tx,
    items.map((item) => ({
      id: item.id ?? uuidv7(),
      body: writtenBody(item),
      isNew: item.id === undefined,
      // Whether the entries of an upsert exist is not known yet.
      restored: {},
    })),
  );
  return items.flatMap((item, i) => {
    const change = found[i]!;
    if (change instanceof ApiError) {
      results.fail(item.index, change);
      return [];
    }
    const { updated, created } = item;
    const { body } = change;
    return {
      ...item,
      ...updated && { updated: body },
      ...created && !(created instanceof ApiError) && { created: body },
    };
  });
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

interface ResultOptions extends Pick<BatchOptions, "isMinimal" | "isAtomic"> {
  /** Whether the results are stored for an `Idempotency-Key`. */
  isKept: boolean;
}

class BatchResults {
  readonly #options: ResultOptions;
  readonly #texts: string[] = [];
  /** The results that are the JSON of a product, by index. */
  readonly #products = new Map<number, { status: 200 | 201; id: string }>();
  #bytes = 0;
  #expected = 0;

  constructor(options: ResultOptions) {
    this.#options = options;
  }

  /** The size of the results in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get ids(): string[] {
    return [...new Set(Array.from(this.#products.values(), ({ id }) => id))];
  }

  /**
   * Expects to write products of this size in all. Throws `VALIDATION_ERROR` if they are
   * too large to be written or returned, before any is read.
   */
  expect(bytes: number): void {
    this.#expected += bytes;
    if (this.#expected > MAX_BYTES) {
      throw invalidAt(
        "/operations",
        "too_large: The products have more than 16 MiB of JSON in all: send fewer operations",
      );
    }
    if (!this.#options.isMinimal) this.#require(this.#bytes + bytes);
  }

  add({ done, faults, sizes }: Written<PlannedWrite>): void {
    for (const [{ index }, fault] of faults) this.fail(index, fault);
    for (const { index, id, isNew, deletedAs } of done) {
      if (deletedAs !== undefined) this.delete(index, deletedAs, true);
      else this.succeed(index, isNew ? 201 : 200, id, sizes.get(id)!);
    }
  }

  /** Adds the result of an operation: the product, which has this number of bytes. */
  succeed(index: number, status: 200 | 201, id: string, bytes: number): void {
    if (this.#options.isMinimal) {
      this.#add(index, status, JSON.stringify({ id }));
    } else {
      this.#products.set(index, { status, id });
      this.#bytes += bytes;
      this.#require(this.#bytes);
    }
  }

  delete(index: number, id: string, deleted: boolean): void {
    this.#add(index, 200, JSON.stringify({ id, deleted }));
  }

  /** Adds the error of an operation, or throws it for the whole batch. */
  fail(index: number, error: ApiError): void {
    if (this.#options.isAtomic) throw failedAt(index, error);
    const { status, code, message, details } = error;
    const text = JSON.stringify({ code, message, details });
    this.#texts[index] = `{"status":${status},"error":${text}}`;
    this.#bytes += Buffer.byteLength(this.#texts[index]);
    this.#require(this.#bytes);
  }

  #add(index: number, status: 200 | 201, data: string): void {
    this.#texts[index] = resultOf(status, data);
    this.#bytes += this.#texts[index].length;
  }

  #require(bytes: number): void {
    const { isKept } = this.#options;
    if (bytes <= (isKept ? MAX_STORED_BYTES : MAX_BYTES)) return;
    const size = isKept
      ? "1 MiB, the most that is kept for an Idempotency-Key"
      : "16 MiB";
    throw invalidAt(
      "/return",
      `too_large: The response would be larger than ${size}: send "return": "minimal" or fewer operations`,
    );
  }

  /** The results as a JSON array. A product that was deleted meanwhile is its id alone. */
  toString(products: readonly ProductJson[]): string {
    const byId = new Map(products.map(({ id, product }) => [id, product]));
    for (const [index, { status, id }] of this.#products) {
      const product = byId.get(id) ?? JSON.stringify({ id });
      this.#texts[index] = resultOf(status, product);
    }
    // Unlike `join`, this does not copy long texts.
    return `[${this.#texts.reduce((before, text) => `${before},${text}`)}]`;
  }
}

function resultOf(status: 200 | 201, data: string): string {
  return `{"status":${status},"data":${data}}`;
}

/**
 * Plans the operations up to the first one that depends on another's writes. Operations
 * that write nothing get their results.
 */
async function plan(
  tx: Transaction,
  items: readonly BatchItem[],
  results: BatchResults,
  ignore: BatchOptions["ignore"],
): Promise<{ writes: PlannedWrite[]; later: BatchItem[] }> {
  const found = await lockMatches(tx, items);
  const { now, later } = independentPrefix(items, found);
  const planned = now.flatMap((item) => writeOf(item, found, results));
  for (const write of planned) {
    if (isFormUnused(write, found)) ignore(write.formField);
  }
  const valid = await checkPreconditions(tx, planned, results);
  const changed = new Set(
    valid.flatMap(({ id, isDeleted }) => isDeleted ? [] : id),
  );
  results.expect(
    found.reduce(
      (sum, { id, bytes }) => changed.has(id) ? sum + (bytes ?? 0) : sum,
      0,
    ),
  );
  return { writes: await withChanges(tx, valid, found, results), later };
}

/**
 * Locks the products that the operations address, in the order of their ids, and returns
 * their values after that, and the sizes of their documents, valid or not.
 */
async function lockMatches(
  tx: Transaction,
  items: readonly BatchItem[],
): Promise<FoundProduct[]> {
  const ids = items.flatMap(({ id }) => id ?? []);
  const keys = items.flatMap(({ key }) => key ?? []);
  if (ids.length + keys.length === 0) return [];
  return await lockAndFind(
    tx,
    items.flatMap((item) => item.key ? [item.key, ...writtenKeys(item)] : []),
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
  return isbnKeys(writtenBody(operation));
}

/** The longest prefix whose operations address and write different products and keys. */
function independentPrefix(
  items: readonly BatchItem[],
  found: readonly FoundProduct[],
): { now: BatchItem[]; later: BatchItem[] } {
  const written = new Set<string>();
  for (const [at, item] of items.entries()) {
    const touched = [
      ...found.filter((product) => addresses(item, product))
        .map(({ id }) => id),
      ...item.key ? [nameOf(item.key)] : [],
    ];
    if (touched.some((name) => written.has(name))) {
      return { now: items.slice(0, at), later: items.slice(at) };
    }
    const names = writtenKeys(item).map(nameOf);
    for (const name of [...touched, ...names]) written.add(name);
  }
  return { now: [...items], later: [] };
}

function addresses(
  { id, key }: BatchOperation,
  product: FoundProduct,
): boolean {
  return key ? isFoundBy(key, product) : product.id === id;
}

function nameOf({ match, value }: ProductKey): string {
  return `${match} ${value}`;
}

/** The write of an operation. An operation without one gets its result. */
function writeOf(
  item: BatchItem,
  found: readonly FoundProduct[],
  results: BatchResults,
): PlannedWrite[] {
  const { id, key, updated, deletedAs, index, formField, precondition } = item;
  const meant = found.filter((product) => addresses(item, product));
  const [product] = meant;
  const planned = { index, formField, precondition };
  if (meant.length > 1) results.fail(index, ambiguous(key!, meant));
  else if (product && deletedAs !== undefined) {
    const deletion = { body: {}, isNew: false, isDeleted: true, deletedAs };
    return [{ ...planned, id: product.id, ...deletion }];
  } else if (product) {
    const update = { body: updated!, isNew: false, isWhole: !!key };
    return [{ ...planned, id: product.id, ...update }];
  } else if (deletedAs !== undefined) {
    const failed = precondition?.();
    if (failed) results.fail(index, failed);
    else results.delete(index, deletedAs, false);
  } else {
    const created = item.created ?? productNotFound(id!);
    if (!(created instanceof ApiError)) {
      const creation = { body: created, isNew: true, ...key && { key } };
      return [{ ...planned, id: uuidv7(), ...creation }];
    }
    results.fail(index, created);
  }
  return [];
}

/** The error of a key that several products have. */
function ambiguous({ field }: MatchedKey, products: readonly FoundProduct[]) {
  const message = sharedBy("ISBN", products);
  return new ApiError("AMBIGUOUS", message, {
    details: [detailAt(`/${field}`, `ambiguous: ${message}`)],
  });
}

/** Whether the product has no format that could store its product form. */
function isFormUnused(
  { id, body }: PlannedWrite,
  found: readonly FoundProduct[],
): boolean {
  const stored = found.find((product) => product.id === id)?.format_id ?? null;
  const { product_form_id, format_id = stored } = body;
  return !!product_form_id && format_id === null;
}

/** The writes whose precondition holds (RFC 9110, 13). The others get their result. */
async function checkPreconditions(
  tx: Transaction,
  writes: readonly PlannedWrite[],
  results: BatchResults,
): Promise<PlannedWrite[]> {
  const ids = writes.flatMap(({ id, precondition }) => precondition ? id : []);
  const tags = ids.length > 0 ? await readTags(tx, ids) : new Map();
  return writes.filter(({ index, id, precondition }) => {
    const failed = precondition?.(tags.get(id));
    if (failed) results.fail(index, failed);
    return !failed;
  });
}

/** The writes that change something. An upsert that changes nothing gets its result. */
async function withChanges(
  tx: Transaction,
  writes: readonly PlannedWrite[],
  found: readonly FoundProduct[],
  results: BatchResults,
): Promise<PlannedWrite[]> {
  const upserts = new Map(
    writes.flatMap((write) => write.isWhole ? [[write.id, write]] : []),
  );
  const changing = writes.filter(({ isWhole }) => !isWhole);
  const sizes = found.filter(({ id }) => upserts.has(id));
  for await (const products of readInGroups(tx, sizes)) {
    for (const { id, product } of products) {
      const write = upserts.get(id)!;
      const stored = parseExact(product) as Entry;
      const body = changedFields(stored, write.body);
      if (Object.keys(body).length > 0) changing.push({ ...write, body });
      else results.succeed(write.index, 200, id, Buffer.byteLength(product));
    }
  }
  return changing;
}
