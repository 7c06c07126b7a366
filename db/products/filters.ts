import { EXACT, FILTERS, type ListQuery } from "../../schema/list_query.ts";
import { codePoints } from "../../schema/values.ts";
import type { Sql } from "../connections/sql.ts";

/** The conditions of a list on product `p`, each with its `and`; empty without any. */
export function conditions(sql: Sql, query: ListQuery) {
  const { search, updated_since } = query;
  const conditions = [
    ...FILTERS.flatMap((column) => {
      const ids = query[column];
      return ids ? [sql`and ${oneOf(sql, column, ids)}`] : [];
    }),
    ...EXACT.flatMap((column) =>
      query[column] ? [sql`and p.${sql(column)} = ${query[column]}`] : []
    ),
    ...updated_since ? [sql`and p.updated_at >= ${updated_since}`] : [],
    ...search ? [sql`and ${containing(sql, search)}`] : [],
  ];
  // postgres.js takes an empty list for a parameter.
  return conditions.length > 0 ? conditions : sql``;
}

/** However many ids there are, they are one parameter: the text of the statement stays the same. */
function oneOf(sql: Sql, column: string, ids: string[]) {
  return ids.length === 1
    ? sql`p.${sql(column)} = ${ids[0]}`
    : sql`p.${sql(column)} = any(string_to_array(${ids.join()}, ',')::uuid[])`;
}

/** What stands between the parts of `search_text`; of these only a title may hold it too. */
const SEPARATOR = "\x1f";

/**
 * Whether title, product code or an ISBN of product `p` contains the term,
 * whatever its case. Digits with hyphens or spaces between them are looked for
 * in the ISBNs without these too.
 */
function containing(sql: Sql, term: string) {
  const bare = /^[\d -]+[xX]?$/.test(term) ? term.replace(/[ -]/g, "") : term;
  const shortest = Math.min(codePoints(term), codePoints(bare));
  // A trigram index has no entries for less than three characters: it would be read whole.
  // As an expression the column is out of that index's reach, and a covering one is read.
  const searchText = shortest < 3
    ? sql`(p.search_text || '')`
    : sql`p.search_text`;
  const key = sql`search_key(${literally(term)})`;
  const found = term.includes(SEPARATOR)
    ? sql`${searchText} like '%' || ${key} || '%' and search_key(p.title) like '%' || ${key} || '%'`
    : sql`${searchText} like '%' || ${key} || '%'`;
  if (bare === term || bare === "") return found;
  const pattern = `%${bare.toLowerCase()}%`;
  return sql`(
    ${found}
    or ${searchText} like ${pattern}
      and (p.isbn13 like ${pattern} or lower(p.isbn10) like ${pattern})
  )`;
}

/** The term with what `like` gives a meaning taken literally. */
function literally(term: string): string {
  return term.replace(/[\\%_]/g, "\\$&");
}
