import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Transaction } from "../connections/transaction.ts";
import {
  type Answer,
  builtDocument,
  builtNewDocument,
  documentColumns,
  fullAnswer,
  onConflict,
} from "./documents.ts";
import { type Change, idsOf } from "./row.ts";

/** Only the product's id, for `return: minimal`. */
export const minimalAnswer = sql`'{"id":"' || d.product_id || '"}'`;

/**
 * The condition that the transaction has updated product `p`. Violates `rows_found` if
 * SQL replaced the row while the update waited for it: the update misses the new row,
 * and later statements find it.
 */
export const isUpdated = sql`(p.change_version = change_version())::rows_found`;

/**
 * Builds, stores and returns the products: the last statement of a write. A
 * product over 4 MiB violates `product_documents_size`. Where `names_version` is null,
 * the document is never valid (-1). A distributed database stores no documents: it has
 * no triggers that would invalidate them. It does not check the condition either: its
 * nodes have their own versions.
 */
export function answerProducts(
  tx: Transaction,
  changes: readonly Change[],
  { shown = fullAnswer, condition = sql`true` } = {},
): Statement<Answer> {
  const shownColumns = sql`d.product_id as id, ${shown} as product`;
  if (tx.isDistributed) {
    const documents = writtenDocuments(tx, changes);
    return sql`select ${shownColumns} from (${documents}) d`;
  }
  return sql`
    insert into product_documents as d (${documentColumns})
    select
      b.organization_id, b.id, b.updated_at, coalesce(b.names_version, -1), b.summary, b.details
    from (${builtDocuments(changes)} and ${condition}) b
    ${onConflict}
    returning ${shownColumns}
  `;
}

/** The documents of products that the transaction has written and answered. */
export function writtenDocuments(
  { isDistributed }: Transaction,
  changes: readonly Change[],
): Statement {
  if (isDistributed) {
    return sql`
      select * from (${builtDocuments(changes)} offset 0) d (${documentColumns})
      where (${fullAnswer})::product_json is not null
    `;
  }
  return sql`
    select *
    from product_documents d
    where d.organization_id = ${organization} and d.product_id ${idsOf(changes)}
  `;
}

function builtDocuments(changes: readonly Change[]): Statement {
  const areNew = changes.every(({ isNew }) => isNew);
  return sql`
    select ${areNew ? builtNewDocument : builtDocument}
    from products p
    join organizations o on o.id = ${organization}
    where p.organization_id = ${organization} and p.id ${idsOf(changes)}
  `;
}
