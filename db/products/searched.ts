import {
  isOneOf,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Change } from "./change.ts";

/*
 * The table `product_search` has what searches compare. The service maintains it with the
 * products, and triggers for SQL scripts and for names that change.
 */

/** The fields whose changes change what searches compare. */
const SEARCHED = [
  "title",
  "subtitle",
  "isbn13",
  "isbn10",
  "publisher_id",
  "imprint_id",
  "product_identifiers",
  "contributors",
  "product_collections",
];

/** Writes what searches compare of products whose texts, names or references the bodies have. */
export function writeSearch(changes: readonly Change[]): Statement[] {
  const ids = changes.flatMap(({ id, body, isNew }) =>
    isNew || SEARCHED.some((field) => field in body) ? [id] : []
  );
  return ids.length > 0 ? [indexSearch(isOneOf(ids))] : [];
}

/** Writes what searches compare of products with these ids. */
export function indexSearch(areIds: Statement): Statement {
  return sql`
    insert into product_search (
      organization_id, product_id, created_at, publisher_id, imprint_id, search_text, title,
      found_text
    )
    select
      v.organization_id, v.product_id, v.created_at, v.publisher_id, v.imprint_id,
      v.search_text, v.title, v.found_text
    from searched_products v
    where v.organization_id = ${organization} and v.product_id ${areIds}
    on conflict (organization_id, product_id) do update set
      created_at = excluded.created_at,
      publisher_id = excluded.publisher_id,
      imprint_id = excluded.imprint_id,
      search_text = excluded.search_text,
      title = excluded.title,
      found_text = excluded.found_text
  `;
}
