import { invalid } from "../../schema/errors.ts";
import {
  CODE_FILTERS,
  type CodeFilter,
  COUNTED_FILTERS,
  DEFAULT_SORT,
  EXACT_FILTERS,
  type Filters,
  type ListQuery,
  NARROWING,
  REFERENCE_FILTERS,
  type Sort,
  TERM_FILTERS,
} from "../../schema/list_query.ts";
import type { ProductReference } from "../../schema/references.ts";
import {
  isOneOf,
  isOneOfTexts,
  opaque,
  organization,
  raw,
  sql,
  type Statement,
  unprepared,
} from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { readLong } from "../long_text.ts";
import { type EntryPage, limitOf, offsetOf } from "../entry_page.ts";
import { validDocument } from "./document.ts";
import { type Finding, finding, foldedWords, type Found, foundWordsOf, nearest } from "./find.ts";
import { documentsFirst, includedArrays, type ProductsRow, type Source } from "./pages.ts";
import { indexConditions, mayBeCommon, searchConditions } from "./search.ts";
import { termed } from "./terms.ts";

/**
 * Returns a page of products: of the nearest, if `q` finds none. Throws `VALIDATION_ERROR`
 * for a page over 16 MiB.
 */
export async function listProducts(
  database: Queries,
  query: ListQuery,
): Promise<EntryPage> {
  const found = await findWords(database, query.q);
  const page = await readPage(database, query, found && finding(found));
  const near = found && page.total === 0 ? nearest(found) : undefined;
  if (!near) return page;
  const nearby = await readPage(database, query, near);
  return { ...nearby, isNearest: nearby.total > 0 };
}

async function readPage(
  database: Queries,
  query: ListQuery,
  found: Finding | undefined,
): Promise<EntryPage> {
  const read = async (source: Source) => {
    const page = await readLong(
      database,
      "scan",
      (allowed) => selectPage({ ...query, found }, source, allowed),
    );
    return page!;
  };
  const { entries, total, too_long } = await documentsFirst(
    database,
    read,
  );
  if (too_long) {
    throw invalid("The query", [{
      parameter: "limit",
      code: "too_large",
      message: "The page is larger than 16 MiB: request fewer products or arrays",
    }]);
  }
  return {
    entries: entries === null ? "[]" : `[{${entries}}]`,
    total: Number(total),
  };
}

interface Query extends ListQuery {
  found: Finding | undefined;
}

/** Folds the words of `q`, and looks up the names that most products may show. */
async function findWords(
  database: Pick<Queries, "lookUp">,
  term: string | undefined,
): Promise<Found | undefined> {
  const given = term ? foundWordsOf(term) : [];
  if (given.length === 0) return;
  const words = await database.lookUp(foldedWords(given));
  return { words, whole: words[0]!.whole };
}

interface ListRow extends ProductsRow {
  /** The products without the outer braces, or null for an empty page or a page that is too long. */
  entries: string | null;
  total: string;
}

/**
 * The page, with the summaries of a source. One statement keeps products, order and
 * total consistent. Selecting the products from an index before joining makes late pages
 * of a million products a hundred times faster. Only products after OFFSET become rows.
 * The joins keep their order, so that nothing sorts the longer entries.
 */
function selectPage(
  query: Query,
  { summary, columns }: Source,
  allowed: number,
): Statement<ListRow> {
  const { limit, search, found, sort = DEFAULT_SORT } = query;
  // A search finds its products once, for the page and the total. A common word may find most
  // of the catalogue, of which a page reads little.
  const isFoundOnce = found || search && !mayBeCommon(search);
  // Filters make many statement texts. Only the most frequent lists are prepared.
  const isPrepared = sort === DEFAULT_SORT && storedCount(query);
  const offset = opaque(offsetOf(query), "bigint");
  const range = isPrepared
    ? sql`limit ${opaque(limit, "bigint")} offset ${offset}`
    : limitOf(query);
  const sorting = found && !query.sort ? byRelevance(found) : SORTING[sort];
  const { order } = sorting;
  const products = selected(query, sorting);
  const total = isFoundOnce ? raw("(select count(*) from found)") : totalOf(query);
  const bytes = sql`sum(octet_length(e.entry))`;
  const statement = sql<ListRow>`
    ${isFoundOnce ? sql`with found as materialized (${products})` : []}
    select
      ${total} as total,
      case when ${bytes} <= ${allowed}::int then string_agg(e.entry, '},{') end as entries,
      case when ${bytes} > ${allowed}::int then ${bytes}::float8 end as too_long,
      array_to_string(array_agg(e.id) filter (where e.entry is null), ',') as missing,
      bool_and(e.is_storable) as is_storable
    from (
      select
        p.id,
        ${summary}${includedArrays(query.include)} as entry,
        o.names_version is not null as is_storable
      from unnest(array(
        select page.id
        from (
          ${isFoundOnce ? raw("select f.* from found f") : products}
          order by ${order}
          ${range}
        ) page
        order by ${order}
      )) with ordinality page (id, place)
      -- The limit forces a look-up by primary key.
      cross join lateral (
        select ${columns}
        from products p
        where p.organization_id = ${organization} and p.id = page.id
        limit 1
      ) p
      join organizations o on o.id = ${organization}
      ${validDocument}
      order by place
    ) e
  `;
  return isPrepared ? statement : unprepared(statement);
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

const SORTING: Record<Sort, Sorting> = {
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
function selected(
  query: Partial<Query> & ListQuery,
  sorting?: Sorting,
): Statement {
  const { search, found, updated_since } = query;
  const filters = conditions(query);
  const terms = [
    ...search ? [...searchConditions(search), ...indexConditions(search)] : [],
    ...found?.conditions ?? [],
  ];
  const isSearched = terms.length > 0;
  // Without a term, products have the time of creation.
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
  // Every product's. The index by age has it as its condition.
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
  const found = words && finding(words);
  const { sort = DEFAULT_SORT } = query;
  const sorting = found && !query.sort ? byRelevance(found) : SORTING[sort];
  const [row] = await database.scan(unprepared(sql<{ ids: string | null }>`
    select string_agg(f.id::text, ',' order by ${sorting.order}) as ids
    from (${selected({ ...query, found }, sorting)}) f
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
function idsOfCodes(table: string, codes: readonly string[]): Statement {
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

/**
 * The key of the stored total: for all products, or for a single value of a single
 * filter. Undefined if the list must be counted.
 */
function storedCount(
  query: ListQuery,
): { filter: string; value: unknown } | undefined {
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (!narrowing) return { filter: "organization_id", value: organization };
  const byCode = CODE_FILTERS.find(({ name, reference }) =>
    name === narrowing && reference.isCounted
  );
  if (byCode && others.length === 0) {
    const [code, ...codes] = query[byCode.name] as string[];
    if (codes.length > 0) return;
    const { table, field } = byCode.reference;
    const ids = idsOfCodes(table, [code!]);
    return { filter: field, value: sql`(${ids})[1]` };
  }
  const filter = COUNTED_FILTERS.find((column) => column === narrowing);
  const [value, ...values] = filter && query[filter] || [];
  if (!filter || !value || others.length > 0 || values.length > 0) return;
  return { filter, value };
}

/**
 * The total of a list, as an SQL expression. If the stored total says that this is
 * the last page, the products are counted, so a total that is too small hides none.
 */
function totalOf(query: Query): Statement {
  const stored = storedCount(query);
  if (!stored) return countOf(query);
  const end = BigInt(query.page) * BigInt(query.limit);
  return sql`(
    select case when stored.total > ${String(end)} then stored.total else (
      select count(*)
      from (
        ${selected(query, SORTING[DEFAULT_SORT])}
        order by ${SORTING[DEFAULT_SORT].order}
        limit ${opaque(String(end + 1n), "bigint")}
      ) p
    ) end
    from (
      select coalesce(sum(c.products), 0) as total
      from product_counts c
      where c.organization_id = ${organization}
        and c.filter = ${stored.filter} and c.value = ${stored.value}
    ) stored
  )`;
}

/** Counts the products of a list. Those with a term are counted without reading them. */
function countOf(query: Query): Statement {
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (narrowing === "search" && others.length === 0) return countCommon(query);
  const filter = TERM_FILTERS.find((name) => name === narrowing);
  if (!filter || others.length > 0) {
    return sql`(select count(*) from (${selected(query)}) p)`;
  }
  const found = termed(filter, query[filter]!);
  return sql`(
    select count(*) from (select distinct t.product_id from (${found}) t) t
  )`;
}

/**
 * Counts what a search for short words finds. If the newest products say that they are
 * common, all texts are scanned: the trigram index would read most of them, one by one.
 */
function countCommon(query: Query): Statement {
  const isFound = searchConditions(query.search!);
  return sql`(
    select case
      when count(*) filter (where true ${isFound}) >= 5
        then (
          select count(*) from product_search s where s.organization_id = ${organization} ${isFound}
        )
      else (select count(*) from (${selected(query)}) p)
    end
    from (
      select s.search_text, s.product_id
      from product_search s
      where s.organization_id = ${organization}
      order by s.created_at desc, s.product_id desc
      limit 100
    ) s
  )`;
}
