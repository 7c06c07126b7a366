import {
  composedForIds,
  names,
  organization,
  raw,
  sql,
  type Statement,
} from "../../connections/sql.ts";
import type { Write } from "../change/change.ts";

/*
 * Maintains the table `product_search`, which has the texts that searches compare. Triggers write
 * the same rows (`index_search` of functions.sql) for SQL scripts and changed names. Calling it
 * here would cost a create 7 % and an update 5 % (measured with 200 products, one client): it locks
 * rows that this transaction has locked, and PL/pgSQL runs each statement by itself. The same holds
 * for terms and counts.
 */

/** The texts of a product that searches compare. */
const SEARCH_TEXTS = [
  "created_at",
  "publisher_id",
  "imprint_id",
  "search_text",
  "title",
  "found_text",
];

const SEARCH_COLUMNS = ["organization_id", "product_id", ...SEARCH_TEXTS];

/** The columns of `product_search`. */
export const searchedColumns = names(...SEARCH_COLUMNS);

/** Keeps a word from matching across two names. */
const SEPARATOR = raw(String.raw`E'\x1f'`);

/** The names of the records to which rows of product `p` refer. */
function foundNames(rows: string, records: string, column: string, owner: unknown): Statement {
  return sql`(
    select string_agg(
      (select r.found_name from ${raw(records)} r where r.organization_id = ${owner} and r.id = x.${
    raw(column)
  }),
      ${SEPARATOR}
    )
    from ${raw(rows)} x
    where x.organization_id = ${owner} and x.product_id = p.id
  )`;
}

/** Selects what searches compare of the products `p` of an organization. WHERE is the last clause. */
export function selectSearched(owner: unknown): Statement {
  return sql`
  select
    p.organization_id, p.id as product_id, p.created_at, p.publisher_id, p.imprint_id, t.search_text,
    t.folded_title as title, t.found_text
  from products p
  -- PostgreSQL does not inline a function whose argument is a subselect, and plans it anew at each call (0.5 ms).
  cross join lateral (
    select concat_ws(
      ${SEPARATOR},
      ${foundNames("product_contributors", "contributors", "contributor_id", owner)},
      ${foundNames("product_collections", "collections", "collection_id", owner)}
    ) as names
  ) n
  cross join lateral search_texts(
    p.title, p.subtitle, p.product_code, p.isbn13, p.isbn10, p.product_identifiers, n.names
  ) t
  where p.organization_id = ${owner}
`;
}

/** The fields that the searched texts depend on. */
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
 * Writes the searched texts of products whose bodies have fields in `SEARCHED`, and of those whose
 * code or time of creation an import sets. Equal rows stay, because their indexes are expensive.
 */
export function writeSearch(changes: readonly Write[]): Statement[] {
  const ids = changes.flatMap(({ method, id, body, assigned }) =>
    method === "create" || assigned || SEARCHED.some((field) => field in body) ? [id] : []
  );
  return ids.length > 0 ? [upsertSearched(ids)] : [];
}

const upsertSearched = composedForIds((isId) =>
  sql`
  insert into product_search as s (${searchedColumns})
  ${selectSearched(organization)} and p.id ${isId}
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
