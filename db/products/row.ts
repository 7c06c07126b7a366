import { ApiError } from "../../schema/errors.ts";
import { arrays } from "./nested_json.ts";
import { asked } from "./asked.ts";
import {
  names,
  pipelined,
  type Sql,
  type Statement,
  type Tx,
} from "../connections/sql.ts";
import { core } from "./scalars_json.ts";

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
 * Locks the products until the transaction ends, as the first lock of a change, so
 * that changes of one product take turns. Whoever locks several waits for none of
 * them (55P03): who must wait waits alone, and never in a circle.
 */
export function lockProducts(
  sql: Tx,
  organizationId: string,
  ids: readonly string[],
): Statement {
  return sql`
    select
    from ${asked(sql, organizationId, ids)}
    cross join lateral (
      select
      from products p
      where p.organization_id = ${organizationId} and p.id = asked.id
      limit 1
      for no key update ${ids.length > 1 ? sql`nowait` : sql``}
    ) p
  `;
}

/** The product as answers show it, as JSON text. */
export interface FullProduct {
  id: string;
  product: string;
}

/** The full products with these ids, in no order; no row where there is none. */
export function fullProducts(
  sql: Sql,
  organizationId: string,
  ids: readonly string[],
): Statement<FullProduct> {
  return sql<FullProduct[]>`
    select
      p.id,
      '{' || ${core(sql)} || ',' || substr(${arrays(sql)}::text, 2) as product
    from ${asked(sql, organizationId, ids)}
    cross join lateral (
      select *
      from products p
      where p.organization_id = $1 and p.id = asked.id
      limit 1
    ) p
  `;
}

/** The products of these ids, which are in lower case, in their order; nothing where there is none. */
export function inOrder(
  ids: readonly string[],
  rows: readonly FullProduct[],
): (string | undefined)[] {
  const products = new Map(rows.map(({ id, product }) => [id, product]));
  return ids.map((id) => products.get(id));
}

/** Throws `NOT_FOUND`: the organization has no product with this id. */
export function notFound(id: string): never {
  throw new ApiError("NOT_FOUND", `No product with id "${id}"`);
}

/** Locks the products, and gives them in full, as they stay until the transaction ends. */
export async function getLocked(
  sql: Tx,
  organizationId: string,
  ids: readonly string[],
): Promise<(string | undefined)[]> {
  const rows = await pipelined([
    lockProducts(sql, organizationId, ids),
    fullProducts(sql, organizationId, ids),
  ]);
  return inOrder(ids, rows);
}

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
