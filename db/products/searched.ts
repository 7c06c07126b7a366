import {
  isOneOf,
  names,
  organization,
  sql,
  type Statement,
} from "../connections/sql.ts";
import type { Change } from "./change.ts";

/*
 * The table `product_search` has what searches compare. The service maintains it with the
 * products, and triggers for SQL scripts and for names that change.
 */

/** What searches compare of a product. */
const COMPARED = [
  "created_at",
  "publisher_id",
  "imprint_id",
  "search_text",
  "title",
  "found_text",
];

/** The columns of `product_search`, and of the view `searched_products`, which computes them. */
export const searchedColumns = names(
  "organization_id",
  "product_id",
  ...COMPARED,
);

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

/** Writes what searches compare of products with these ids. Equal rows stay: their indexes are expensive to write. */
export function indexSearch(areIds: Statement): Statement {
  const of = (row: string) =>
    names(...COMPARED.map((name) => `${row}.${name}`));
  return sql`
    insert into product_search as s (${searchedColumns})
    select ${searchedColumns}
    from searched_products v
    where v.organization_id = ${organization} and v.product_id ${areIds}
    on conflict (organization_id, product_id) do update set ${
    names(...COMPARED.map((name) => `${name} = excluded.${name}`))
  }
    where (${of("s")}) is distinct from (${of("excluded")})
  `;
}
