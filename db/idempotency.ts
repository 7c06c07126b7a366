import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ApiError } from "../schema/errors.ts";
import { organization, sql, type Statement } from "./connections/sql.ts";
import type { Transaction } from "./connections/transaction.ts";

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** Method and path, such as `POST /products`: a key is good for one of them. */
  operation: string;
  key: string;
  /** The body as it was sent. */
  text: string;
}

/** What an earlier request with the key was answered. */
export interface EarlierAnswer {
  /** The record that it created; null where it was not exactly one. */
  record_id: string | null;
  /** The data of the answer, as JSON text. */
  answer: string;
}

interface Earlier extends EarlierAnswer {
  operation: string;
  request_hash: Uint8Array;
}

/**
 * Takes the key until the transaction ends, and gives the outcome of an earlier
 * request with this key and body, for 24 hours. Throws `IDEMPOTENCY_IN_PROGRESS`
 * while another request with the key runs, and `IDEMPOTENCY_MISMATCH` for
 * another operation or body.
 */
export async function claim(
  tx: Transaction,
  request: KeyedRequest,
): Promise<EarlierAnswer | undefined> {
  const [[lock], [earlier]] = await tx.send(lockKey(request), find(request));
  if (!lock?.is_mine) {
    throw new ApiError(
      "IDEMPOTENCY_IN_PROGRESS",
      "A request with this Idempotency-Key is still running: ask again for its answer",
      { headers: { "retry-after": "1" } },
    );
  }
  if (!earlier) return;
  const isSame = earlier.operation === request.operation &&
    Buffer.from(earlier.request_hash).equals(hashOf(request));
  if (!isSame) {
    throw new ApiError(
      "IDEMPOTENCY_MISMATCH",
      "This Idempotency-Key was used with another body: use a new key for a new request",
    );
  }
  return earlier;
}

function lockKey({ key }: KeyedRequest) {
  return sql<{ is_mine: boolean }>`
    select pg_try_advisory_xact_lock(
      hashtextextended(${organization}::uuid || ' ' || ${key}, 0)
    ) as is_mine
  `;
}

/** A statement of its own: it sees what the last holder of the lock has committed. */
function find({ key }: KeyedRequest) {
  return sql<Earlier>`
    select k.operation, k.request_hash, k.record_id, k.answer
    from idempotency_keys k
    where k.organization_id = ${organization} and k.key = ${key}
      and k.created_at > now() - interval '24 hours'
  `;
}

/**
 * Remembers the answer for a day, and forgets a few keys that are older. `source`
 * selects it: `organization_id`, `record_id` and `answer`.
 */
export function remember(
  request: KeyedRequest,
  source: Statement,
): Statement[] {
  return [
    sql`
      delete from idempotency_keys k
      where k.organization_id = ${organization} and k.key in (
        select old.key
        from idempotency_keys old
        where old.organization_id = ${organization}
          and old.created_at < now() - interval '24 hours'
          and old.key <> ${request.key}
        order by old.created_at
        limit 10
        for update skip locked
      )
    `,
    sql`
      insert into idempotency_keys (organization_id, record_id, answer, key, operation, request_hash)
      select
        s.organization_id, s.record_id, s.answer,
        ${request.key}, ${request.operation}, ${hashOf(request)}::bytea
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

function hashOf({ text }: KeyedRequest): Buffer {
  return createHash("sha256").update(text).digest();
}
