import { joined, organization, raw, sql, type Statement } from "../connections/sql.ts";
import type { QueryWord, QueryWords } from "./query_words.ts";
import { containsWord, indexedPart, isbnPartOf } from "./search.ts";
import { isSpelled, spellings } from "./spellings.ts";

/*
 * What `q` finds: products of which people know each word (`query_words.ts`), such as a title, an
 * ISBN or an author's name. It compares `found_text` of `product_search`, here `s`, by the SQL
 * function `folded`, and `found_name` of publishers and imprints, which most products may show.
 */

/** How a list finds products: by conditions on `s`, each with a leading `and`, and in which order. */
export interface FoundBy {
  conditions: Statement[];
  /** The key of the order by relevance, lowest first. */
  relevance: Statement;
}

/**
 * Finds what has each word, or is of a publisher or imprint that it names. If folding leaves
 * nothing of all of them, they are searched for as they are.
 */
export function foundByAll(query: QueryWords): FoundBy {
  const contains = query.whole === "" ? ({ word }: QueryWord) => containsWord(word) : hasWord;
  return {
    conditions: query.words.map((word) => sql` and ${contains(word)}`),
    relevance: relevance(query),
  };
}

function hasWord(
  { word, folded, in_publishers, in_imprints }: QueryWord,
): Statement {
  const texts = new Set([folded, isbnPartOf(word) || folded]);
  const named = (table: string) =>
    sql`(
      select r.id
      from ${raw(table)} r
      where r.organization_id = ${organization} and r.found_name like ${`%${folded}%`}
    )`;
  // An id is compared sooner than a text.
  const alternatives = [
    ...in_publishers ? [sql`s.publisher_id in ${named("publishers")}`] : [],
    ...in_imprints ? [sql`s.imprint_id in ${named("imprints")}`] : [],
    ...Array.from(texts, inFoundText),
  ];
  return sql`(${joined(alternatives, " or ")})`;
}

/** Kana, whose voicing marks `search_text` lacks. */
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * The condition that `found_text` contains a folded text, which has no sign of a pattern.
 * It begins with `search_text`.
 */
function inFoundText(folded: string): Statement {
  const pattern = `%${folded}%`;
  if (KANA.test(folded)) {
    return sql`(
      s.found_text like ${pattern} and substr(s.found_text, length(s.search_text) + 2) like ${pattern}
    )`;
  }
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
function relevance({ words, whole }: QueryWords): Statement {
  const all = words.map(({ folded }) => folded);
  const isMissing = all.map((word) => sql`s.title not like ${`%${word}%`}`);
  const areWords = all.map((word) => sql`' ' || s.title || ' ' like ${`% ${word} %`}`);
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

/**
 * Finds what is nearest, where nothing has each word: a word may be spelled with one mistake.
 * Those with the most similar title come first. Undefined if no word may have a
 * mistake, or too many may.
 */
export function foundNear({ words, whole }: QueryWords): FoundBy | undefined {
  const spelled = words.filter(({ folded }) => isSpelled(folded));
  if (spelled.length === 0 || spelled.length > MAX_SPELLED) return;
  return {
    conditions: words.map((word) =>
      sql` and ${spelled.includes(word) ? hasWordNear(word) : hasWord(word)}`
    ),
    relevance: sql`-similarity(s.title, ${whole})`,
  };
}

/** The most words that may have a mistake: each takes a look into the index for each of its spellings. */
const MAX_SPELLED = 8;

/** The condition that `s`, or its publisher or imprint, has the word with at most one mistake. */
function hasWordNear({ folded }: QueryWord): Statement {
  const patterns = spellings(folded).map((spelling) => `%${spelling}%`).join();
  const isLike = sql`like any(string_to_array(${patterns}, ','))`;
  const named = (table: string, column: string) =>
    sql`
      union all
      select p.id
      from products p
      where p.organization_id = ${organization} and p.${raw(column)} in (
        select r.id
        from ${raw(table)} r
        where r.organization_id = ${organization} and r.found_name ${isLike}
      )
    `;
  return sql`s.product_id in (
    select n.product_id
    from product_search n
    where n.organization_id = ${organization} and n.found_text ${isLike}
    ${named("publishers", "publisher_id")}
    ${named("imprints", "imprint_id")}
  )`;
}
