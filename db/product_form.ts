import { asked } from "./asked.ts";
import type { Exact, Statement, Tx } from "./sql.ts";

/**
 * The form of a product is its format's, and so is every other product's on
 * that format. Without a format nothing is written, but it must be a form.
 */
export function setProductForm(
  sql: Tx,
  organizationId: string,
  ids: readonly string[],
  productFormId: string | null | undefined,
): (Statement | Exact)[] {
  if (productFormId === undefined) return [];
  const toBeSet = sql`
    f.organization_id = ${organizationId}
      and f.product_form_id is distinct from ${productFormId}
      and f.id in (
        select p.format_id
        from ${asked(sql, organizationId, ids)}
        cross join lateral (
          select p.format_id
          from products p
          where p.organization_id = ${organizationId} and p.id = asked.id
          limit 1
        ) p
      )
  `;
  return [
    {
      statement: sql`select from product_forms x where x.id = ${productFormId}`,
      rows: productFormId ? 1 : 0,
    },
    // In an order, for others may set another form for the same formats.
    sql`select from formats f where ${toBeSet} order by f.id for no key update`,
    sql`update formats f set product_form_id = ${productFormId} where ${toBeSet}`,
  ];
}
