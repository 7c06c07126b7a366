import { EXACT, FILTERS, type ListQuery } from "../../schema/list_query.ts";
import { codePoints } from "../../schema/values.ts";
import { raw, sql, type Statement } from "../connections/sql.ts";

/** The conditions of a list on product `p`, each with its `and`. */
export function conditions(query: ListQuery): Statement[] {
  const { search, updated_since } = query;
  return [
    ...FILTERS.flatMap((column) => {
      const ids = query[column];
      return ids ? [sql` and ${oneOf(column, ids)}`] : [];
    }),
    ...EXACT.flatMap((column) =>
      query[column] ? [sql` and p.${raw(column)} = ${query[column]}`] : []
    ),
    ...updated_since ? [sql` and p.updated_at >= ${updated_since}`] : [],
    ...search ? [sql` and ${containing(search)}`] : [],
  ];
}

/** The ids are one parameter, so the text of the statement does not depend on how many there are. */
function oneOf(column: string, ids: string[]): Statement {
  return ids.length === 1
    ? sql`p.${raw(column)} = ${ids[0]}`
    : sql`p.${raw(column)} = any(string_to_array(${ids.join()}, ',')::uuid[])`;
}

/** What separates the parts of `search_text`; only a title may hold it too. */
const SEPARATOR = "\x1f";

/**
 * Whether title, product code or an ISBN of product `p` contains the term,
 * whatever its case. Digits with hyphens or spaces between them are looked for
 * in the ISBNs without these too.
 */
function containing(term: string): Statement {
  const bare = /^[\d -]+[xX]?$/.test(term) ? term.replace(/[ -]/g, "") : term;
  const shortest = Math.min(codePoints(term), codePoints(bare));
  // A trigram index has no entries for less than three characters and would be
  // read whole. An expression keeps the planner from it: a covering index is read.
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
