import { sql, type Statement } from "../connections/sql.ts";

/** Separates the parts of `search_text`. Titles can contain it too. */
const SEPARATOR = "\x1f";

/** A phrase in double quotes, or a word. */
const WORD = /"([^"]*)"|\S+/g;

/** Part of a printed ISBN. */
const ISBN_PART = /^[\d -]+[xX]?$/;

/**
 * The search conditions on product `p`: the title, the product code or an ISBN
 * contains each word of the term. The SQL function `search_key` folds case and
 * accents.
 */
export function searchConditions(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${contains(word)}`);
}

/** The search conditions on the name of record `r`. */
export function namesContaining(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${nameContains(word)}`);
}

/** The condition that the name of record `r` contains the word. */
export function nameContains(
  word: string,
  isIndexed = hasTrigram(word),
): Statement {
  const key = isIndexed
    ? sql`search_key(r.name)`
    : sql`(search_key(r.name) || '')`;
  return sql`${key} like ${patternOf(word)}`;
}

/** The words and phrases of a term, longest first: the longest is the most selective. */
export function wordsOf(term: string): string[] {
  return [...new Set(termsOf(term))]
    .sort((one, other) => other.length - one.length);
}

/** The words and phrases of a term in its own order. */
export function termsOf(term: string): string[] {
  const words = Array.from(
    term.matchAll(WORD),
    ([word, phrase = word]) => phrase.trim(),
  );
  return words.filter((word) => word !== "");
}

/** The LIKE pattern for keys that contain the word. */
export function patternOf(word: string): Statement {
  return sql`'%' || search_key(${escapeLike(word)}) || '%'`;
}

/** The condition that the title, the product code or an ISBN of product `p` contains the word. */
export function contains(word: string): Statement {
  const bare = ISBN_PART.test(word) ? word.replace(/[ -]/g, "") : word;
  // A pattern without a trigram would scan the whole trigram index. The expression
  // keeps the planner off that index, so it uses a covering index.
  const searchText = hasTrigram(word) && hasTrigram(bare)
    ? sql`p.search_text`
    : sql`(p.search_text || '')`;
  const pattern = patternOf(word);
  if (word.includes(SEPARATOR)) {
    return sql`${searchText} like ${pattern} and search_key(p.title) like ${pattern}`;
  }
  if (bare === word || bare === "") return sql`${searchText} like ${pattern}`;
  const isbn = `%${bare.toLowerCase()}%`;
  return sql`(
    ${searchText} like ${pattern}
    or ${searchText} like ${isbn} and (p.isbn13 like ${isbn} or lower(p.isbn10) like ${isbn})
  )`;
}

/** Whether the word has three letters or digits in a row, so the trigram index applies. */
export function hasTrigram(word: string): boolean {
  const key = word.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
  return /[\p{L}\p{N}]{3}/u.test(key);
}

/** The text as part of a LIKE pattern that matches only itself. */
export function escapeLike(word: string): string {
  return word.replace(/[\\%_]/g, "\\$&");
}
