import { bareIsbn } from "../../../schema/values.ts";
import { joined, organization, sql, type Statement } from "../../connections/sql.ts";

/*
 * Finds the products for `search`: those whose title, product code or ISBNs contain each word. It
 * compares `search_text` of `product_search`, here `s`, through the SQL function `search_key`.
 */

/** Separates the parts of the texts. Titles can contain it too. */
const SEPARATOR = "\x1f";

/** A phrase in double quotes, or a word. */
const SEARCHED_WORD = /"([^"]*)"|\S+/g;

/** The maximum length of words that many titles have: `the`, `from`, `und`, `avec`. */
const COMMON_LENGTH = 4;

/** Part of a printed ISBN, with hyphens of every kind. */
const ISBN_PART = /^[-\u2010-\u2015\u2212\d ]+[xX]?$/;

/** A long number, of which the trigram index looks for the last digits. */
const LONG_NUMBER = /^\d+(\d{6}[\dxX])$/;

/** Whether most products may contain each word of a search. Names and rare words are longer. */
export function mayBeCommon(term: string): boolean {
  return wordsOf(term).every((word) => word.length <= COMMON_LENGTH);
}

/**
 * Conditions that follow from a search and that the trigram index answers. They add nothing to
 * `searchConditions`, and only reduce what is read.
 */
export function indexConditions(term: string): Statement[] {
  return wordsOf(term).flatMap(indexCondition);
}

/** The search conditions on `s`: the title, the product code or an ISBN contains each word of the term. */
export function searchConditions(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${containsWord(word)}`);
}

/** The search conditions on the name of record `r`. */
export function namesContaining(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${nameContains(word)}`);
}

function nameContains(word: string): Statement {
  const key = hasKeyTrigram(word) ? sql`r.name_key` : sql`(r.name_key || '')`;
  return sql`${key} like '%' || key_of_name(${escapeLike(word)}) || '%'`;
}

/** The words and phrases of a term, longest first: the longest is the most selective. */
export function wordsOf(term: string): string[] {
  const words = Array.from(
    term.matchAll(SEARCHED_WORD),
    ([word, phrase = word]) => phrase.trim(),
  );
  return [...new Set(words)].filter((word) => word !== "")
    .sort((one, other) => other.length - one.length);
}

/** The LIKE pattern for keys that contain the word. */
function patternOf(word: string): Statement {
  return sql`'%' || search_key(${escapeLike(word)}) || '%'`;
}

/** The condition that the title, the product code or an ISBN of `s` contains the word. */
export function containsWord(word: string): Statement {
  const pattern = patternOf(word);
  const found = sql`s.search_text like ${pattern}`;
  if (word.includes(SEPARATOR)) {
    return sql`(${found} and exists (
      select
      from products p
      where p.organization_id = ${organization} and p.id = s.product_id
        and search_key(p.title) like ${pattern}
    ))`;
  }
  const digits = isbnPartOf(word);
  if (digits === word || digits === "") return found;
  // The ISBNs follow the title and the product code.
  const isbn = `%${SEPARATOR}%${SEPARATOR}%${digits}%`;
  return sql`(${found} or s.search_text like ${isbn})`;
}

/**
 * The part of a word that the trigram index finds in `found_text`, which begins with `search_text`.
 * Empty for a word without a trigram: then the covering index of `search_text` is scanned.
 */
function indexCondition(word: string): Statement[] {
  const forms = [...new Set([word, isbnPartOf(word) || word])];
  if (!forms.every(hasKeyTrigram)) return [];
  const found = forms.map((form) => {
    const parts = indexedParts(form).map((part) => sql`s.found_text like ${patternOf(part)}`);
    return sql`(${joined(parts, "and")})`;
  });
  return [sql` and (${joined(found, "or")})`];
}

/**
 * The digits of a word that may be part of a printed ISBN, as searched texts have them. Empty for
 * any other word.
 */
export function isbnPartOf(word: string): string {
  return ISBN_PART.test(word) ? bareIsbn(word).toLowerCase() : "";
}

/**
 * The parts of a word that the trigram index looks for. Of a million products, some 20,000
 * have each three digits of an ISBN: it is faster to compare the few with its last six. Many ISBNs
 * have `000`, so the index does not look for that: `9788000500003` has `050`, `500` and `003`.
 */
export function indexedParts(word: string): string[] {
  const [, end] = LONG_NUMBER.exec(word) ?? [];
  if (!end) return [word];
  const trigrams = Array.from({ length: end.length - 2 }, (_, i) => end.slice(i, i + 3));
  const rarer = new Set(trigrams.filter((trigram) => trigram !== "000"));
  return end.includes("000") && rarer.size > 2 ? [...rarer] : [end.slice(1)];
}

/** Whether a text has three letters or digits in a row, by which the trigram index finds it. */
export function hasTrigram(text: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(text);
}

/** Whether the key of a word, which has no accents, has a trigram. */
function hasKeyTrigram(word: string): boolean {
  return hasTrigram(word.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC"));
}

/** The text as part of a LIKE pattern that matches only itself. */
export function escapeLike(word: string): string {
  return word.replace(/[\\%_]/g, "\\$&");
}
