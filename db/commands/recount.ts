import { sql, type Statement } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { schemaLock } from "../migrate.ts";
import { newOrigin } from "../origin.ts";
import { countedValues } from "../products/counts.ts";
import { insertSearched } from "../products/search_index.ts";

/** The actual counts, with the columns of `product_counts`. */
const counted = sql`
  select p.organization_id, f.filter, f.value, count(*) as products
  from products p
  cross join lateral (values ${countedValues}) f (filter, value)
  where f.value is not null
  group by p.organization_id, f.filter, f.value
`;

/** The organizations with a wrong count, or with a product whose change is unknown. */
export const miscounted: Statement<{ organization_id: string }> = sql`
  select organization_id
  from (${counted}) actual
  full join (
    select c.organization_id, c.filter, c.value, sum(c.products) as products
    from product_counts c
    group by c.organization_id, c.filter, c.value
  ) stored using (organization_id, filter, value)
  where coalesce(actual.products, 0) <> coalesce(stored.products, 0)
  union
  select coalesce(p.organization_id, c.organization_id)
  from products p
  full join product_changes c on c.organization_id = p.organization_id and c.product_id = p.id
  where p.updated_at is distinct from c.updated_at or (p.change_version <= c.change_version) is not true
  order by organization_id
`;

/** Products that were deleted without triggers get the last version of a deletion. */
const deletionsWithoutTriggers = sql`
  insert into product_documents (
    organization_id, product_id, change_version, names_version, changed_at, event, summary, details
  )
  select
    d.organization_id, d.product_id, change_version(), -1,
    greatest(date_trunc('milliseconds', now()), d.changed_at + interval '1 millisecond'), 'deleted', '', ''
  from (
    select distinct on (d.organization_id, d.product_id)
      d.organization_id, d.product_id, d.changed_at, d.event
    from product_documents d
    order by d.organization_id, d.product_id, d.change_version desc
  ) d
  where d.event <> 'deleted' and not exists (
    select from products p where p.organization_id = d.organization_id and p.id = d.product_id
  )
`;

/**
 * Repairs the database after SQL that ran without triggers: counts all products, fills the
 * tables of terms and searches again, invalidates all documents, and expires all cursors of
 * `/products/changes`. Blocks writers, not readers.
 */
export async function recount(database: Queries): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.send(...schemaLock);
    await tx.commit(
      ...newOrigin,
      sql`delete from product_counts`,
      sql`
        insert into product_counts (organization_id, filter, value, slot, products)
        select organization_id, filter, value, 0, products
        from (${counted}) actual
      `,
      sql`delete from product_terms`,
      sql`
        insert into product_terms (organization_id, product_id, field, term)
        select p.organization_id, p.id, t.field, t.term
        from products p
        cross join lateral terms_of(p.languages, p.subjects, p.product_identifiers) t
      `,
      sql`delete from product_search`,
      insertSearched,
      ...tx.isDistributed ? [] : [deletionsWithoutTriggers],
      sql`update organizations set names_version = names_version + 1`,
    );
  });
}
