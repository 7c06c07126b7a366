import {
  DEFAULT_SORT,
  type Filters,
  type ListQuery,
  type Sort,
} from "../../../schema/list_query.ts";
import { isOpen, type View } from "../../../schema/view.ts";
import { organization, raw, sql, type Statement, unprepared } from "../../connections/sql.ts";
import type { Queries } from "../../database.ts";
import { filterConditions } from "./filters.ts";
import { type FoundBy, foundByAll } from "./find_by_q.ts";
import { readWords } from "./query_words.ts";
import { indexConditions, searchConditions } from "./search.ts";
import { viewConditions } from "./view.ts";

/*
 * The products that a list selects, and their order. In: a query. Out: SQL that selects ids with a
 * `sort_key`. `list.ts` cuts a page out of it, `totals.ts` counts it.
 */

/** A list query, with the conditions of its `q`, and the view whose products it has. */
export interface FoundQuery extends ListQuery {
  found: FoundBy | undefined;
  view?: View | undefined;
}

/** The order of a list. Its columns are `sort_key` and `id`, with `q` also `created_at`. */
interface Sorting {
  /** The table with the key. `product_search` has the time of creation as well. */
  table: Alias;
  /** The column `sort_key`, of the table with this alias. */
  key(alias: Alias): Statement;
  /** The ORDER BY. The id breaks ties, so pages neither repeat nor skip a product. */
  order: Statement;
}

/** The tables that a list may read, by their aliases. */
const LISTED_TABLES = {
  s: "product_search",
  c: "product_changes",
  p: "products",
};

type Alias = keyof typeof LISTED_TABLES;

const LISTED_ALIASES = Object.keys(LISTED_TABLES) as Alias[];

/** Titles use the Unicode collation, whatever the database's default. */
const TITLE_KEY = 'title collate "und-x-icu"';

/** The orders that lists can ask for. */
export const SORTING: Record<Sort, Sorting> = {
  "created_at": by("s", "created_at"),
  "-created_at": by("s", "created_at", "desc"),
  "updated_at": by("c", "updated_at"),
  "-updated_at": by("c", "updated_at", "desc"),
  "title": by("p", TITLE_KEY),
  "-title": by("p", TITLE_KEY, "desc"),
  // Products without a publication date come last in both directions.
  "publication_date": by("p", "publication_date"),
  "-publication_date": by("p", "publication_date", "desc nulls last"),
};

function by(table: Alias, column: string, descending?: string): Sorting {
  return {
    table,
    key: (alias) => raw(`${alias}.${column}`),
    order: raw(
      descending ? `sort_key ${descending}, id desc` : "sort_key, id",
    ),
  };
}

/** The order of a list: the requested one, or the default. */
export function sortingOf({ found, sort }: FoundQuery): Sorting {
  return found && !sort ? byRelevance(found) : SORTING[sort ?? DEFAULT_SORT];
}

/** The order of a list by `q`: the most relevant products first, the newest among equals. */
function byRelevance(found: FoundBy): Sorting {
  return {
    table: "s",
    key: () => found.relevance,
    order: sql`sort_key, created_at desc, id desc`,
  };
}

/**
 * Selects the products of a list as rows of `id`, with the `sort_key` of an order. Of the three
 * tables, only those with conditions or the key are read: for a search `product_search`, for a time
 * `product_changes`.
 */
export function selectListed(
  query: Partial<FoundQuery> & ListQuery,
  sorting?: Sorting,
): Statement {
  const { search, found, updated_since } = query;
  const seen = viewConditions(query.view);
  const filters = [...filterConditions(query, seen), ...seen];
  const terms = [
    ...search ? [...searchConditions(search), ...indexConditions(search)] : [],
    ...found?.conditions ?? [],
  ];
  const isSearched = terms.length > 0;
  // `products` has the time of creation, too: without a search it is read alone.
  const isByAge = sorting?.table === "s" && !isSearched;
  const sorted = isByAge ? "p" : sorting?.table;
  const needed: Record<Alias, boolean> = {
    s: isSearched,
    c: updated_since !== undefined || sorted === "c",
    p: filters.length > 0 || sorted === "p",
  };
  const [first = "p", ...others] = LISTED_ALIASES.filter((alias) => needed[alias]);
  // True of every product. The partial index by age requires this condition.
  const age = isByAge ? raw("and p.created_at >= '-infinity'") : [];
  const since = updated_since ? sql`and c.updated_at >= ${updated_since}` : [];
  return sql`
    select
      ${listedId(first)} as id
      ${sorting && sorted ? sql`, ${sorting.key(sorted)} as sort_key` : []}
      ${found ? raw(", s.created_at") : []}
    from ${listedTable(first)}
    ${others.map((alias) => joinListed(alias, first))}
    where ${raw(first)}.organization_id = ${organization} ${age} ${since} ${terms} ${filters}
  `;
}

/** Whether a list has only the products of a view. */
export function isOfView({ view }: Partial<FoundQuery>): boolean {
  return view !== undefined && !isOpen(view);
}

/** The column that has the id of the product. */
function listedId(alias: Alias): Statement {
  return raw(alias === "p" ? "p.id" : `${alias}.product_id`);
}

function listedTable(alias: Alias): Statement {
  return raw(`${LISTED_TABLES[alias]} ${alias}`);
}

/** Joins the row of the same product in another table. */
function joinListed(alias: Alias, first: Alias): Statement {
  const isSame = sql`${listedId(alias)} = ${listedId(first)}`;
  return sql`
    join ${listedTable(alias)} on ${raw(alias)}.organization_id = ${organization} and ${isSame}
  `;
}

/** Selects the ids after the given one, in their order, of the products that match the filters. */
export function selectIds(filters: Filters, after: string): Statement {
  return sql`
    select f.id
    from (${selectListed(filters as ListQuery)}) f
    where f.id > ${after}::uuid
    order by f.id
  `;
}

/** The ids of all products that a query finds, in its order, as one text. */
export async function listIds(
  database: Pick<Queries, "lookUp" | "scan">,
  query: ListQuery,
  view?: View,
): Promise<string> {
  const words = await readWords(database, query.q);
  const found = { ...query, found: words && foundByAll(words, view), view };
  const sorting = sortingOf(found);
  const [row] = await database.scan(unprepared(sql<{ ids: string | null }>`
    select string_agg(f.id::text, ',' order by ${sorting.order}) as ids
    from (${selectListed(found, sorting)}) f
  `));
  return row!.ids ?? "";
}
