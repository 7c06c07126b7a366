import type { View } from "../../../schema/view.ts";
import { organization, sql, type Statement } from "../../../db/connections/sql.ts";
import { viewConditions } from "../../../db/products/lists/view.ts";
import type { State } from "./view_state.ts";

/*
 * Selects the products that a check of a view compares with what its feed has shown: those that
 * changed, or those in a range of ids.
 */

/** The products that changed since the last check, with those of changed programs. */
export function changedProducts({ version }: State): Statement {
  return sql`
      select c.organization_id, c.product_id as id from product_changes c
      where c.organization_id = ${organization} and c.change_version >= ${version}::bigint
      union
      select x.organization_id, x.product_id from product_deletions x
      where x.organization_id = ${organization} and x.change_version >= ${version}::bigint
      union
      select x.organization_id, x.product_id from program_changes x
      where x.organization_id = ${organization} and x.change_version >= ${version}::bigint`;
}

/** A condition that a column of product ids is in a range. */
type Range = (id: string) => Statement;

/** The products in a range, and those that the feed has shown. */
export function everyProduct({ id }: View, range: Range): Statement {
  return sql`
    select p.organization_id, p.id from products p
    where p.organization_id = ${organization} and ${range("p.id")}
    union
    select m.organization_id, m.product_id from recipient_products m
    where m.organization_id = ${organization} and m.recipient_id = ${id} and ${
    range("m.product_id")
  }
  `;
}

/**
 * The products in a range that have entered or left the view since they have rows, or that show
 * another ISBN. A full join compares all of them at once, whatever the planner expects: it is never
 * a loop. Looking each product up takes ten times as long.
 */
export function enteredOrLeft(view: View, range: Range): Statement {
  return sql`
    select
      coalesce(p.organization_id, b.organization_id) as organization_id, coalesce(p.id, b.product_id) as id
    from (
      select p.organization_id, p.id, p.isbn13 from products p
      where p.organization_id = ${organization} and ${range("p.id")} ${viewConditions(view)}
    ) p
    full join (
      select m.organization_id, m.product_id, m.is_there, m.isbn13 from recipient_products m
      where m.organization_id = ${organization} and m.recipient_id = ${view.id} and ${
    range("m.product_id")
  }
    ) b on b.product_id = p.id
    where (p.id is not null) <> coalesce(b.is_there, false)
      or p.id is not null and p.isbn13 is distinct from b.isbn13
  `;
}
