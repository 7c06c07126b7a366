import { isOneOf, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { Transaction } from "../../connections/transaction.ts";
import type { Queries } from "../../database.ts";
import { buildDocuments, maxBytes, sizeOfDocument } from "./document.ts";
import { insertBuilt, versionTime } from "./insert_versions.ts";

/*
 * Versions of changes made outside the service. SQL changes a product but stores no version of it.
 * A read that has to build the document stores the missing version (`storeDocuments`). A write that
 * finds the version missing fails (`assertVersion`), and is retried after `storeExternalChanges`
 * has added it.
 *
 * For example, `update products set title = 'B'` in psql. The next GET builds the JSON and stores
 * it, as a version without an author.
 */

/**
 * Builds the documents of these products and stores the smallest, at most 4 MiB in all, because
 * writes of the products wait for the transaction. A stored version whose names have changed since
 * keeps its author.
 *
 * The lock keeps products from being changed or deleted meanwhile. NOWAIT prevents deadlocks.
 */
export function storeDocuments(tx: Transaction, ids: readonly string[]): Statement[] {
  const isId = isOneOf(ids);
  const smallest = (condition: Statement) =>
    sql`
    select d.*
    from (
      select d.*, sum(d.size) over (order by d.size, d.product_id) as total_size
      from (
        select d.*, ${sizeOfDocument} as size
        from (${buildDocuments(condition)} offset 0) d
      ) d
    ) d
    where d.total_size <= ${maxBytes}
    order by d.product_id
  `;
  return [
    sql`
      select from products p
      where p.organization_id = ${organization} and p.id ${isId}
      order by p.id
      for share nowait
    `,
    // On Citus, a document that is too large for this would leave its version without JSON.
    ...tx.isDistributed ? storeExternalChanges(tx, ids) : [],
    ...insertExternalVersions(tx, {
      isId,
      build: smallest,
      updates: {
        // SQL has deleted the product and inserted it again.
        event: raw("case when d.event = 'deleted' then 'changed' else d.event end"),
      },
    }),
  ];
}

/**
 * Stores the missing versions of these products before they are written. A product over 4 MiB gets
 * a version without JSON.
 */
export function storeExternalChanges(
  tx: Pick<Transaction, "isDistributed">,
  ids: readonly string[],
): Statement[] {
  const small = sql`${sizeOfDocument} <= ${maxBytes}`;
  const missing = (condition: Statement) =>
    sql`
    select
      d.organization_id, d.product_id, d.change_version, d.updated_at,
      case when ${small} then d.names_version end as names_version,
      case when ${small} then d.summary else '' end as summary,
      case when ${small} then d.details else '' end as details
    from (${buildDocuments(condition)} offset 0) d
  `;
  return insertExternalVersions(tx, {
    isId: isOneOf(ids),
    condition: sql` and not ${isVersionStored}`,
    build: missing,
  });
}

/**
 * Inserts documents as versions without an author, at the product's `updated_at`. Each is a change,
 * or a creation if the product was deleted before it.
 */
function insertExternalVersions(
  tx: Pick<Transaction, "isDistributed">,
  versions: Omit<Parameters<typeof insertBuilt>[1], "values">,
): Statement[] {
  const values = {
    changed_at: versionTime(
      "case when isfinite(b.updated_at) then least(b.updated_at, now()) else now() end",
    ),
    event: raw("case when l.event <> 'deleted' then 'changed' else 'created' end"),
  };
  return insertBuilt(tx, { ...versions, values });
}

/** The stored version of product `p`. Without one, the product was changed outside the service. */
const storedVersion = sql`
  from product_documents s
  where s.organization_id = ${organization} and s.product_id = p.id
    and s.change_version = p.change_version
`;

/** The condition that the version of product `p` is stored. */
const isVersionStored = sql`exists (select ${storedVersion})`;

/** The constraint that a write violates if the version before it is not stored. */
export const VERSION_STORED = "version_stored";

/**
 * An assertion within a write. Violates `version_stored` if product `p` was changed outside the
 * service since its last version was stored. Violates `version_last` if a later transaction has
 * changed it, and the pool retries this one. It counts because the planner could hash a subselect.
 */
export const assertVersion = sql` and ((select count(*) ${storedVersion}) = 1)::version_stored
      and (p.change_version <= change_version())::version_last`;

/**
 * Stores the missing version of a product, if it was changed outside the service, before its history
 * is shown. Returns whether one was missing. Under load, and without the primary, it is left to the
 * next read or write.
 */
export async function storeLatestVersion(
  database: Queries,
  id: string,
): Promise<boolean> {
  const [product] = await database.lookUp(sql<{ is_stored: boolean }>`
    select ${isVersionStored} as is_stored
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
  `);
  if (!product || product.is_stored) return false;
  await database.inBackground((tx) => storeExternalChanges(tx, [id]));
  return true;
}
