import { organization, raw, sql, type Statement } from "../connections/sql.ts";

/*
 * What `search` and `q` find. Both compare texts of `product_search`, here `s`: `search` the
 * title, product code and ISBNs in `search_text` by the SQL function `search_key`, and `q`
 * whatever people know of a book in `found_text` by the function `folded`.
 */

/** Separates the parts of the texts. Titles can contain it too. */
const SEPARATOR = "\x1f";

/** A phrase in double quotes, or a word. */
const WORD = /"([^"]*)"|\S+/g;

/** The same, with commas between words: `Surname, First`. */
const FOUND_WORD = /"([^"]*)"|[^\s,]+/g;

/** A letter with signs around it, such as an initial. */
const INITIAL = /^[\p{P}\p{S}]*\p{L}\p{M}*[\p{P}\p{S}]*$/u;

/** Part of a printed ISBN. */
const ISBN_PART = /^[\d -]+[xX]?$/;

/** What searches compare of the products that the service has indexed: all, but after an upgrade. */
export const indexedTexts = sql`
  select
    s.product_id, s.created_at, s.publisher_id, s.imprint_id, s.search_text, s.title,
    s.found_text
  from product_search s
  where s.organization_id = ${organization}
`;

/** The same of all products. That of the others is computed, which takes milliseconds to plan. */
export const allTexts = sql`
  ${indexedTexts}
  union all
  select
    v.product_id, v.created_at, v.publisher_id, v.imprint_id, v.search_text, v.title,
    v.found_text
  from searched_products v
  where v.organization_id = ${organization} and not exists (
    select
    from product_search s
    where s.organization_id = ${organization} and s.product_id = v.product_id
  )
`;

/** Whether an upgraded database still has products to index. */
export const isIndexing = sql`exists (select from search_backlog)`;

/** The search conditions on `s`: the title, the product code or an ISBN contains each word of the term. */
export function searchConditions(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${containsWord(word)}`);
}

/** The search conditions on the name of record `r`. */
export function namesContaining(term: string): Statement[] {
  return wordsOf(term).map((word) => sql` and ${nameContains(word)}`);
}

/** The condition that the name of record `r` contains the word. */
function nameContains(word: string): Statement {
  const key = hasTrigram(word)
    ? sql`search_key(r.name)`
    : sql`(search_key(r.name) || '')`;
  return sql`${key} like ${patternOf(word)}`;
}

/** The words and phrases of a term, longest first: the longest is the most selective. */
function wordsOf(term: string): string[] {
  return longestFirst(Array.from(
    term.matchAll(WORD),
    ([word, phrase = word]) => phrase.trim(),
  ));
}

function longestFirst(words: string[]): string[] {
  return [...new Set(words)].filter((word) => word !== "")
    .sort((one, other) => other.length - one.length);
}

/** The LIKE pattern for keys that contain the word. */
function patternOf(word: string): Statement {
  return sql`'%' || search_key(${escapeLike(word)}) || '%'`;
}

/** The condition that the title, the product code or an ISBN of `s` contains the word. */
function containsWord(word: string): Statement {
  const bare = ISBN_PART.test(word) ? word.replace(/[ -]/g, "") : word;
  const isIndexed = hasTrigram(word) && hasTrigram(bare);
  const pattern = patternOf(word);
  const found = inSearchText(pattern, isIndexed);
  if (word.includes(SEPARATOR)) {
    return sql`(${found} and exists (
      select
      from products p
      where p.organization_id = ${organization} and p.id = s.product_id
        and search_key(p.title) like ${pattern}
    ))`;
  }
  if (bare === word || bare === "") return found;
  // The ISBNs follow the title and the product code.
  const isbn = `%${SEPARATOR}%${SEPARATOR}%${bare.toLowerCase()}%`;
  return sql`(${found} or ${inSearchText(sql`${isbn}`, isIndexed)})`;
}

/**
 * The condition that `search_text` matches the pattern. `found_text` begins with it, and has
 * the trigram index. A scan compares the shorter text first. A pattern without a trigram
 * would scan the whole index, so an expression keeps the planner off it, and a covering
 * index is used.
 */
function inSearchText(pattern: Statement, isIndexed: boolean): Statement {
  return isIndexed
    ? sql`(s.search_text like ${pattern} and s.found_text like ${pattern})`
    : sql`(s.search_text || '') like ${pattern}`;
}

/** Whether the word has three letters or digits in a row, so the trigram index applies. */
function hasTrigram(word: string): boolean {
  const key = word.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
  return /[\p{L}\p{N}]{3}/u.test(key);
}

/** The text as part of a LIKE pattern that matches only itself. */
export function escapeLike(word: string): string {
  return word.replace(/[\\%_]/g, "\\$&");
}

/** The words and phrases of `q`, in order. Initials that follow each other are one word. */
export function foundWordsOf(term: string): string[] {
  const words: string[] = [];
  let isInitials = false;
  for (const [word, phrase] of term.matchAll(FOUND_WORD)) {
    const isInitial = phrase === undefined && INITIAL.test(word);
    if (isInitial && isInitials) words.push(`${words.pop()} ${word}`);
    else words.push((phrase ?? word).trim());
    isInitials = isInitial;
  }
  const found = words.filter((word) => word !== "");
  return found.length > 0 ? found : wordsOf(term);
}

/** The publishers and imprints whose names contain a word. Most words are in none. */
export interface Named {
  publishers: string[] | null;
  imprints: string[] | null;
}

/** Selects what each word names, in order. */
export function namedBy(words: readonly string[]): Statement<Named> {
  const ids = (table: string, word: string) =>
    sql`(
      select json_agg(r.id)
      from ${raw(table)} r
      where r.organization_id = ${organization} and folded(r.name) like ${
      foldedPattern(word)
    } and folded(${word}) <> ''
    )`;
  return sql`${
    words.map((word, i) =>
      sql`${i === 0 ? [] : raw(" union all ")}
        select ${ids("publishers", word)} as publishers, ${
        ids("imprints", word)
      } as imprints`
    )
  }`;
}

/**
 * The conditions that `s` has each word, or is of a publisher or imprint that it names. If
 * folding leaves nothing of all of them, they are searched for as they are.
 */
export function foundConditions(
  words: readonly string[],
  named: readonly Named[],
): Statement[] {
  const isFolded = sql`folded(${words.join(" ")}) <> ''`;
  const unfolded = words.map((word) =>
    sql` and (${isFolded} or ${containsWord(word)})`
  );
  const folded = words.map((word, i) => {
    const { publishers, imprints } = named[i]!;
    const bare = ISBN_PART.test(word) ? word.replace(/[ -]/g, "") : "";
    const text = lettersIn(word) < 3
      ? sql`(s.found_text || '')`
      : sql`s.found_text`;
    return sql` and (
      ${text} like ${foldedPattern(word)}
      ${bare ? sql`or ${text} like ${`%${bare.toLowerCase()}%`}` : []}
      ${publishers ? sql`or s.publisher_id ${isAnyOf(publishers)}` : []}
      ${imprints ? sql`or s.imprint_id ${isAnyOf(imprints)}` : []}
    )`;
  });
  return [...folded, ...unfolded];
}

function isAnyOf(ids: string[]): Statement {
  return sql`= any(string_to_array(${ids.join()}, ',')::uuid[])`;
}

/** The letters and digits in a row that `folded` leaves of a word, at the most. */
function lettersIn(word: string): number {
  const parts = word.normalize("NFKD").replace(/\p{M}/gu, "");
  return [...parts.matchAll(/[\p{L}\p{N}]/gu)].length;
}

/** The LIKE pattern of a word of `q`. One of which folding leaves nothing excludes nothing. */
function foldedPattern(word: string): Statement {
  return sql`'%' || folded(${word}) || '%'`;
}

/**
 * How well `s` matches the words, best first: 1 if they are the title, 2 if the title begins
 * with them, 3 if all are words of the title, else 4.
 */
export function relevance(words: readonly string[]): Statement {
  const whole = sql`folded(${words.join(" ")})`;
  const contained = words.map((word, i) =>
    sql`${i === 0 ? [] : raw(" and ")}
      ' ' || s.title || ' ' like '% ' || folded(${word}) || ' %'`
  );
  return sql`
    case
      when s.title = ${whole} then 1
      when s.title like ${whole} || '%' then 2
      when ${contained} then 3
      else 4
    end
  `;
}
