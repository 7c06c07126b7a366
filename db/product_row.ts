import { arrays } from "./arrays.ts";
import { MAX_TOGETHER } from "./gathering.ts";
import { type Exact, names, type Sql, type Statement, type Tx } from "./sql.ts";
import { core } from "./representation.ts";

/*
 * The statements that read and write the row of a product.
 */

/** The columns of `products` that a body writes as they are. */
export const COLUMNS = [
  "title",
  "subtitle",
  "isbn13",
  "isbn10",
  "page_count",
  "publication_date",
  "format_id",
  "title_id",
  "publishing_status_id",
  "product_availability_id",
  "lifecycle_status_id",
  "license_id",
  "season_id",
  "publisher_id",
  "division_id",
  "imprint_id",
  "product_type",
  "cover_image_url",
] as const;

const columnNames = names(...COLUMNS);

/** Creates the row with these fields; the others are empty. */
export function insertRow(
  sql: Tx,
  organizationId: string,
  id: string,
  fields: object,
): Statement {
  return sql`
    insert into products ${
    sql({ ...fields, organization_id: organizationId, id, counted: true }, [
      "organization_id",
      "id",
      "counted",
      ...COLUMNS,
    ])
  }
  `;
}

/**
 * Locks the product until the transaction ends, as the first lock of a change,
 * so that changes of one product take turns and never wait for each other in a
 * circle.
 */
export function lockProduct(
  sql: Tx,
  organizationId: string,
  id: string,
): Statement {
  return sql`
    select from products p
    where p.organization_id = ${organizationId} and p.id = ${id}
    for no key update
  `;
}

/**
 * The full products with these ids as JSON text, in no order; no row where there
 * is none. The limits have the planner count on as many rows and on one for each,
 * whatever is asked: else it may find it better to plan anew each time.
 */
export function fullProducts(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
): Statement<{ id: string; product: string }> {
  return sql<{ id: string; product: string }[]>`
    with asked (organization_id, id) as (
      select ${organizationId}::uuid, id::uuid
      from string_to_table(${ids.join()}, ',') id
      limit ${mostTogether(sql)}
    )
    select
      p.id,
      '{' || ${core(sql)} || ',' || substr(${arrays(sql)}::text, 2) as product
    from asked
    cross join lateral (
      select *
      from products p
      where p.organization_id = $1 and p.id = asked.id
      limit 1
    ) p
  `;
}

const mostTogether = names(String(MAX_TOGETHER));

/**
 * A product moves in time by a millisecond at least, so that every change shows.
 * It is added in UTC: a distributed database takes no sum in an update that
 * depends on the session's time zone.
 */
export function setColumns(
  sql: Tx,
  organizationId: string,
  id: string,
  fields: object,
): Statement {
  return sql`
    update products p
    set
      updated_at = greatest(
        now(),
        (p.updated_at at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC'
      ),
      (${columnNames(sql)}) = (
        select ${columnNames(sql)}
        from jsonb_populate_record(p, ${sql.json(fields)})
      )
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
}

/** Sets the series apart from the rest: its link must be there by then, or not go before. */
export function setSeries(
  sql: Tx,
  organizationId: string,
  id: string,
  seriesId: string | null,
): Statement {
  return sql`
    update products p
    set series_id = ${seriesId}
    where p.organization_id = ${organizationId} and p.id = ${id}
  `;
}

/**
 * The form of a product is its format's, and so is every other product's on
 * that format. Without a format nothing is written, but it must be a form.
 */
export function setProductForm(
  sql: Tx,
  organizationId: string,
  id: string,
  productFormId: string | null | undefined,
): (Statement | Exact)[] {
  if (productFormId === undefined) return [];
  return [
    {
      statement: sql`select from product_forms x where x.id = ${productFormId}`,
      rows: productFormId ? 1 : 0,
    },
    sql`
      update formats f
      set product_form_id = ${productFormId}
      from products p
      where p.organization_id = ${organizationId} and p.id = ${id}
        and f.organization_id = ${organizationId} and f.id = p.format_id
        and f.product_form_id is distinct from ${productFormId}
    `,
  ];
}
