import { ApiError, withHint } from "../../../schema/errors.ts";
import type { Choice } from "../schema/history.ts";
import { isOneOf, organization, raw, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { type LongText, readLong, upTo } from "../../../db/long_text.ts";
import { fullProduct, sizeOfDocument } from "../../../db/products/documents/document.ts";
import { productNotFound } from "../../../db/products/errors/errors.ts";
import { storeLatestVersion } from "../../../db/products/documents/external_changes.ts";
import { rfc3339 } from "../../../db/times.ts";
import { VERSIONS_BYTES } from "../../../db/sizes.ts";

/*
 * Reads versions of a product. They are its documents (`store.ts`): the current one and older ones.
 * A deletion is a version without JSON.
 */

/** The version, as clients know it, and its time. */
export const versionColumns = sql`
  d.change_version::text as version, ${rfc3339("d.changed_at")} as at, d.event
`;

/**
 * The condition that version `d` is the chosen one, or was made before the chosen time. If no
 * version lies between that time and now, all fulfil it, also those that are dated later than now. A
 * clock that was ahead and has gone back leaves such versions, and the newest is the current state.
 */
export function isChosen(id: string, { version, at }: Choice): Statement {
  if (version !== undefined) return sql`d.change_version = ${version}::bigint`;
  const time = sql`${at}::timestamptz`;
  return sql`d.changed_at <= case when exists (
    select from product_documents n
    where n.organization_id = ${organization} and n.product_id = ${id}
      and n.changed_at between least(${time}, now()) and greatest(${time}, now())
  ) then ${time} else 'infinity' end`;
}

interface PastRow extends LongText {
  product: string | null;
  event: string;
  is_there: boolean;
}

/**
 * Returns the product in a version, or at a time. Throws `NOT_FOUND` if it did not exist, and
 * `HISTORY_EXPIRED` if that is older than the kept versions.
 */
export async function getPastProduct(
  database: Queries,
  id: string,
  choice: Choice,
): Promise<string> {
  await storeLatestVersion(database, id);
  const found = await readLong(
    database,
    "lookUp",
    (allowed) =>
      sql<PastRow>`
      select d.event, d.summary <> '' as is_there, ${
        upTo(allowed, fullProduct, "product", sizeOfDocument)
      }
      from product_documents d
      where d.organization_id = ${organization} and d.product_id = ${id} and ${isChosen(id, choice)}
      order by d.change_version desc
      limit 1
    `,
  );
  if (found?.is_there) return found.product!;
  const [oldest] = await database.lookUp(oldestVersion(id));
  throw missingState(id, choice, found?.event, oldest);
}

/** The oldest version of the product that is kept. */
export interface OldestVersion {
  version: string;
  at: string;
  event: string;
}

export function oldestVersion(id: string): Statement<OldestVersion> {
  return sql`
    select ${versionColumns}
    from product_documents d
    where d.organization_id = ${organization} and d.product_id = ${id}
    order by d.change_version
    limit 1
  `;
}

/**
 * Returns the error of a choice without a state of the product. It may find an event, such as a
 * deletion.
 */
export function missingState(
  id: string,
  { version, at }: Choice,
  event: string | null | undefined,
  oldest: OldestVersion | undefined,
): ApiError {
  if (!oldest) return productNotFound(id);
  if (event === "erased") {
    return new ApiError("HISTORY_EXPIRED", "This version of the product was erased");
  }
  const isBefore = version === undefined
    ? at! < oldest.at
    : BigInt(version) < BigInt(oldest.version);
  if (isBefore && oldest.event !== "created") {
    return new ApiError(
      "HISTORY_EXPIRED",
      `The history of the product is kept from ${oldest.at} on`,
    );
  }
  return new ApiError(
    "NOT_FOUND",
    version === undefined
      ? event === "deleted"
        ? `The product "${id}" was deleted before ${at}`
        : `The product "${id}" has no version as old as ${at}`
      : `The product "${id}" has no state of the version ${version}`,
  );
}

/** Whether an error is that of this product, not that of another record. */
export function isMissing(id: string, error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "NOT_FOUND" &&
    error.message === productNotFound(id).message;
}

/**
 * Returns the errors of those of the missing products that were deleted, by their ids in lower
 * case. They say how to restore the product.
 */
export async function restoreAdvice(
  database: Pick<Queries, "lookUp">,
  ids: readonly string[],
): Promise<Map<string, ApiError>> {
  const errors = new Map<string, ApiError>();
  const deletions = await database.lookUp(sql<{ id: string; at: string }>`
    select distinct on (d.product_id) d.product_id as id, ${rfc3339("d.changed_at")} as at
    from product_documents d
    cross join lateral (
      select l.event
      from product_documents l
      where l.organization_id = ${organization} and l.product_id = d.product_id
        and l.change_version < d.change_version and l.event <> 'deleted'
      order by l.change_version desc
      limit 1
    ) l
    where d.organization_id = ${organization} and d.product_id ${isOneOf(ids)}
      and d.event = 'deleted' and l.event <> 'erased'
    order by d.product_id, d.change_version desc
  `);
  for (const { id, at } of deletions) {
    const { code, message } = productNotFound(id);
    const advice = `it was deleted at ${at}, and POST /products/${id}/restore brings it back`;
    errors.set(id, new ApiError(code, withHint(message, advice)));
  }
  return errors;
}

export const versionsBytes = raw(String(VERSIONS_BYTES));
