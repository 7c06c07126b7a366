import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { ApiError } from "../../schema/errors.ts";
import type { FullProduct } from "./row.ts";
import { pipelined, type Tx } from "../connections/sql.ts";

/** A product that was created, now or by an earlier request with the same key. */
export interface Created extends FullProduct {
  /** Whether it is as it was answered then. */
  replayed: boolean;
}

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  key: string;
  /** The body, as it was sent. */
  text: string;
}

/**
 * Runs `create` for the first request with this key, and gives its outcome to
 * every later one with the same body for 24 hours. Key and product are one
 * transaction: whoever does not get the answer may ask again. Throws
 * `IDEMPOTENCY_IN_PROGRESS` while another request with the key runs, and
 * `IDEMPOTENCY_MISMATCH` for another body.
 */
export async function once(
  sql: Tx,
  organizationId: string,
  request: KeyedRequest,
  create: () => Promise<FullProduct>,
): Promise<Created> {
  const hash = createHash("sha256").update(request.text).digest();
  const earlier = await claim(sql, organizationId, request.key);
  if (earlier) {
    if (!Buffer.from(earlier.request_hash).equals(hash)) {
      throw new ApiError(
        "IDEMPOTENCY_MISMATCH",
        "This Idempotency-Key was used with another body: use a new key for a new request",
      );
    }
    return { id: earlier.product_id, product: earlier.product, replayed: true };
  }
  const created = await create();
  await remember(sql, organizationId, request.key, hash, created);
  return { ...created, replayed: false };
}

interface Earlier {
  request_hash: Uint8Array;
  product_id: string;
  product: string;
}

async function claim(
  sql: Tx,
  organizationId: string,
  key: string,
): Promise<Earlier | undefined> {
  const [lock] = await sql<{ mine: boolean }[]>`
    select pg_try_advisory_xact_lock(
      hashtextextended(${`${organizationId} ${key}`}, 0)
    ) as mine
  `;
  if (!lock?.mine) {
    throw new ApiError(
      "IDEMPOTENCY_IN_PROGRESS",
      "A request with this Idempotency-Key is still running: ask again for its answer",
      { headers: { "retry-after": "1" } },
    );
  }
  // A statement of its own: it sees what the lock's last holder has committed.
  const [earlier] = await sql<Earlier[]>`
    select k.request_hash, k.product_id, k.product
    from idempotency_keys k
    where k.organization_id = ${organizationId} and k.key = ${key}
      and k.created_at > now() - interval '24 hours'
  `;
  return earlier;
}

/** Keeps the outcome, and lets go of a few that are older than a day. */
async function remember(
  sql: Tx,
  organizationId: string,
  key: string,
  hash: Uint8Array,
  { id, product }: FullProduct,
): Promise<void> {
  await pipelined([
    sql`
      delete from idempotency_keys k
      where k.organization_id = ${organizationId} and k.key in (
        select old.key
        from idempotency_keys old
        where old.organization_id = ${organizationId}
          and old.created_at < now() - interval '24 hours'
        order by old.created_at
        limit 10
        for update skip locked
      )
    `,
    sql`
      insert into idempotency_keys (organization_id, key, request_hash, product_id, product)
      values (${organizationId}, ${key}, ${hash}, ${id}, ${product})
      on conflict (organization_id, key) do update set
        request_hash = excluded.request_hash,
        product_id = excluded.product_id,
        product = excluded.product,
        created_at = excluded.created_at
    `,
  ]);
}
