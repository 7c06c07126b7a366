import type { ProductBody } from "../../schema/product.ts";
import type { Exact, Statement, Tx } from "../connections/sql.ts";

/**
 * What form the body sets for which format, if any. It is the same for all that is
 * written in one transaction, for whoever locks two formats may wait in a circle
 * with others.
 */
export function formOf({ format_id, product_form_id }: ProductBody): string {
  return product_form_id === undefined ? "" : `${format_id} ${product_form_id}`;
}

/**
 * The form of a product is its format's, and so is every other product's on
 * that format. Without a format nothing is written, but it must be a form.
 */
export function setProductForm(
  sql: Tx,
  organizationId: string,
  id: string,
  { product_form_id }: ProductBody,
): (Statement | Exact)[] {
  if (product_form_id === undefined) return [];
  return [
    {
      statement:
        sql`select from product_forms x where x.id = ${product_form_id}`,
      rows: product_form_id ? 1 : 0,
    },
    sql`
      update formats f
      set product_form_id = ${product_form_id}
      from products p
      where p.organization_id = ${organizationId} and p.id = ${id}
        and f.organization_id = ${organizationId} and f.id = p.format_id
        and f.product_form_id is distinct from ${product_form_id}
    `,
  ];
}
