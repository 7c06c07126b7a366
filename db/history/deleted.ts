import {
  changedBy,
  type DeletedQuery,
  type HistoryCursor,
  historyCursor,
  type Made,
} from "../../schema/history.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { parseProduct } from "../products/document.ts";
import { requireHistory } from "../products/versions.ts";
import { rfc3339 } from "../times.ts";
import { type HistoryPage, keyOfAuthor, madeColumns } from "./history.ts";

/* The products that are deleted and can be restored. */

interface DeletedRow extends Made {
  id: string;
  deleted_at: string;
  request_id: string | null;
  summary: string | null;
  record_reference: string | null;
}

/** The products that are deleted, newest first. */
export async function listDeleted(
  database: Queries,
  { limit, after }: DeletedQuery,
): Promise<HistoryPage> {
  await requireHistory(database);
  const rows = await database.scan(selectDeleted(after, limit + 1));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map((row) => {
      const { id, deleted_at, operation, request_id, record_reference } = row;
      const { title = null, isbn13 = null, product_code = null } = parseProduct(row.summary) ?? {};
      return {
        id,
        title,
        isbn13,
        product_code,
        record_reference,
        deleted_at,
        deleted_by: changedBy(row),
        operation,
        request_id,
      };
    }),
    cursor: last ? historyCursor({ at: last.deleted_at, id: last.id }) : null,
    more: rows.length > limit,
  };
}

function selectDeleted(
  after: HistoryCursor | undefined,
  limit: number,
): Statement<DeletedRow> {
  const older = after
    ? sql`and (d.changed_at, d.product_id) < (${after.at}::timestamptz, ${after.id}::uuid)`
    : [];
  return sql`
    select
      d.product_id as id, ${rfc3339("d.changed_at")} as deleted_at, ${madeColumns},
      l.summary, d.onix -> 'onix_records' -> 0 ->> 'record_reference' as record_reference
    from (
      select d.*
      from product_documents d
      where d.organization_id = ${organization} and d.event = 'deleted' ${older}
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
    left join lateral (
      select '{' || l.summary || '}' as summary
      from product_documents l
      where l.organization_id = ${organization} and l.product_id = d.product_id
        and l.change_version < d.change_version and l.event <> 'deleted'
      order by l.change_version desc
      limit 1
    ) l on true
    ${keyOfAuthor}
    order by d.changed_at desc, d.product_id desc
  `;
}
