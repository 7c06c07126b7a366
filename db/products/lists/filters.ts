import {
  CODE_FILTERS,
  type CodeFilter,
  EXACT_FILTERS,
  type ListQuery,
  REFERENCE_FILTERS,
  TERM_FILTERS,
} from "../../../schema/list_query.ts";
import type { ProductReference } from "../../../schema/references.ts";
import {
  isOneOf,
  isOneOfTexts,
  joined,
  organization,
  raw,
  sql,
  type Statement,
} from "../../connections/sql.ts";
import { escapeLike } from "./search.ts";

/* The filters of a list, as conditions on product `p`. */

/**
 * The conditions of the filters of a list, each with a leading `and`. `seen` are the conditions of a
 * view: for `shared_isbn`, only products in the view are compared.
 */
export function filterConditions(query: ListQuery, seen: Statement[] = []): Statement[] {
  const {
    product_type,
    publication_date_from,
    publication_date_to,
    shared_isbn,
    program_id,
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
    ...shared_isbn ? [sql` and p.id in (${sharingIsbns(seen)})`] : [],
    ...program_id ? [linksTo("publishing_program_products", "program_id", program_id)] : [],
    ...TERM_FILTERS.flatMap((filter) =>
      query[filter] ? [sql` and p.id in (${selectTermed(filter, query[filter])})`] : []
    ),
  ];
}

/** Selects the products whose ISBN another one has, too, in either form. Check digits are not compared. */
function sharingIsbns(seen: Statement[]): Statement {
  return sql`
  with numbers as materialized (
    select p.id, left(p.isbn13, 12) as number
    from products p
    where p.organization_id = ${organization} and p.isbn13 is not null ${seen}
    union
    select p.id, '978' || left(p.isbn10, 9)
    from products p
    where p.organization_id = ${organization} and p.isbn10 is not null ${seen}
  )
  select n.id
  from numbers n
  where n.number in (
    select n.number from numbers n group by n.number having count(*) > 1
  )
`;
}

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

/**
 * Selects the ids of the products with one of these terms, some of them twice. A subject that ends
 * in `*` is a prefix. Each part is a range of the primary key of `product_terms`.
 */
export function selectTermed(
  filter: typeof TERM_FILTERS[number],
  values: readonly string[],
): Statement {
  const isBeginning = (value: string) => filter === "subject_code" && value.endsWith("*");
  const whole = values.filter((value) => !isBeginning(value))
    .map((value) => sql`term_of(${value})`);
  const parts = [
    ...whole.length > 0 ? [sql`x.term in (${joined(whole)})`] : [],
    ...values.filter(isBeginning).map((value) =>
      sql`x.term like ${escapeLike(value.slice(0, -1)) + "%"}`
    ),
  ].map((condition) =>
    sql`
      select x.product_id
      from product_terms x
      where x.organization_id = ${organization}
        and x.field = ${raw(`'${filter}'`)} and ${condition}
    `
  );
  return joined(parts, " union all ");
}
