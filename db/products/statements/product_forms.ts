import type { ProductBody } from "../../../schema/bodies.ts";
import type { SharedForm } from "../../../schema/shared_form.ts";
import { isOneOf, json, organization, sql, type Statement } from "../../connections/sql.ts";
import type { Transaction } from "../../connections/transaction.ts";
import { nextUpdate } from "../../times.ts";
import { followUpdates } from "../../renamed_records.ts";
import { assertCount, type Change, isIdOf, type Write } from "../change/change.ts";

/*
 * The product form. A body has it as a field of the product, but it is stored on the product's
 * format, and so is shared by all products with that format.
 */

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
 * Whether the product form in a body has no effect: neither the body nor the stored product has a
 * format, which would store it.
 */
export function isFormUnused(
  { product_form_id, format_id }: ProductBody,
  storedFormat: () => unknown,
): boolean {
  if (!product_form_id) return false;
  return (format_id === undefined ? storedFormat() : format_id) === null;
}

interface SharedFormRow extends SharedForm {
  id: string;
}

/**
 * Finds the writes that change the form of a format, and records it on each, for warnings and the
 * history. Must run before the writes are sent.
 */
export async function recordSharedForms(
  tx: Transaction,
  changes: readonly Change[],
): Promise<void> {
  const given = changes.filter((change) => change.method !== "delete")
    .filter(({ body }) => body.product_form_id !== undefined);
  if (given.length === 0) return;
  const rows = given.map(({ id, body: { product_form_id, format_id } }, position) => ({
    id,
    position,
    product_form_id,
    format_id,
    has_format: format_id !== undefined,
  }));
  const [shared] = await tx.send(sql<SharedFormRow>`
    select
      w.id, w.before as "from", w.product_form_id as "to", w.name as format,
      (
        select coalesce(sum(c.products), 0)::int
        from product_counts c
        where c.organization_id = ${organization} and c.filter = 'format_id' and c.value = w.format_id
      ) - w.is_counted::int as products
    from (
      select
        r.id, r.product_form_id, f.id as format_id, f.name,
        coalesce(p.format_id = f.id, false) as is_counted,
        -- Of several writes, each changes what the one before it has stored.
        lag(r.product_form_id, 1, f.product_form_id) over (partition by f.id order by r.position) as before
      from jsonb_to_recordset(${json(rows)})
        r (id uuid, position int, product_form_id uuid, format_id uuid, has_format boolean)
      left join products p
        on p.organization_id = ${organization} and p.id ${isIdOf(given)} and p.id = r.id
      join formats f
        on f.organization_id = ${organization}
        and f.id = case when r.has_format then r.format_id else p.format_id end
    ) w
    where w.before is distinct from w.product_form_id
  `);
  const forms = new Map(shared.map(({ id, ...form }) => [id, form]));
  for (const write of given) write.sharedForm = forms.get(write.id.toLowerCase());
}

/**
 * Stores the product form on the product's format, and thus for every product of
 * that format. The last change of a format wins. Products without a format are
 * skipped.
 */
export function setProductForms(tx: Transaction, changes: readonly Write[]): Statement[] {
  const given = changes.filter(({ body }) => body.product_form_id !== undefined);
  if (given.length === 0) return [];
  const rows = given.map(({ id, body: { product_form_id } }, position) => ({
    id,
    position,
    product_form_id,
  }));
  const last = sql`
    select distinct on (p.format_id) p.format_id, r.product_form_id
    from products p
    join jsonb_to_recordset(${json(rows)})
      r (id uuid, position int, product_form_id uuid) on r.id = p.id
    where p.organization_id = ${organization} and p.id ${isIdOf(given)}
    order by p.format_id, r.position desc
  `;
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
    ...followUpdates(
      tx,
      "formats",
      sql`
      select last.format_id as id, jsonb_build_object('product_form_id', last.product_form_id) as fields
      from (${last}) last
    `,
    ),
    sql`
      update formats f
      set
        product_form_id = last.product_form_id,
        updated_at = ${nextUpdate("f.updated_at")}
      from (${last}) last
      where f.organization_id = ${organization} and f.id = last.format_id
        and f.product_form_id is distinct from last.product_form_id
    `,
  ];
}
