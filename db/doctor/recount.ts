import { sql, type Statement, unprepared } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { schemaLock } from "../migrate.ts";
import { newOrigin } from "../origin.ts";
import { countedValues } from "../products/statements/counts.ts";
import { versionTime } from "../products/documents/insert_versions.ts";
import { searchedColumns, selectSearched } from "../products/statements/search_index.ts";

/*
 * Finds and repairs derived data that SQL without triggers has left wrong: counts, search texts,
 * the feed.
 */

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

function termsOf(owner: string): Statement {
  return sql`
    select p.organization_id, p.id as product_id, t.field, t.term
    from products p
    cross join lateral terms_of(p.languages, p.subjects, p.product_identifiers, p.product_form_features) t
    where p.organization_id = ${owner}
  `;
}

/** Every organization. Citus runs a statement about one of them on a single node. */
export const allOrganizations: Statement<{ id: string }> =
  sql`select id from organizations order by id`;

/**
 * The products with wrong terms or texts for searches. The organization is left out while it has
 * unpropagated renames, since they follow after COMMIT.
 */
export function misindexed(
  owner: string,
): Statement<{ organization_id: string; product_id: string }> {
  const terms = termsOf(owner);
  const storedTerms = sql`
    select organization_id, product_id, field, term from product_terms where organization_id = ${owner}
  `;
  const searched = sql`select ${searchedColumns} from (${selectSearched(owner)}) s`;
  const storedTexts =
    sql`select ${searchedColumns} from product_search where organization_id = ${owner}`;
  return unprepared(sql`
    select x.organization_id, x.product_id
    from (
      select organization_id, product_id
      from (
        (${storedTerms} except ${terms})
        union all
        (${terms} except ${storedTerms})
      ) t
      union
      select organization_id, product_id
      from (
        (${storedTexts} except ${searched})
        union all
        (${searched} except ${storedTexts})
      ) s
    ) x
    where not exists (select from renames r where r.organization_id = ${owner})
    order by x.product_id
  `);
}

/** Adds the missing last version of products that were deleted without triggers. */
const deletionsWithoutTriggers = sql`
  insert into product_documents (
    organization_id, product_id, change_version, names_version, changed_at, event, summary, details
  )
  select
    d.organization_id, d.product_id, change_version(), -1,
    ${versionTime("now()", "d")}, 'deleted', '', ''
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
    const replies = await tx.send(...newOrigin, allOrganizations);
    const organizations = replies.at(-1) as { id: string }[];
    await tx.commit(
      sql`delete from product_counts`,
      sql`
        insert into product_counts (organization_id, filter, value, slot, products)
        select organization_id, filter, value, 0, products
        from (${counted}) actual
      `,
      sql`delete from product_terms`,
      sql`delete from product_search`,
      ...organizations.flatMap(({ id }) => [
        sql`insert into product_terms (organization_id, product_id, field, term) ${termsOf(id)}`,
        sql`insert into product_search (${searchedColumns}) ${selectSearched(id)}`,
      ]),
      deletionsWithoutTriggers,
      sql`update organizations set names_version = names_version + 1`,
    );
  });
}
