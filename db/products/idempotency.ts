import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ApiError } from "../../schema/errors.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  key: string;
  /** The body as it was sent. */
  text: string;
}

interface Earlier {
  request_hash: Uint8Array;
  product_id: string;
  product: string;
}

/**
 * Takes the key until the transaction ends, and gives the outcome of an earlier
 * request with this key and body, for 24 hours. Throws `IDEMPOTENCY_IN_PROGRESS`
 * while another request with the key runs, and `IDEMPOTENCY_MISMATCH` for
 * another body.
 */
export async function claim(
  tx: Transaction,
  request: KeyedRequest,
): Promise<{ id: string; product: string } | undefined> {
  const [[lock], [earlier]] = await tx.send(lockKey(request), find(request));
  if (!lock?.is_mine) {
    throw new ApiError(
      "IDEMPOTENCY_IN_PROGRESS",
      "A request with this Idempotency-Key is still running: ask again for its answer",
      { headers: { "retry-after": "1" } },
    );
  }
  if (!earlier) return;
  if (!Buffer.from(earlier.request_hash).equals(hashOf(request))) {
    throw new ApiError(
      "IDEMPOTENCY_MISMATCH",
      "This Idempotency-Key was used with another body: use a new key for a new request",
    );
  }
  return { id: earlier.product_id, product: earlier.product };
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
    select k.request_hash, k.product_id, k.product
    from idempotency_keys k
    where k.organization_id = ${organization} and k.key = ${key}
      and k.created_at > now() - interval '24 hours'
  `;
}

/** Remembers the product that is `built` in the same statement. */
export function rememberAnswer(request: KeyedRequest): Statement {
  const columns = {
    record_id: sql`b.id`,
    answer: sql`'{' || b.summary || ',' || b.details || '}'`,
  };
  return sql`, ${rememberingFrom(request, columns, sql`from built b`)}`;
}

/**
 * The part of a statement that remembers an answer until the next day, and
 * forgets a few that are older: `record_id` and `answer` are expressions over
 * the row of `source`, a clause that begins with `from`.
 */
export function rememberingFrom(
  request: KeyedRequest,
  { record_id, answer }: Record<"record_id" | "answer", Statement>,
  source: Statement,
): Statement {
  return sql`
    forgotten as (
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
    ),
    remembered as (
      insert into idempotency_keys (organization_id, key, request_hash, product_id, product)
      select
        ${organization}::uuid, ${request.key}, ${
    hashOf(request)
  }, ${record_id}, ${answer}
      ${source}
      on conflict (organization_id, key) do update set
        request_hash = excluded.request_hash,
        product_id = excluded.product_id,
        product = excluded.product,
        created_at = excluded.created_at
    )
  `;
}

function hashOf({ text }: KeyedRequest): Buffer {
  return createHash("sha256").update(text).digest();
}
