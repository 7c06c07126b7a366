import { composedForIds, names, organization, sql, type Statement } from "../connections/sql.ts";
import type { Write } from "./change.ts";

/*
 * The table `product_search` has what searches compare. The service maintains it with the
 * products, and triggers for SQL scripts and for names that change: `index_search` of
 * functions.sql writes the same rows. A call of it here would cost a create 7 %, and an
 * update 5 % (measured with 200 products, one client): it locks rows that this transaction
 * has locked, and PL/pgSQL runs each statement by itself. The same holds for terms and counts.
 */

/** What searches compare of a product. */
const SEARCH_TEXTS = [
  "created_at",
  "publisher_id",
  "imprint_id",
  "search_text",
  "title",
  "found_text",
];

const SEARCH_COLUMNS = ["organization_id", "product_id", ...SEARCH_TEXTS];

/** The columns of `product_search`, and of the view `searched_products`, which computes them. */
const searchedColumns = names(...SEARCH_COLUMNS);

/** Inserts what searches compare of the products `v`. */
export const insertSearched = sql`
  insert into product_search as s (${searchedColumns})
  select ${qualified("v", SEARCH_COLUMNS)}
  from searched_products v
`;

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

/**
 * Writes what searches compare of products whose texts, names or references the bodies have.
 * Equal rows stay: their indexes are expensive.
 */
export function writeSearch(changes: readonly Write[]): Statement[] {
  const ids = changes.flatMap(({ method, id, body }) =>
    method === "create" || SEARCHED.some((field) => field in body) ? [id] : []
  );
  return ids.length > 0 ? [upsertSearched(ids)] : [];
}

const upsertSearched = composedForIds((isId) =>
  sql`
  ${insertSearched}
  where v.organization_id = ${organization} and v.product_id ${isId}
  on conflict (organization_id, product_id) do update set ${
    names(...SEARCH_TEXTS.map((name) => `${name} = excluded.${name}`))
  }
  where (${qualified("s", SEARCH_TEXTS)})
    is distinct from (${qualified("excluded", SEARCH_TEXTS)})
`
);

function qualified(alias: string, columns: readonly string[]): Statement {
  return names(...columns.map((column) => `${alias}.${column}`));
}
