import { counters, countLoaded } from "./counts.ts";
import type { Operations } from "../database.ts";
import type { Sql } from "../connections/sql.ts";
import { alone } from "../migrate.ts";

/** What products there really are of those that are counted, as `product_counts` has them. */
function counted(sql: Sql) {
  return sql`
    select p.organization_id, f.filter, f.value, count(*) as products
    from products p
    cross join lateral (values ${counters(sql)}) f (filter, value)
    where p.counted and f.value is not null
    group by p.organization_id, f.filter, f.value
  `;
}

/** The organizations with a count that is not the number of products it stands for. */
export async function miscounted(sql: Sql): Promise<string[]> {
  const rows = await sql<{ organization_id: string }[]>`
    select distinct organization_id
    from (${counted(sql)}) actual
    full join (
      select c.organization_id, c.filter, c.value, sum(c.products) as products
      from product_counts c
      group by c.organization_id, c.filter, c.value
    ) kept using (organization_id, filter, value)
    where coalesce(actual.products, 0) <> coalesce(kept.products, 0)
    order by organization_id
  `;
  return rows.map(({ organization_id }) => organization_id);
}

/**
 * Counts all products anew, as is needed after products were changed by SQL.
 * Writers wait for it, readers do not.
 */
export async function recount(database: Operations): Promise<void> {
  await database.transaction(async (sql) => {
    await alone(sql);
    await sql`lock table products in share row exclusive mode`;
    await sql`delete from product_counts`;
    await sql`
      insert into product_counts (organization_id, filter, value, slot, products)
      select organization_id, filter, value, 0, products
      from (${counted(sql)}) actual
    `;
    await countLoaded(sql);
  });
}
