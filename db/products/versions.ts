import { ApiError } from "../../schema/errors.ts";
import type { Choice } from "../../schema/history.ts";
import { organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type LongText, readLong, upTo } from "../long_text.ts";
import { fullProduct, sizeOfDocument } from "./document.ts";
import { productNotFound } from "./errors.ts";
import { isVersionStored, storeUnauthored } from "./store_unauthored.ts";
import { rfc3339 } from "../times.ts";

/*
 * The versions of a product are its documents (`store.ts`): that of the
 * current state, and those before it. A deletion is a version without JSON.
 */

/** Throws `CONFLICT` in a distributed database, which stores no versions. */
export async function requireHistory(database: Queries): Promise<void> {
  if (!await database.isDistributed()) return;
  throw noHistory();
}

export function noHistory(): ApiError {
  return new ApiError(
    "CONFLICT",
    "A distributed database keeps no history: it stores no versions of products",
  );
}

/** The JSON of version `d`, or null for a deletion and a product over 4 MiB. */
export const versionJson = sql`case when d.summary <> '' then ${fullProduct} end`;

/** The version, as clients know it, and its time. */
export const versionColumns = sql`
  d.change_version::text as version, ${rfc3339("d.changed_at")} as at, d.event
`;

/**
 * Stores the version of a product that SQL beside the service has made since the last one,
 * before it is shown. Returns whether there was one. Under load, and without the primary, it is
 * left to the next read or write.
 */
export async function storeLatest(
  database: Queries,
  id: string,
): Promise<boolean> {
  if (await database.isDistributed()) return false;
  const [product] = await database.lookUp(sql<{ is_stored: boolean }>`
    select ${isVersionStored} as is_stored
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
  `);
  if (!product || product.is_stored) return false;
  await database.inBackground(storeUnauthored([id]));
  return true;
}

/** The condition that version `d` is the chosen one, or was made before that time. */
export function isChosen({ version, at }: Choice): Statement {
  return version === undefined
    ? sql`d.changed_at <= ${at}::timestamptz`
    : sql`d.change_version = ${version}::bigint`;
}

interface PastRow extends LongText {
  product: string | null;
  is_there: boolean;
}

/**
 * The product as a version shows it, or as it was shown at a time. Throws `NOT_FOUND` where
 * there was none, and `HISTORY_EXPIRED` where that is older than what is kept.
 */
export async function getPastProduct(
  database: Queries,
  id: string,
  choice: Choice,
): Promise<string> {
  await requireHistory(database);
  await storeLatest(database, id);
  const found = await readLong(
    database,
    "lookUp",
    (allowed) =>
      sql<PastRow>`
      select d.summary <> '' as is_there, ${upTo(allowed, fullProduct, "product", sizeOfDocument)}
      from product_documents d
      where d.organization_id = ${organization} and d.product_id = ${id} and ${isChosen(choice)}
      order by d.change_version desc
      limit 1
    `,
  );
  if (found?.is_there) return found.product!;
  const [oldest] = await database.lookUp(oldestVersion(id));
  throw noStateThen(id, choice, oldest);
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

/** The error of a choice that finds no state of the product. */
export function noStateThen(
  id: string,
  { version, at }: Choice,
  oldest: OldestVersion | undefined,
): ApiError {
  if (!oldest) return productNotFound(id);
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
      ? `The product "${id}" has no version as old as ${at}`
      : `The product "${id}" has no state of the version ${version}`,
  );
}

/** The size of the versions that a page reads at once, in bytes. */
export const VERSIONS_BYTES = 8 * 2 ** 20;

export const versionsBytes = raw(String(VERSIONS_BYTES));
