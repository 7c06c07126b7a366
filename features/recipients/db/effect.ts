import { isOpen } from "../../../schema/view.ts";
import { organization, raw, sql, type Statement, unprepared } from "../../../db/connections/sql.ts";
import { viewConditions, type ViewCriteria } from "../../../db/products/lists/view.ts";
import type { Effect } from "../schema/recipient.ts";

/*
 * Counts the products of a view, and those that a change of its criteria adds and removes. For
 * example, a recipient with all 900 products gets those of one publisher, 40: `leaves` is 860.
 */

/** The number of products in the view, as an SQL expression. */
export function countOf(view: ViewCriteria): Statement {
  if (isOpen(view)) {
    return sql`(
      select coalesce(sum(c.products), 0)::int
      from product_counts c
      where c.organization_id = ${organization} and c.filter = 'organization_id' and c.value = ${organization}
    )`;
  }
  return sql`(
    select count(*)::int
    from products p
    where p.organization_id = ${organization} ${viewConditions(view)}
  )`;
}

/** Counts the products that enter and leave the view. */
export function effectOf(
  before: ViewCriteria | undefined,
  after: ViewCriteria | undefined,
): Statement<Effect> {
  const isIn = (view: ViewCriteria | undefined) =>
    view ? sql`coalesce(true ${viewConditions(view)}, false)` : raw("false");
  return unprepared(sql<Effect>`
    select
      (count(*) filter (where x.after and not x.before))::int as comes,
      (count(*) filter (where x.before and not x.after))::int as leaves
    from (
      select ${isIn(before)} as before, ${isIn(after)} as after
      from products p
      where p.organization_id = ${organization}
      offset 0
    ) x
  `);
}
