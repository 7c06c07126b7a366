import {
  isOneOf,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";

/**
 * Records the deletions of these products, purges up to ten expired records, and last
 * deletes the products. Foreign keys delete their nested records.
 */
export function deleteProducts(ids: readonly string[]): Statement[] {
  return [
    sql`
      insert into product_deletions (organization_id, product_id)
      select p.organization_id, p.id
      from products p
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
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
          -- A week longer than a cursor lives: a long transaction may have held the feed back.
          and old.deleted_at < now() - interval '37 days'
        order by old.deleted_at
        limit 10
        for update skip locked
      )
    `,
    sql`
      delete from products p
      where p.organization_id = ${organization} and p.id ${isOneOf(ids)}
    `,
  ];
}
