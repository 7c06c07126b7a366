import { Buffer } from "node:buffer";
import type { Match } from "../../schema/batch.ts";
import type { ProductBody } from "../../schema/bodies.ts";
import { ApiError, invalid, unavailable } from "../../schema/errors.ts";
import {
  isOneOf,
  json,
  organization,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import type { Queries } from "../database.ts";
import type { Precondition } from "../entity_tag.ts";
import {
  type KeyedRequest,
  MAX_STORED_BYTES,
  type Outcome,
  withIdempotencyKey,
} from "../idempotency.ts";
import { MAX_BYTES } from "../long_text.ts";
import { uuidv7 } from "../uuid.ts";
import { assertCount, type Change } from "./change.ts";
import {
  currentProducts,
  fullProduct,
  groupsOf,
  notFound,
  productId,
  type ProductJson,
  readTags,
  storeWritten,
} from "./documents.ts";
import {
  findErrors,
  idsInPrograms,
  inProgram,
  isViolation,
  TOO_LARGE,
} from "./errors.ts";
import { lockKeys, type ProductKey } from "./keys.ts";
import { changedFields } from "./upsert.ts";
import { writeProducts } from "./write.ts";

/** An operation of a batch. Ids are in lower case, except `sentId`. */
export type Operation =
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
  | Key & {
    method: "upsert";
    /** The body if the product exists. */
    updated: ProductBody;
    /** The body if the product does not exist, or its error. */
    created: ProductBody | ApiError;
  };

/** The field and value that an upsert matches. */
type Key = ProductKey<Match>;

/** An operation and its index in the batch. */
interface Item {
  index: number;
  operation: Operation;
}

/** What an operation does to one product. */
interface Write extends Change {
  index: number;
  /** For a deletion, the id as the client sent it. */
  deletedAs?: string;
  precondition?: Precondition | undefined;
  /** The size of the stored product, or null if it is unknown. */
  bytes?: number | null;
  /** For the product that an upsert creates, what no other product may have. */
  key?: Key;
}

/** An existing product, with the fields that an upsert can match, and its size. */
interface Found extends Record<Match, string | null> {
  id: string;
  format_id: string | null;
  bytes: number | null;
}

/** The options of a batch. */
export interface BatchOptions {
  /** Whether the results contain only the products' ids. */
  isMinimal: boolean;
  /** Makes the error that fails the whole batch when an operation fails. Absent, operations fail separately. */
  failWith?: ((index: number, error: ApiError) => ApiError) | undefined;
  /** Called with a field that has no effect on a product. */
  ignore: (field: string) => void;
  request: KeyedRequest;
}

/**
 * Executes the operations in one transaction and returns their results as a JSON
 * array. Operations on the same product run in their order. Without `failWith`, a
 * failed operation does not affect the others. If the database fails, nothing is
 * written. Requests with the same `Idempotency-Key` write once. Throws
 * `VALIDATION_ERROR`, and writes nothing, if the products that it writes or the results
 * exceed 16 MiB, or the results 1 MiB with a key.
 *
 * A batch begins again, with more memory, if the products or results need more than is
 * reserved.
 */
export async function writeBatch(
  database: Queries,
  operations: readonly (Operation | ApiError)[],
  options: BatchOptions,
): Promise<Outcome> {
  const { memory } = database;
  let allowed = memory?.bytes ?? MAX_BYTES;
  while (true) {
    try {
      return await writeWithin(allowed, database, operations, options);
    } catch (error) {
      if (!(error instanceof MemoryShortage)) throw error;
      allowed = error.bytes;
      await memory?.reserve(allowed);
    }
  }
}

/** What a batch may add to the sizes of its products before it needs more memory. */
const GROWTH = 65_536;

/** A batch needs memory for this number of bytes. */
class MemoryShortage extends Error {
  override readonly name = "MemoryShortage";
  readonly bytes: number;

  constructor(bytes: number) {
    super(`The batch needs memory for ${bytes} bytes`);
    this.bytes = bytes;
  }
}

/** Executes the operations with memory for this number of bytes. Throws `MemoryShortage`. */
async function writeWithin(
  allowed: number,
  database: Queries,
  operations: readonly (Operation | ApiError)[],
  { isMinimal, failWith, ignore, request }: BatchOptions,
): Promise<Outcome> {
  return await withIdempotencyKey(
    database,
    request,
    async (tx, storeResponse) => {
      const isKept = request.key !== undefined;
      const results = new Results(allowed, { isKept, isMinimal, failWith });
      let rest = operations.flatMap((operation, index): Item[] => {
        if (!(operation instanceof ApiError)) return [{ index, operation }];
        results.fail(index, operation);
        return [];
      });
      while (rest.length > 0) {
        const found = await lockFound(tx, rest);
        const { now, later } = independentPrefix(rest, found);
        const writes = now.flatMap((item) => writeOf(item, found, results));
        if (writes.some((write) => isFormUnused(write, found))) {
          ignore("product_form_id");
        }
        const valid = await checkPreconditions(tx, writes, results);
        results.expect(valid);
        const changing = await withChanges(tx, valid, results);
        await writeAll(tx, changing, results);
        rest = later;
      }
      const response = results.toString();
      await tx.commit(...storeResponse(sql`
        select o.id as organization_id, null::uuid as record_id, ${response}::text as answer
        from organizations o
        where o.id = ${organization}
      `));
      return { id: null, response };
    },
  );
}

/** The results of the operations, as JSON text. */
class Results {
  /** The size of texts that may be read at once, in bytes. */
  readonly allowed: number;
  readonly isMinimal: boolean;
  readonly #texts: string[] = [];
  readonly #isKept: boolean;
  readonly #failWith: BatchOptions["failWith"];
  #bytes = 0;
  #expected = 0;

  /** `isKept` if the results are stored for an `Idempotency-Key`. */
  constructor(
    allowed: number,
    { isKept, isMinimal, failWith }:
      & Pick<BatchOptions, "isMinimal" | "failWith">
      & { isKept: boolean },
  ) {
    this.allowed = allowed;
    this.isMinimal = isMinimal;
    this.#isKept = isKept;
    this.#failWith = failWith;
  }

  /**
   * Expects the products of these writes among the results. Throws `VALIDATION_ERROR` if
   * they are too large to be written or returned, before any is read.
   */
  expect(writes: readonly Write[]): void {
    const sizes = writes.filter(({ deletedAs }) => deletedAs === undefined)
      .map(({ bytes }) => bytes ?? 0);
    const bytes = sizes.reduce((total, size) => total + size, 0);
    this.#expected += bytes;
    if (this.#expected > MAX_BYTES) {
      throw invalid("The body", [{
        pointer: "/operations",
        code: "too_large",
        message:
          "The products have more than 16 MiB of JSON in all: send fewer operations",
      }]);
    }
    this.require(this.isMinimal ? Math.max(0, ...sizes) : this.#bytes + bytes);
  }

  /** Throws `MemoryShortage`, or `VALIDATION_ERROR` beyond the limit, if the texts have more bytes than allowed. */
  require(bytes: number): void {
    const limit = this.#isKept && !this.isMinimal
      ? MAX_STORED_BYTES
      : MAX_BYTES;
    if (bytes > limit) throw tooLong(this.#isKept);
    if (bytes > this.allowed) {
      throw new MemoryShortage(Math.min(limit, bytes + GROWTH));
    }
  }

  /** The bytes that may still be added. */
  get left(): number {
    return this.allowed - this.#bytes;
  }

  /** Adds the result of an operation. `data` is JSON text. */
  succeed(index: number, status: 200 | 201, data: string): void {
    this.#add(index, `{"status":${status},"data":${data}}`);
  }

  /** Adds the result of a deletion. */
  delete(index: number, id: string, deleted: boolean): void {
    this.succeed(index, 200, JSON.stringify({ id, deleted }));
  }

  /** Adds the error of an operation, or throws it for the whole batch. */
  fail(index: number, error: ApiError): void {
    if (this.#failWith) throw this.#failWith(index, error);
    const { status, code, message, details } = error;
    const result = { status, error: { code, message, details } };
    this.#add(index, JSON.stringify(result));
  }

  #add(index: number, text: string): void {
    this.#bytes += Buffer.byteLength(text);
    const limit = this.#isKept ? MAX_STORED_BYTES : MAX_BYTES;
    if (this.#bytes > limit) throw tooLong(this.#isKept);
    if (this.#bytes > this.allowed) {
      throw new MemoryShortage(Math.min(limit, 2 * this.#bytes));
    }
    this.#texts[index] = text;
  }

  toString(): string {
    return `[${this.#texts.join()}]`;
  }
}

function tooLong(isKept: boolean): ApiError {
  const size = isKept
    ? "1 MiB, the most that is kept for an Idempotency-Key"
    : "16 MiB";
  return invalid("The body", [{
    pointer: "/return",
    code: "too_large",
    message:
      `The response would be larger than ${size}: send "return": "minimal" or fewer operations`,
  }]);
}

/** Locks the products that the operations address, in the order of their ids. */
async function lockFound(
  tx: Transaction,
  items: readonly Item[],
): Promise<Found[]> {
  const ids = items.flatMap(({ operation }) =>
    "id" in operation ? operation.id : []
  );
  const keys = items.map(({ operation }) => operation)
    .filter((operation) => operation.method === "upsert");
  if (ids.length + keys.length === 0) return [];
  const locked = items.flatMap(({ operation }) => upsertedKeys(operation));
  const matches = lockMatches(ids, keys);
  const [, found] = await tx.send(lockKeys(locked), matches);
  const isFound = (id: string) => found.some((product) => product.id === id);
  if (ids.every(isFound)) return found;
  // A row that was inserted again while this transaction waited for it is seen now.
  const [foundAgain] = await tx.send(matches);
  return foundAgain;
}

/** The keys by which concurrent upserts could find a product that this operation upserts. */
function upsertedKeys(operation: Operation): Key[] {
  if (operation.method !== "upsert") return [];
  const { match, value } = operation;
  return [{ match, value }, ...writtenKeys(operation)];
}

/** The keys by which an upsert would find the written product. */
function writtenKeys(operation: Operation): Key[] {
  if (operation.method === "delete") return [];
  const body = operation.method === "upsert"
    ? operation.updated
    : operation.body;
  return (["isbn13", "isbn10"] as const).flatMap((match) => {
    const value = body[match];
    return typeof value === "string" ? [{ match, value }] : [];
  });
}

/**
 * Locks the products with these ids and keys, and returns their values after the lock, and
 * the sizes of their documents, valid or not. It
 * is not prepared: a plan cached while the table was small would scan it when it is large.
 */
function lockMatches(
  ids: readonly string[],
  keys: readonly Key[],
): Statement<Found> {
  return unprepared(sql`
    select
      p.id, p.isbn13, p.isbn10, p.product_code, p.format_id,
      (
        select octet_length(d.summary) + octet_length(d.details)
        from product_documents d
        where d.organization_id = ${organization} and d.product_id = p.id
      ) as bytes
    from products p
    where p.organization_id = ${organization}
      and (p.id ${isOneOf(ids)} or ${hasKey(keys)})
    order by p.id
    for no key update
  `);
}

/** The condition that product `p` has one of the keys. */
function hasKey(keys: readonly Key[]): Statement {
  const isOneOfValues = (match: Match) => {
    const values = keys.filter((key) => key.match === match)
      .map(({ value }) => value);
    return sql`any(array(select jsonb_array_elements_text(${json(values)})))`;
  };
  return sql`(
    p.isbn13 = ${isOneOfValues("isbn13")}
    or p.isbn10 = ${isOneOfValues("isbn10")}
    or p.product_code = ${isOneOfValues("product_code")}
  )`;
}

/** The longest prefix whose operations address and write different products and keys. */
function independentPrefix(
  items: readonly Item[],
  found: readonly Found[],
): { now: Item[]; later: Item[] } {
  const written = new Set<string>();
  for (const [at, { operation }] of items.entries()) {
    const touched = [
      ...found.filter((product) => addresses(operation, product))
        .map(({ id }) => id),
      ...operation.method === "upsert" ? [nameOf(operation)] : [],
    ];
    if (touched.some((name) => written.has(name))) {
      return { now: items.slice(0, at), later: items.slice(at) };
    }
    const names = writtenKeys(operation).map(nameOf);
    for (const name of [...touched, ...names]) written.add(name);
  }
  return { now: [...items], later: [] };
}

function addresses(operation: Operation, product: Found): boolean {
  switch (operation.method) {
    case "create":
      return false;
    case "upsert":
      return product[operation.match] === operation.value;
    default:
      return product.id === operation.id;
  }
}

function nameOf({ match, value }: Key): string {
  return `${match} ${value}`;
}

/** The write of an operation. An operation without one gets its result. */
function writeOf(
  { index, operation }: Item,
  found: readonly Found[],
  results: Results,
): Write[] {
  const [product, another] = found.filter((product) =>
    addresses(operation, product)
  );
  switch (operation.method) {
    case "create":
      return [{ index, id: uuidv7(), body: operation.body, isNew: true }];
    case "update": {
      const { id, body, precondition } = operation;
      if (product) {
        const { bytes } = product;
        return [{ index, id, body, isNew: false, precondition, bytes }];
      }
      results.fail(index, notFound(id));
      return [];
    }
    case "delete": {
      const { id, sentId: deletedAs, precondition } = operation;
      if (product) {
        return [
          { index, id, body: {}, isNew: false, deletedAs, precondition },
        ];
      }
      const failed = precondition && failureOf(precondition);
      if (failed) results.fail(index, failed);
      else results.delete(index, deletedAs, false);
      return [];
    }
    case "upsert": {
      const { match, value, updated, created } = operation;
      if (another) {
        const message = `Several products have this ${match}`;
        results.fail(index, new ApiError("AMBIGUOUS", message));
        return [];
      }
      if (product) {
        const { id, bytes } = product;
        const change = { id, body: updated, isNew: false, isWhole: true };
        return [{ index, ...change, bytes }];
      }
      const error = match === "product_code"
        ? new ApiError("NOT_FOUND", `No product with the code "${value}"`)
        : created;
      if (!(error instanceof ApiError)) {
        const key = { match, value };
        return [{ index, id: uuidv7(), body: error, isNew: true, key }];
      }
      results.fail(index, error);
      return [];
    }
  }
}

/** Whether the product has no format that could store its product form. */
function isFormUnused({ id, body }: Write, found: readonly Found[]): boolean {
  const stored = found.find((product) => product.id === id)?.format_id ?? null;
  const { product_form_id, format_id = stored } = body;
  return !!product_form_id && format_id === null;
}

/** The error of a precondition for a record with this tag. */
function failureOf(
  precondition: Precondition,
  etag?: string,
): ApiError | undefined {
  try {
    precondition(etag);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** The writes whose precondition holds (RFC 9110, 13). The others get their result. */
async function checkPreconditions(
  tx: Transaction,
  writes: readonly Write[],
  results: Results,
): Promise<Write[]> {
  const ids = writes.flatMap(({ id, precondition }) => precondition ? id : []);
  const tags = ids.length > 0 ? await readTags(tx, ids) : new Map();
  return writes.filter(({ index, id, precondition }) => {
    const failed = precondition && failureOf(precondition, tags.get(id));
    if (failed) results.fail(index, failed);
    return !failed;
  });
}

/** The writes that change something. An upsert that changes nothing gets its result. */
async function withChanges(
  tx: Transaction,
  writes: readonly Write[],
  results: Results,
): Promise<Write[]> {
  const upserts = new Map(
    writes.flatMap((write) => write.isWhole ? [[write.id, write]] : []),
  );
  const changing = writes.filter(({ isWhole }) => !isWhole);
  for (const ids of groupsOf([...upserts.values()], results.allowed)) {
    const [products] = await tx.send(currentProducts(ids));
    for (const { id, product } of products) {
      const write = upserts.get(id)!;
      const body = changedFields(product, write.body);
      if (Object.keys(body).length > 0) changing.push({ ...write, body });
      else {
        const data = results.isMinimal ? JSON.stringify({ id }) : product;
        results.succeed(write.index, 200, data);
      }
    }
  }
  return changing;
}

const SAVEPOINT = sql`savepoint writes`;
const ROLLBACK = sql`rollback to savepoint writes`;

/**
 * Writes all together. If some are at fault, these get their errors, and the others are
 * written together.
 */
async function writeAll(
  tx: Transaction,
  writes: readonly Write[],
  results: Results,
): Promise<void> {
  let rest = writes;
  while (rest.length > 0) {
    const faults = await writeTogether(tx, rest, results);
    if (faults.size === 0) return;
    for (const { index, id } of rest) {
      const fault = faults.get(id);
      if (fault) results.fail(index, fault);
    }
    rest = rest.filter(({ id }) => !faults.has(id));
  }
}

type Faults = Map<string, ApiError>;

/** Writes all, or nothing if some are at fault: returns their errors by product id. */
async function writeTogether(
  tx: Transaction,
  writes: readonly Write[],
  results: Results,
): Promise<Faults> {
  const { changes, deletions } = split(writes);
  const stored = storeWritten(tx, changes, {
    returning: results.isMinimal ? productId : fullProduct,
    omitsLarge: true,
  });
  try {
    const replies = await tx.send(
      SAVEPOINT,
      ...assertNew(writes),
      ...writeProducts(tx, changes, deletions.map(({ id }) => id)),
      results.isMinimal ? stored : withinAllowed(stored, results.left),
    );
    const products = new Map(
      (replies.at(-1) as WrittenRow[]).map((row) => {
        if (row.withheld) {
          const before = results.allowed - results.left;
          results.require(before + row.withheld);
        }
        return [row.id, row.product];
      }),
    );
    const large = changes.filter(({ id }) => !products.has(id));
    if (large.length > 0) {
      await tx.send(ROLLBACK);
      return new Map(
        large.map(({ id }) => [id, invalid("The body", [TOO_LARGE])]),
      );
    }
    for (const { index, id, isNew } of changes) {
      results.succeed(index, isNew ? 201 : 200, products.get(id)!);
    }
    for (const { index, deletedAs } of deletions) {
      results.delete(index, deletedAs!, true);
    }
    return new Map();
  } catch (error) {
    if (!isViolation(error)) throw error;
    await tx.send(ROLLBACK);
    const faults = await findFaults(tx, changes, deletions);
    if (faults.size > 0) return faults;
    // The rows have changed since the violation.
    throw unavailable(
      "The products are being changed by other requests",
      error,
    );
  }
}

/** A written product, or the size of all if they have more bytes than allowed. */
interface WrittenRow extends ProductJson {
  withheld?: number | null;
}

/** The written products, without their texts if these have more bytes than `left` in all. */
function withinAllowed(stored: Statement, left: number): Statement<WrittenRow> {
  return sql`
    with w as (${stored})
    select
      w.id,
      case when sum(octet_length(w.product)) over () <= ${left}::int then w.product end as product,
      case when sum(octet_length(w.product)) over () > ${left}::int
        then (sum(octet_length(w.product)) over ())::float8
      end as withheld
    from w
  `;
}

function split(writes: readonly Write[]) {
  return {
    changes: writes.filter(({ deletedAs }) => deletedAs === undefined),
    deletions: writes.filter(({ deletedAs }) => deletedAs !== undefined),
  };
}

/** Violates `rows_found` if SQL has inserted a product with the key of one that an upsert creates. */
function assertNew(writes: readonly Write[]): Statement[] {
  const keys = writes.flatMap(({ key }) => key ? [key] : []);
  if (keys.length === 0) return [];
  const others = sql`
    from products p where p.organization_id = ${organization} and ${
    hasKey(keys)
  }
  `;
  return [unprepared(sql`select where ${assertCount(others, 0)}`)];
}

/** The errors that bodies and stored rows show, by product id. */
async function findFaults(
  tx: Transaction,
  changes: readonly Write[],
  deletions: readonly Write[],
): Promise<Faults> {
  const faults: Faults = new Map();
  const details = await findErrors(tx.send, changes);
  changes.forEach(({ id }, i) => {
    if (!details[i]) faults.set(id, notFound(id));
    else if (details[i].length > 0) {
      faults.set(id, invalid("The body", details[i]));
    }
  });
  if (deletions.length === 0) return faults;
  const [used] = await tx.send(idsInPrograms(deletions.map(({ id }) => id)));
  for (const { product_id } of used) faults.set(product_id, inProgram());
  return faults;
}
