import {
  among,
  json,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Expected } from "./nested_rows.ts";
import { type Change, idsOf } from "./row.ts";

/** Checks that forms without a format exist. With a format, a foreign key checks that. */
export function knownForms(changes: readonly Change[]): Expected[] {
  const forms = changes.flatMap(({ body: { format_id, product_form_id } }) =>
    product_form_id && !format_id ? [product_form_id] : []
  );
  if (forms.length === 0) return [];
  const statement = sql`
    select from product_forms x where x.id ${among(forms)}
  `;
  return [{ statement, rows: new Set(forms).size }];
}

/**
 * Stores the product form on the product's format, and thus for every product of
 * that format. The last change of a format wins. Products without a format are
 * skipped.
 */
export function setProductForms(changes: readonly Change[]): Statement[] {
  const given = changes.filter(({ body }) =>
    body.product_form_id !== undefined
  );
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { product_form_id } }, position) => ({
    id,
    position,
    product_form_id,
  }));
  return [sql`
    update formats f
    set
      product_form_id = last.product_form_id,
      updated_at = greatest(
        now(),
        (f.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC'
      )
    from (
      select distinct on (p.format_id) p.format_id, r.product_form_id
      from products p
      join jsonb_to_recordset(${json(rows)})
        r (id uuid, position int, product_form_id uuid) on r.id = p.id
      where p.organization_id = ${organization} and p.id ${idsOf(given)}
      order by p.format_id, r.position desc
    ) last
    where f.organization_id = ${organization} and f.id = last.format_id
      and f.product_form_id is distinct from last.product_form_id
  `];
}
