import type { ProductBody } from "../../schema/product.ts";
import { organization, sql, type Statement } from "../connections/sql.ts";
import type { Expected } from "./nested_rows.ts";

/** The form must exist even where it has no effect; with a format, a foreign key checks that. */
export function knownForm(
  { format_id, product_form_id }: ProductBody,
): Expected[] {
  if (!product_form_id || format_id) return [];
  const statement =
    sql`select from product_forms x where x.id = ${product_form_id}`;
  return [{ statement, rows: 1 }];
}

/**
 * Sets the form of the product's format, and so of every product on that format.
 * Without a format it writes nothing.
 */
export function setProductForm(
  id: string,
  { product_form_id }: ProductBody,
): Statement[] {
  if (product_form_id === undefined) return [];
  return [sql`
    update formats f
    set product_form_id = ${product_form_id}
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
      and f.organization_id = ${organization} and f.id = p.format_id
      and f.product_form_id is distinct from ${product_form_id}
  `];
}
