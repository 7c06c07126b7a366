import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ApiError, withHint } from "../schema/errors.ts";
import { organization, raw, sql, type Statement } from "./connections/sql.ts";
import { brokenConstraint } from "./connections/errors.ts";
import type { Transaction } from "./connections/transaction.ts";
import type { Queries } from "./database.ts";
import { type LongText, readLong, upTo } from "./long_text.ts";
import { MAX_RESULT_BYTES, MAX_RESULTS_BYTES } from "./sizes.ts";

/*
 * Requests with an `Idempotency-Key` (specification, 4). The first one stores its result in the
 * transaction that writes. A repetition with the same body gets that result and writes nothing.
 */

/** A request that may have an `Idempotency-Key`. */
export interface KeyedRequest {
  /** Method and path, such as `POST /products`. A key is valid for one operation. */
  operation: string;
  key: string | undefined;
  text: string;
}

/** The result of a request: the same for all requests with its key. */
export interface KeyedOutcome {
  /** The id of the created record, or null if not exactly one was created. */
  id: string | null;
  /** The data of the response, as JSON text. */
  response: string;
  /** Whether the result is that of an earlier request. */
  isReplayed: boolean;
}

/** Whether key `k` was used within 24 hours. */
const isValid = sql`k.created_at > now() - interval '24 hours'`;

/** Old responses are deleted at random, on average once per so many bytes of new ones. */
const BYTES_PER_PURGE = MAX_RESULTS_BYTES / 16;

/** The constraint that a write violates if its key is used already. */
const KEY_UNUSED = "key_unused";

/**
 * Runs `work` in a transaction, at most once per key. `work` must commit the transaction together
 * with the statements of `storeResponse`. They store the result for 24 hours, or until the
 * organization has stored 64 MiB of newer ones. Later requests with the same key and body get it.
 * If `work` leaves a long response null, `read` returns it after the transaction. Throws
 * `IDEMPOTENCY_IN_PROGRESS` while another request with the key runs, and `IDEMPOTENCY_MISMATCH` if
 * the key was used for another operation or body.
 */
export async function withIdempotencyKey(
  database: Queries,
  request: KeyedRequest,
  work: (
    tx: Transaction,
    /** `source` selects `organization_id`, `record_id` and the response as `answer`. */
    storeResponse: (source: Statement) => Statement[],
  ) => Promise<{ id: string | null; response: string | null }>,
  read?: (database: Queries, id: string) => Promise<string>,
): Promise<KeyedOutcome> {
  const hasKey = request.key !== undefined;
  const storeResponse = (source: Statement) => hasKey ? storeResult(request, source) : [];
  try {
    const result = await database.transaction(
      (tx) => work(tx, storeResponse),
      ...hasKey ? claimKey(request) : [],
    );
    const { id, response } = result;
    const size = response === null ? MAX_RESULT_BYTES : Buffer.byteLength(response);
    if (hasKey && Math.random() * BYTES_PER_PURGE < size) {
      database.inBackground(() => [deleteOldest]);
    }
    return {
      id,
      response: response ?? await read!(database, id!),
      isReplayed: false,
    };
  } catch (error) {
    if (!isKeyUsed(error)) throw error;
    return { ...await storedResult(database, request), isReplayed: true };
  }
}

/** Whether a transaction failed because another request has used its key. */
export function isKeyUsed(error: unknown): boolean {
  return brokenConstraint(error) === KEY_UNUSED;
}

/** Locks the key until the end of the transaction. Violates `key_unused` if it is locked or used. */
function claimKey({ key }: KeyedRequest): Statement[] {
  return [
    sql`
      select pg_try_advisory_xact_lock(
        hashtextextended(${organization}::uuid || ' ' || ${key}, 0)
      )::key_unused
    `,
    // A second statement sees the commit of the last holder of the lock.
    sql`
      select (count(*) = 0)::key_unused
      from idempotency_keys k
      where k.organization_id = ${organization} and k.key = ${key} and ${isValid}
    `,
  ];
}

async function storedResult(database: Queries, request: KeyedRequest) {
  const { key, operation } = request;
  const hash = hashOfRequest(request);
  type Stored = { id: string | null; response: string; is_same: boolean };
  const stored = await readLong(
    database,
    "lookUp",
    (allowed) =>
      sql<Stored & LongText>`
      select
        k.record_id as id,
        ${upTo(allowed, raw("k.answer"), "response")},
        k.operation = ${operation} and k.request_hash = decode(${hash}, 'hex') as is_same
      from idempotency_keys k
      where k.organization_id = ${organization} and k.key = ${key} and ${isValid}
    `,
  );
  if (!stored) {
    throw new ApiError(
      "IDEMPOTENCY_IN_PROGRESS",
      withHint("A request with this Idempotency-Key is still running", "retry to get its response"),
      { headers: { "retry-after": "1" } },
    );
  }
  if (stored.is_same) return { id: stored.id, response: stored.response };
  throw new ApiError(
    "IDEMPOTENCY_MISMATCH",
    withHint("This Idempotency-Key was used for another request", "use a new key"),
  );
}

/** Stores the result, and deletes up to ten expired keys. */
function storeResult(
  request: KeyedRequest,
  source: Statement,
): Statement[] {
  const { key, operation } = request;
  const hash = hashOfRequest(request);
  return [
    sql`
      delete from idempotency_keys k
      where k.organization_id = ${organization} and k.key in (
        select old.key
        from idempotency_keys old
        where old.organization_id = ${organization}
          and old.created_at < now() - interval '24 hours'
        order by old.created_at
        limit 10
        for update skip locked
      )
    `,
    sql`
      insert into idempotency_keys (organization_id, record_id, answer, key, operation, request_hash)
      select
        s.organization_id, s.record_id, s.answer,
        ${key}, ${operation}, decode(${hash}, 'hex')
      from (${source}) s
      on conflict (organization_id, key) do update set
        operation = excluded.operation,
        request_hash = excluded.request_hash,
        record_id = excluded.record_id,
        answer = excluded.answer,
        created_at = excluded.created_at
    `,
  ];
}

const keptBytes = raw(String(MAX_RESULTS_BYTES));

/** Deletes the oldest results of the organization, of which it may keep `MAX_RESULTS_BYTES`. */
export const deleteOldest = sql`
  delete from idempotency_keys k
  using (
    select x.key, sum(octet_length(x.answer)) over (order by x.created_at desc, x.key) as bytes
    from idempotency_keys x
    where x.organization_id = ${organization}
  ) kept
  where k.organization_id = ${organization} and k.key = kept.key and kept.bytes > ${keptBytes}
`;

function hashOfRequest({ text }: KeyedRequest): string {
  return createHash("sha256").update(text).digest("hex");
}
