import {
  CODE_FILTERS,
  type CodeFilter,
  DEFAULT_SORT,
  EXACT_FILTERS,
  type Filters,
  type ListQuery,
  REFERENCE_FILTERS,
  type Sort,
  TERM_FILTERS,
} from "../../schema/list_query.ts";
import type { ProductReference } from "../../schema/references.ts";
import {
  isOneOf,
  isOneOfTexts,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { type Finding, finding, findWords } from "./find.ts";
import { indexConditions, searchConditions } from "./search.ts";
import { termed } from "./terms.ts";

/* The products that a list selects, and their order. */

/** A list, with what its `q` finds. */
export interface FoundQuery extends ListQuery {
  found: Finding | undefined;
}

/** The order of a list. Its columns are `sort_key` and `id`, with `q` also `created_at`. */
interface Sorting {
  /** The table that has the key: products, their changes, or what searches compare, with all times of creation. */
  of: Alias;
  /** The column `sort_key`, of the table with this alias. */
  key(alias: Alias): Statement;
  /** The ORDER BY. The id breaks ties, so pages neither repeat nor skip a product. */
  order: Statement;
}

const LISTED_TABLES = {
  s: "product_search",
  c: "product_changes",
  p: "products",
};

type Alias = keyof typeof LISTED_TABLES;

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

function by(of: Alias, column: string, descending?: string): Sorting {
  return {
    of,
    key: (alias) => raw(`${alias}.${column}`),
    order: raw(
      descending ? `sort_key ${descending}, id desc` : "sort_key, id",
    ),
  };
}

/** The order of a list: the one that it asks for, or the default. */
export function sortingOf({ found, sort }: FoundQuery): Sorting {
  return found && !sort ? byRelevance(found) : SORTING[sort ?? DEFAULT_SORT];
}

/** The order of a list by `q`: the most relevant products first, the newest among equals. */
function byRelevance(found: Finding): Sorting {
  return {
    of: "s",
    key: () => found.relevance,
    order: sql`sort_key, created_at desc, id desc`,
  };
}

/**
 * The products of a list as rows of `id`, with the `sort_key` of an order. Only the tables
 * with conditions or the key are read: a term alone needs what searches compare, a time
 * alone `product_changes`.
 */
export function selected(
  query: Partial<FoundQuery> & ListQuery,
  sorting?: Sorting,
): Statement {
  const { search, found, updated_since } = query;
  const filters = conditions(query);
  const terms = [
    ...search ? [...searchConditions(search), ...indexConditions(search)] : [],
    ...found?.conditions ?? [],
  ];
  const isSearched = terms.length > 0;
  // `product_search` has the time of creation for searches. Without one, `products` is read alone.
  const isByAge = sorting?.of === "s" && !isSearched;
  const of = isByAge ? "p" : sorting?.of;
  const isByTime = updated_since !== undefined || of === "c";
  const isOfProducts = filters.length > 0 || of === "p" ||
    !isSearched && !isByTime;
  const aliases: Alias[] = [
    ...isSearched ? ["s" as const] : [],
    ...isByTime ? ["c" as const] : [],
    ...isOfProducts ? ["p" as const] : [],
  ];
  const [first, ...others] = aliases as [Alias, ...Alias[]];
  const idOf = (alias: Alias) => raw(alias === "p" ? "p.id" : `${alias}.product_id`);
  const from = (alias: Alias) => raw(`${LISTED_TABLES[alias]} ${alias}`);
  const joins = others.map((alias) =>
    sql`
    join ${from(alias)} on ${raw(alias)}.organization_id = ${organization} and ${idOf(alias)} = ${
      idOf(first)
    }`
  );
  // True of every product: the partial index by age is used only with its condition.
  const age = isByAge ? raw("and p.created_at >= '-infinity'") : [];
  const since = updated_since ? sql`and c.updated_at >= ${updated_since}` : [];
  return sql`
    select
      ${idOf(first)} as id
      ${sorting && of ? sql`, ${sorting.key(of)} as sort_key` : []}
      ${found ? raw(", s.created_at") : []}
    from ${from(first)}
    ${joins}
    where ${raw(first)}.organization_id = ${organization} ${age} ${since} ${terms} ${filters}
  `;
}

/** The ids of the products that the filters find after an id, in their order, as rows. */
export function selectIds(filters: Filters, after: string): Statement {
  return sql`
    select f.id
    from (${selected(filters as ListQuery)}) f
    where f.id > ${after}::uuid
    order by f.id
  `;
}

/** The ids of all products that a query finds, in its order, as one text. */
export async function listIds(
  database: Pick<Queries, "lookUp" | "scan">,
  query: ListQuery,
): Promise<string> {
  const words = await findWords(database, query.q);
  const found = { ...query, found: words && finding(words) };
  const sorting = sortingOf(found);
  const [row] = await database.scan(unprepared(sql<{ ids: string | null }>`
    select string_agg(f.id::text, ',' order by ${sorting.order}) as ids
    from (${selected(found, sorting)}) f
  `));
  return row!.ids ?? "";
}

/** The filter conditions on product `p`, each with a leading `and`. */
function conditions(query: ListQuery): Statement[] {
  const {
    product_type,
    publication_date_from,
    publication_date_to,
    shared_isbn,
  } = query;
  return [
    ...REFERENCE_FILTERS.flatMap((filter) => {
      const ids = query[filter.field];
      return ids ? refersTo(filter, ids) : [];
    }),
    ...CODE_FILTERS.flatMap((filter) => {
      const codes = query[filter.name] as string[] | undefined;
      return codes ? [hasCode(filter, codes)] : [];
    }),
    ...publication_date_from ? [sql` and p.publication_date >= ${publication_date_from}`] : [],
    ...publication_date_to ? [sql` and p.publication_date <= ${publication_date_to}`] : [],
    ...product_type
      ? [
        sql` and p.product_type = any(string_to_array(${product_type.join()}, ','))`,
      ]
      : [],
    ...EXACT_FILTERS.flatMap((column) =>
      query[column] ? [sql` and p.${raw(column)} ${isOneOfTexts(query[column])}`] : []
    ),
    ...shared_isbn ? [sql` and p.id in (${sharingIsbns})`] : [],
    ...TERM_FILTERS.flatMap((filter) =>
      query[filter] ? [sql` and p.id in (${termed(filter, query[filter])})`] : []
    ),
  ];
}

/** The ISBNs of products, in both forms, without the check digit of either. */
const isbns = sql`
  select p.id, left(p.isbn13, 12) as number
  from products p
  where p.organization_id = ${organization} and p.isbn13 is not null
  union
  select p.id, '978' || left(p.isbn10, 9)
  from products p
  where p.organization_id = ${organization} and p.isbn10 is not null
`;

/** The products whose ISBN another one has, too. */
const sharingIsbns = sql`
  with numbers as materialized (${isbns})
  select n.id
  from numbers n
  where n.number in (
    select n.number from numbers n group by n.number having count(*) > 1
  )
`;

/** The conditions that product `p`, or one of its rows, refers to one of these records. */
function refersTo(
  { field, array, isSeries }: ProductReference,
  ids: string[],
): Statement[] {
  if (array) return [linksTo(array.table, field, ids)];
  const condition = sql` and p.${raw(field)} ${isOneOf(ids)}`;
  // A series is one of the product's collections, and that table has the index.
  return isSeries ? [condition, linksTo("product_collections", "collection_id", ids)] : [condition];
}

/** The ids of the records of a shared table with these codes. */
export function idsOfCodes(table: string, codes: readonly string[]): Statement {
  return sql`array(
    select r.id from ${raw(table)} r where r.code ${isOneOfTexts(codes)}
  )`;
}

/** The condition that product `p`, or its format, refers to a record with one of these codes. */
function hasCode(
  { reference: { field, table, heldBy } }: CodeFilter,
  codes: readonly string[],
): Statement {
  const ids = idsOfCodes(table, codes);
  if (!heldBy) return sql` and p.${raw(field)} = any(${ids})`;
  const hasReference = sql`x.${raw(field)} = any(${ids})`;
  return sql` and p.${raw(heldBy)} = any(array(
    select x.id
    from formats x
    where x.organization_id = ${organization} and ${hasReference}
  ))`;
}

function linksTo(table: string, column: string, ids: string[]): Statement {
  const isLinked = sql`x.${raw(column)} ${isOneOf(ids)}`;
  return sql` and p.id in (
    select x.product_id
    from ${raw(table)} x
    where x.organization_id = ${organization} and ${isLinked}
  )`;
}
