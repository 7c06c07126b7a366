import {
  among,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";

/** Remembers that the products are about to be deleted, and forgets a few deletions that are too old. */
export function rememberDeletions(ids: readonly string[]): Statement[] {
  return [
    sql`
      insert into product_deletions (organization_id, product_id)
      select p.organization_id, p.id
      from products p
      where p.organization_id = ${organization} and p.id ${among(ids)}
      on conflict (organization_id, product_id) do update set
        change_version = excluded.change_version,
        deleted_at = excluded.deleted_at
    `,
    sql`
      delete from product_deletions x
      where x.organization_id = ${organization} and x.product_id in (
        select old.product_id
        from product_deletions old
        where old.organization_id = ${organization}
          -- A week longer than cursors are good: the feed may have waited behind a transaction.
          and old.deleted_at < now() - interval '37 days'
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
  ];
}
