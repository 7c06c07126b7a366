import {
  CODE_FILTERS,
  COUNTED_FILTERS,
  DEFAULT_SORT,
  type ListQuery,
  NARROWING,
  TERM_FILTERS,
} from "../../../schema/list_query.ts";
import { opaque, organization, sql, type Statement } from "../../connections/sql.ts";
import { idsOfCodes, selectTermed } from "./filters.ts";
import { searchConditions } from "./search.ts";
import { type FoundQuery, isOfView, selectListed, SORTING } from "./selected.ts";

/* The totals of lists. Stored totals are used where possible, because counting a catalogue is slow. */

/**
 * The key of the stored total: for all products, or for a single value of a single
 * filter. Undefined if the list must be counted.
 */
export function countKeyOf(
  query: ListQuery & Partial<FoundQuery>,
): { filter: string; value: unknown } | undefined {
  if (isOfView(query)) return;
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (!narrowing) return { filter: "organization_id", value: organization };
  if (others.length > 0) return;
  const byCode = CODE_FILTERS.find(({ name, reference }) =>
    name === narrowing && reference.isCounted
  );
  if (byCode) {
    const [code, ...codes] = query[byCode.name] as string[];
    if (codes.length > 0) return;
    const { table, field } = byCode.reference;
    return { filter: field, value: sql`(${idsOfCodes(table, [code!])})[1]` };
  }
  const filter = COUNTED_FILTERS.find((column) => column === narrowing);
  if (!filter) return;
  const values = query[filter] ?? [];
  return values.length === 1 ? { filter, value: values[0] } : undefined;
}

/**
 * Returns the total of a list, as an SQL expression. If this is the last page by the stored total,
 * the products are counted, so that a total that is too small hides none.
 */
export function totalOf(query: FoundQuery): Statement {
  const stored = countKeyOf(query);
  if (!stored) return countOf(query);
  const end = BigInt(query.page) * BigInt(query.limit);
  return sql`(
    select case when stored.total > ${String(end)} then stored.total else (
      select count(*)
      from (
        ${selectListed(query, SORTING[DEFAULT_SORT])}
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
function countOf(query: FoundQuery): Statement {
  const [narrowing, ...others] = NARROWING.filter((name) => query[name]);
  if (isOfView(query) || others.length > 0) return countListed(query);
  if (narrowing === "search") return countCommon(query);
  const filter = TERM_FILTERS.find((name) => name === narrowing);
  if (!filter) return countListed(query);
  const found = selectTermed(filter, query[filter]!);
  return sql`(
    select count(*) from (select distinct t.product_id from (${found}) t) t
  )`;
}

/** Counts the products of a list by reading them. */
function countListed(query: FoundQuery): Statement {
  return sql`(select count(*) from (${selectListed(query)}) p)`;
}

/**
 * Counts the products for a search of short words. If the newest products show that they are
 * common, all texts are scanned: the trigram index would read most of them, one by one.
 */
function countCommon(query: FoundQuery): Statement {
  const isFound = searchConditions(query.search!);
  return sql`(
    select case
      when count(*) filter (where true ${isFound}) >= 5
        then (
          select count(*) from product_search s where s.organization_id = ${organization} ${isFound}
        )
      else ${countListed(query)}
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
