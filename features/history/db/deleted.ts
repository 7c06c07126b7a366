import {
  changedBy,
  type DeletedQuery,
  type HistoryCursor,
  historyCursor,
  type VersionAuthor,
} from "../schema/history.ts";
import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import type { Queries } from "../../../db/database.ts";
import { parseProduct } from "../../../db/products/documents/document.ts";
import type { Pace } from "../../../schema/turns.ts";
import { rfc3339 } from "../../../db/times.ts";
import { joinVersionBefore } from "../../../db/products/documents/insert_versions.ts";
import { authorColumns, type HistoryPage, keyOfAuthor } from "./history.ts";
import { positionOf } from "./pieces.ts";

/* The products that are deleted and can be restored. */

interface DeletedRow extends VersionAuthor {
  id: string;
  deleted_at: string;
  request_id: string | null;
  summary: string | null;
  /** From the feed's record of the deletion, which also has those of a product without a version. */
  isbn13: string | null;
  product_code: string | null;
  record_reference: string | null;
}

/** The products that are deleted, newest first. */
export async function listDeleted(
  database: Queries,
  { limit, after }: DeletedQuery,
  pace: Pace,
): Promise<HistoryPage> {
  const rows = await database.scan(selectDeleted(after, limit + 1));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const entries: string[] = [];
  for (const row of shown) {
    const { id, deleted_at, operation, request_id, record_reference } = row;
    const product = row.summary ? await parseProduct(row.summary, pace) : {};
    const { title = null, isbn13, product_code } = product;
    entries.push(JSON.stringify({
      id,
      title,
      isbn13: isbn13 ?? row.isbn13,
      product_code: product_code ?? row.product_code,
      record_reference,
      deleted_at,
      deleted_by: changedBy(row),
      operation,
      request_id,
    }));
  }
  return {
    entries,
    cursor: last && historyCursor({ at: last.deleted_at, id: last.id }),
    more: rows.length > limit,
  };
}

function selectDeleted(
  after: HistoryCursor | undefined,
  limit: number,
): Statement<DeletedRow> {
  const older = after ? sql`and (d.changed_at, d.product_id) < ${positionOf(after)}` : [];
  return sql`
    select
      d.product_id as id, ${rfc3339("d.changed_at")} as deleted_at, ${authorColumns},
      d.summary, x.isbn13, x.product_code, coalesce(
        d.onix -> 'onix_records' -> 0 ->> 'record_reference', x.record_reference
      ) as record_reference
    from (
      select
        d.product_id, d.changed_at, d.changed_by, d.operation, d.request_id, d.source, d.restored_from, d.onix,
        '{' || l.summary || '}' as summary
      from product_documents d
      ${joinVersionBefore("d", "l", ["event", "summary"], "and l.event <> 'deleted'")}
      where d.organization_id = ${organization} and d.event = 'deleted' ${older}
        -- Without its last state, it cannot be restored.
        and l.event is distinct from 'erased'
        and not exists (
          select from product_documents n
          where n.organization_id = ${organization} and n.product_id = d.product_id
            and n.change_version > d.change_version
        )
        and not exists (
          select from products p where p.organization_id = ${organization} and p.id = d.product_id
        )
      order by d.changed_at desc, d.product_id desc
      limit ${limit}::bigint
    ) d
    left join product_deletions x on x.organization_id = ${organization} and x.product_id = d.product_id
    ${keyOfAuthor}
    order by d.changed_at desc, d.product_id desc
  `;
}
