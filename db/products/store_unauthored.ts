import { isOneOf, organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import { buildDocuments, maxBytes, sizeOfDocument } from "./document.ts";
import { changedAfter, insertVersions } from "./insert_versions.ts";

/*
 * Versions that nobody is known to have made: SQL beside the service changes products, and stores
 * none. So reads store what they had to build (`storeDocuments`), and a write that finds that the
 * version before it is missing fails (`assertVersion`), and is repeated after `storeUnauthored`.
 */

/**
 * Builds the documents of these products, and stores the smallest, at most 4 MiB in all:
 * writes of the products wait for the transaction. A version that was stored before, with
 * names that have changed since, keeps its author.
 *
 * The lock keeps a product from being changed meanwhile, or deleted. NOWAIT prevents
 * deadlocks.
 */
export function storeDocuments(ids: readonly string[]): Statement[] {
  const isId = isOneOf(ids);
  const smallest = sql`
    select d.*
    from (
      select d.*, sum(d.size) over (order by d.size, d.product_id) as total_size
      from (
        select d.*, ${sizeOfDocument} as size
        from (${buildDocuments(isId)} and o.names_version is not null offset 0) d
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
    insertUnauthored(smallest, {
      // SQL has deleted the product and inserted it again.
      event: raw("case when d.event = 'deleted' then 'changed' else d.event end"),
    }),
  ];
}

/**
 * Stores the versions that SQL beside the service has made of these products, before they
 * are written. A product over 4 MiB leaves a version without JSON.
 */
export function storeUnauthored(ids: readonly string[]): Statement {
  const small = sql`${sizeOfDocument} <= ${maxBytes}`;
  const missing = sql`
    select
      d.organization_id, d.product_id, d.change_version, d.updated_at,
      case when ${small} then d.names_version end as names_version,
      case when ${small} then d.summary else '' end as summary,
      case when ${small} then d.details else '' end as details
    from (${buildDocuments(isOneOf(ids))} and not ${isVersionStored} offset 0) d
  `;
  return insertUnauthored(missing);
}

/**
 * Inserts documents that SQL beside the service has made, at the time that the product says. A
 * version follows another one, unless that is a deletion.
 */
function insertUnauthored(
  documents: Statement,
  updates?: Record<string, Statement>,
): Statement {
  const values = {
    changed_at: changedAfter(
      "case when isfinite(b.updated_at) then least(b.updated_at, now()) else now() end",
    ),
    event: raw("case when l.event <> 'deleted' then 'changed' else 'created' end"),
  };
  return insertVersions({ documents, values, ...updates && { updates } });
}

/** The stored version of product `p`. Without one, SQL has changed it since. */
const storedVersion = sql`
  from product_documents s
  where s.organization_id = ${organization} and s.product_id = p.id
    and s.change_version = p.change_version
`;

/** The condition that the version of product `p` is stored. */
export const isVersionStored = sql`exists (select ${storedVersion})`;

/** The constraint that a write violates if the version before it is not stored. */
export const VERSION_STORED = "version_stored";

/**
 * Violates `version_stored` if SQL beside the service has changed product `p` since its last
 * version was stored, and `version_last` if a later transaction has changed it: the pool then
 * retries this one. A count is no subselect that the planner could hash.
 */
export function assertVersion({ isDistributed }: Transaction): Statement {
  if (isDistributed) return raw("");
  return sql` and ((select count(*) ${storedVersion}) = 1)::version_stored
      and (p.change_version <= change_version())::version_last`;
}
