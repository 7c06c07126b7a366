import {
  isOneOf,
  joined,
  json,
  organization,
  raw,
  sql,
  type Statement,
} from "../connections/sql.ts";
import { searchedColumns } from "./searched.ts";

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

/** `the`, `from`, `und`, `avec`: words that many titles have are hardly longer. */
const COMMON_LENGTH = 4;

/** Part of a printed ISBN. */
const ISBN_PART = /^[\d -]+[xX]?$/;

/** A number of which the trigram index looks for the end. */
const LONG_NUMBER = /^\d+(\d{5}[\dxX])$/;

/** What searches compare. */
export interface Texts {
  rows: Statement;
  /** What an index finds of a search, before its conditions are checked. */
  indexConditions(term: string): Statement[];
  /** Whether most products may have each word of a search: a page reads few of them by an index. */
  mayBeCommon(term: string): boolean;
}

/** The number of products of the organization that wait to be indexed, as after an upgrade. Null if none do. */
export const waitingProducts = sql`(
  select b.products
  from search_backlog b
  where b.organization_id = ${organization}
)`;

const storedRows = sql`
  select ${searchedColumns}
  from product_search s
  where s.organization_id = ${organization}
`;

/** The stored texts of all products. None while products wait: searches then begin anew. */
export const storedTexts: Texts = {
  rows: sql`${storedRows} and ${waitingProducts} is null`,
  indexConditions: (term) => wordsOf(term).flatMap(indexCondition),
  // Names and other words that few products have are longer.
  mayBeCommon: (term) =>
    wordsOf(term).every((word) => word.length <= COMMON_LENGTH),
};

/** The same while products wait, whose texts are computed. */
export const computedTexts: Texts = {
  rows: sql`
    ${storedRows}
    union all
    select ${searchedColumns}
    from searched_products v
    where v.organization_id = ${organization} and not exists (
      select
      from product_search s
      where s.organization_id = ${organization} and s.product_id = v.product_id
    )
  `,
  indexConditions: () => [],
  mayBeCommon: () => false,
};

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
  const bare = bareOf(word);
  if (bare === word || bare === "") return found;
  // The ISBNs follow the title and the product code.
  const isbn = `%${SEPARATOR}%${SEPARATOR}%${bare.toLowerCase()}%`;
  return sql`(${found} or s.search_text like ${isbn})`;
}

/**
 * What the trigram index finds of a word in `found_text`, which begins with `search_text`.
 * Nothing of a word without a trigram: then the covering index of `search_text` is scanned.
 */
function indexCondition(word: string): Statement[] {
  const forms = [...new Set([word, bareOf(word)])];
  if (!forms.every(hasTrigram)) return [];
  const found = forms.map((form) =>
    sql`s.found_text like ${patternOf(indexedPart(form))}`
  );
  return [sql` and (${joined(found, " or ")})`];
}

/** The digits of a word that may be part of a printed ISBN, or else the word. */
function bareOf(word: string): string {
  return ISBN_PART.test(word) ? word.replace(/[ -]/g, "") : word;
}

/**
 * The part of a word that the trigram index looks for. Of a million products, some 20,000
 * have each three digits of an ISBN: it is faster to compare the few with its last six.
 */
function indexedPart(word: string): string {
  return LONG_NUMBER.exec(word)?.[1] ?? word;
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

/** A word of `q`. */
export interface FoundWord {
  /** As it is typed. */
  word: string;
  /** As texts have it. Empty if folding leaves nothing of it. */
  folded: string;
  /** The publishers and imprints whose names contain it. Most words are in none. */
  publishers: string[] | null;
  imprints: string[] | null;
}

/** What `q` finds, in order of its words. */
export interface Found {
  words: FoundWord[];
  /** The whole term, folded. */
  whole: string;
}

/**
 * Selects the words of `q` in order, each with the whole term. The names of all publishers
 * and imprints are folded once for all words.
 */
export function foldedWords(
  words: readonly string[],
): Statement<FoundWord & { whole: string }> {
  const named = (table: string) =>
    sql`(
      select json_agg(r.id)
      from ${raw(`folded_${table}`)} r
      where w.folded <> '' and r.name like '%' || w.folded || '%'
    ) as ${raw(table)}`;
  const foldedNames = (table: string) =>
    sql`${raw(`folded_${table}`)} as materialized (
      select r.id, folded(r.name) as name
      from ${raw(table)} r
      where r.organization_id = ${organization}
    )`;
  return sql`
    with ${foldedNames("publishers")}, ${foldedNames("imprints")}
    select
      w.word, w.folded, ${named("publishers")}, ${named("imprints")},
      folded(${words.join(" ")}) as whole
    from (
      select w.word, w.place, folded(w.word) as folded
      from jsonb_array_elements_text(${
    json(words)
  }) with ordinality w (word, place)
      -- Keeps it from being folded for each name.
      offset 0
    ) w
    order by w.place
  `;
}

/**
 * The conditions that `s` has each word, or is of a publisher or imprint that it names. If
 * folding leaves nothing of all of them, they are searched for as they are.
 */
export function foundConditions({ words, whole }: Found): Statement[] {
  if (whole === "") {
    return words.map(({ word }) => sql` and ${containsWord(word)}`);
  }
  return words.map(({ word, folded, publishers, imprints }) => {
    const bare = ISBN_PART.test(word) ? bareOf(word).toLowerCase() : "";
    const texts = new Set(bare === "" ? [folded] : [folded, bare]);
    // An id is compared sooner than a text.
    const alternatives = [
      ...publishers ? [sql`s.publisher_id ${isOneOf(publishers)}`] : [],
      ...imprints ? [sql`s.imprint_id ${isOneOf(imprints)}`] : [],
      ...Array.from(texts, inFoundText),
    ];
    return sql` and (${joined(alternatives, " or ")})`;
  });
}

/** The condition that `found_text` contains a folded text, which has no sign of a pattern. */
function inFoundText(folded: string): Statement {
  const pattern = `%${folded}%`;
  const letters = folded.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  if (letters < 3) return sql`(s.found_text || '') like ${pattern}`;
  const indexed = indexedPart(folded);
  return indexed === folded ? sql`s.found_text like ${pattern}` : sql`(
    s.found_text like ${`%${indexed}%`} and (s.found_text || '') like ${pattern}
  )`;
}

/**
 * How well `s` matches the words, best first: 1 if they are the title, 2 if the title begins
 * with them, 3 if all are words of the title, else 4. Most titles lack a word, and the
 * shortest comparison tells so first.
 */
export function relevance({ words, whole }: Found): Statement {
  const all = words.map(({ folded }) => folded);
  const isMissing = all.map((word) => sql`s.title not like ${`%${word}%`}`);
  const areWords = all.map((word) =>
    sql`' ' || s.title || ' ' like ${`% ${word} %`}`
  );
  return sql`
    case
      when ${joined(isMissing, " or ")} then 4
      when s.title = ${whole} then 1
      when s.title like ${`${whole}%`} then 2
      when ${joined(areWords, " and ")} then 3
      else 4
    end
  `;
}
