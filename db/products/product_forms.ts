import type { ProductBody } from "../../schema/bodies.ts";
import { isOneOf, json, organization, sql, type Statement } from "../connections/sql.ts";
import { nextUpdate } from "../times.ts";
import { assertCount, isIdOf, type Write } from "./change.ts";

/* The product form, which a body gives to a product and its format stores. */

/**
 * Violates `rows_found` if a product form does not exist. The foreign key of a format
 * checks only the form that is stored: the last one of several changes.
 */
export function assertForms(changes: readonly Write[]): Statement[] {
  // The foreign key of the format checks a single one.
  const isCheckedByKey = (body: ProductBody) => body.format_id && changes.length === 1;
  const forms = changes.flatMap(({ body }) =>
    body.product_form_id && !isCheckedByKey(body) ? [body.product_form_id] : []
  );
  if (forms.length === 0) return [];
  const known = sql`from product_forms x where x.id ${isOneOf(forms)}`;
  return [sql`select where ${assertCount(known, new Set(forms).size)}`];
}

/**
 * Stores the product form on the product's format, and thus for every product of
 * that format. The last change of a format wins. Products without a format are
 * skipped.
 */
export function setProductForms(changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ body }) => body.product_form_id !== undefined);
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { product_form_id } }, position) => ({
    id,
    position,
    product_form_id,
  }));
  return [
    // Waits for SQL that deletes a format and inserts it again: the update sees its new row.
    sql`
      select from formats f
      where f.organization_id = ${organization} and f.id in (
        select p.format_id
        from products p
        where p.organization_id = ${organization} and p.id ${isIdOf(given)}
      )
      order by f.id
      for key share
    `,
    sql`
      update formats f
      set
        product_form_id = last.product_form_id,
        updated_at = ${nextUpdate("f.updated_at")}
      from (
        select distinct on (p.format_id) p.format_id, r.product_form_id
        from products p
        join jsonb_to_recordset(${json(rows)})
          r (id uuid, position int, product_form_id uuid) on r.id = p.id
        where p.organization_id = ${organization} and p.id ${isIdOf(given)}
        order by p.format_id, r.position desc
      ) last
      where f.organization_id = ${organization} and f.id = last.format_id
        and f.product_form_id is distinct from last.product_form_id
    `,
  ];
}
