import { COLUMNS, type ProductBody } from "../../schema/product.ts";
import {
  json,
  names,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Expected } from "./nested_rows.ts";

/*
 * The statements that write the row of a product.
 */

const columns = names(...COLUMNS);

/** Creates the row with the columns that the body has; the others are empty. */
export function insertRow(id: string, body: ProductBody): Statement {
  const values = COLUMNS.map((column) => sql`, ${body[column] ?? null}`);
  return sql`
    insert into products (organization_id, id, ${columns})
    values (${organization}, ${id}${values})
  `;
}

/** Locks the row until the transaction ends: the first lock of a change, so that changes of one product take turns. */
export function lockProduct(id: string): Statement {
  return sql`
    select
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
    for no key update
  `;
}

/** Locks the row for its deletion, before its counts are locked. */
export function lockForDelete(id: string): Statement {
  return sql`
    select
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
    for update
  `;
}

/**
 * Writes the columns that the body has, and moves `updated_at` by at least a
 * millisecond, so that answers show every change. The sum is made in UTC: a
 * distributed database refuses one that depends on the session's time zone.
 */
export function updateRow(id: string, body: ProductBody): Statement {
  const given = COLUMNS.filter((column) => column in body);
  const fields = Object.fromEntries(given.map((key) => [key, body[key]]));
  return sql`
    update products p
    set
      updated_at = greatest(
        now(),
        (p.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC'
      ),
      (${columns}) = (
        select ${columns}
        from jsonb_populate_record(p, ${json(fields)})
      )
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** Sets the series apart from the other columns: its link must be there by then, or not be gone yet. */
export function setSeries(id: string, seriesId: string | null): Statement {
  return sql`
    update products p
    set series_id = ${seriesId}
    where p.organization_id = ${organization} and p.id = ${id}
  `;
}

/** Deletes the row, with everything that belongs to the product. Gives a row where there was one. */
export function deleteRow(id: string): Statement<{ id: string }> {
  return sql<{ id: string }>`
    delete from products p
    where p.organization_id = ${organization} and p.id = ${id}
    returning p.id
  `;
}

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
    set
      product_form_id = ${product_form_id},
      updated_at = greatest(
        now(),
        (f.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC'
      )
    from products p
    where p.organization_id = ${organization} and p.id = ${id}
      and f.organization_id = ${organization} and f.id = p.format_id
      and f.product_form_id is distinct from ${product_form_id}
  `];
}
