import { isLeftOut, type View } from "../../../schema/view.ts";
import { joined, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { QueryWord, QueryWords } from "./query_words.ts";
import { containsWord, hasTrigram, indexedParts, isbnPartOf } from "./search.ts";
import {
  beginningPattern,
  isLong,
  isShort,
  spellings,
  spellingsOfShort,
  wordPattern,
} from "./spellings.ts";

/*
 * Finds the products for `q`: those with all of its words (`query_words.ts`), in the title, an ISBN
 * or an author's name. It compares `found_text` of `product_search`, here `s`, through the SQL
 * function `folded`. It also compares `found_name` of publishers and imprints, which most products
 * may show.
 */

/** The conditions on `s`, each with a leading `and`, and the order of the products found. */
export interface FoundBy {
  conditions: Statement[];
  /** The key of the order by relevance, lowest first. */
  relevance: Statement;
  /** Whether `s` has each short word at the beginning of a word: `pie` in `pies`, not in `happier`. */
  hasShortWords?: Statement | undefined;
}

/**
 * Finds products with each word, or whose publisher or imprint has it. If folding leaves nothing of
 * all words, they are searched for unfolded.
 */
export function foundByAll(query: QueryWords, view?: View): FoundBy {
  const isFolded = query.whole !== "";
  const contains = isFolded ? hasWord : ({ word }: QueryWord) => containsWord(word);
  const seen = isFolded && hidesIdentifiers(view)
    ? query.words.map((word) => sql` and ${hasWord(word, inSeenText)}`)
    : [];
  return {
    conditions: [...query.words.map((word) => sql` and ${contains(word)}`), ...seen],
    relevance: relevance(query),
    hasShortWords: isFolded ? beginWords(query.words) : undefined,
  };
}

/** The condition that `s`, or its publisher or imprint, has the word. */
function hasWord(
  { word, folded, in_publishers, in_imprints }: QueryWord,
  isIn = inFoundText,
): Statement {
  const texts = new Set([folded, isbnPartOf(word) || folded]);
  const isNamed = sql`like ${`%${folded}%`}`;
  // Comparing an id is cheaper than comparing a text.
  const alternatives = [
    ...in_publishers ? [isOf("publisher", isNamed)] : [],
    ...in_imprints ? [isOf("imprint", isNamed)] : [],
    ...Array.from(texts, (text) => isIn(text)),
  ];
  return sql`(${joined(alternatives, "or")})`;
}

/** Whether the view leaves out identifiers, which `found_text` has. What they alone have is not found. */
function hidesIdentifiers(view: View | undefined): boolean {
  return view !== undefined && isLeftOut(view, "product_identifiers.id_value");
}

/** The `found_text` of `s` without the product's identifiers, which stand in it one after the other. */
const seenText = sql`replace(
  s.found_text || chr(31),
  chr(31) || coalesce(
    (
      select string_agg(folded(e ->> 'id_value'), chr(31))
      from products i
      cross join jsonb_array_elements(i.product_identifiers) e
      where i.organization_id = ${organization} and i.id = s.product_id
    ),
    ''
  ) || chr(31),
  chr(31)
)`;

/** The condition that what is seen of `s` contains a folded text. */
function inSeenText(folded: string): Statement {
  return sql`${seenText} like ${`%${folded}%`}`;
}

/** The condition that `s` is of a publisher or an imprint with such a name. */
function isOf(what: "publisher" | "imprint", isNamed: Statement): Statement {
  return sql`${raw(`s.${what}_id`)} in (
    select r.id
    from ${raw(`${what}s`)} r
    where r.organization_id = ${organization} and r.found_name ${isNamed}
  )`;
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
  const [indexed, ...others] = indexedParts(folded);
  if (indexed === folded) return sql`s.found_text like ${pattern}`;
  return sql`(
    s.found_text like ${`%${indexed}%`}
    ${others.map((part) => sql`and s.found_text like ${`%${part}%`}`)}
    and (s.found_text || '') like ${pattern}
  )`;
}

/**
 * Articles, folded, that people leave out at the beginning of a title: of English, German, French,
 * Spanish, Italian, Portuguese, Dutch and the Nordic languages.
 */
const ARTICLES =
  "the a an der die das ein eine le la les un une el los las una il lo gli i o os as um uma de het een en et ett den det"
    .split(" ");

const ARTICLE = new RegExp(`^(?:${ARTICLES.join("|")}) (?=.)`);

/** Before a vowel, folding joins an article to its word: `L'Étoile` is `letoile`. */
const ELIDED = /^[aeiouyh]/;

/** The maximum number of characters before the first word of a title: an article and a space. */
const MAX_ARTICLE = Math.max(...ARTICLES.map(({ length }) => length)) + 1;

/**
 * Ranks how well `s` matches the words, best first:
 *
 *     1  they are the title
 *     2  they are the title without its article: `hobbit` is The Hobbit
 *     3  the title begins with them, with or without an article
 *     4  all are words of the title
 *     5  any other match
 *
 * Most titles lack a word, or begin otherwise, so the cheapest comparisons come first.
 */
function relevance({ words, whole }: QueryWords): Statement {
  const all = words.map(({ folded }) => folded);
  const isMissing = all.map((word) => sql`s.title not like ${`%${word}%`}`);
  const areWords = all.map((word) => sql`' ' || s.title || ' ' like ${`% ${word} %`}`);
  const core = whole.replace(ARTICLE, "");
  const before = ["", ...ARTICLES.map((one) => `${one} `), ...ELIDED.test(core) ? ["l"] : []];
  const length = Array.from(core).length;
  const place = sql`strpos(left(s.title, ${String(length + MAX_ARTICLE)}::int), ${core})`;
  return sql`
    case
      when ${joined(isMissing, "or")} then 5
      when s.title = ${whole} then 1
      when s.title like ${`${whole}%`} then 3
      when ${place} > 0 and left(s.title, ${place} - 1) ${isAmong(before)}
        then case when length(s.title) = ${place} - 1 + ${String(length)}::int then 2 else 3 end
      when ${joined(areWords, "and")} then 4
      else 5
    end
  `;
}

function isAmong(texts: readonly string[]): Statement {
  return sql`= any(string_to_array(${texts.join()}, ','))`;
}

/**
 * Finds the nearest products: each word may have one spelling mistake, of the short words only one.
 * The most similar titles come first. If `isFound`, some products have each word, but short words
 * only within others. These stay, and only a short word may have a mistake. Returns undefined if no
 * word may have a mistake, or too many may.
 */
export function foundNear(
  { words, whole }: QueryWords,
  isFound: boolean,
  view?: View,
): FoundBy | undefined {
  const long = isFound ? [] : words.filter(({ folded }) => isLong(folded));
  const others = words.filter((word) => !long.includes(word));
  const short = words.length > MAX_SPELLED ? [] : others.filter((word) =>
    isShort(word.folded) &&
    // Another word must be found by the index, to restrict what is compared.
    words.some((other) => other !== word && hasTrigram(other.folded))
  );
  if (long.length + short.length === 0 || long.length > MAX_SPELLED) return;
  const areExact = (exact: readonly QueryWord[]) => exact.map((word) => sql` and ${hasWord(word)}`);
  const ways = [
    ...long.length > 0 || isFound ? [areExact(others)] : [],
    ...short.map((word) => [
      sql` and ${hasShortWordNear(word)}`,
      ...areExact(others.filter((other) => other !== word)),
    ]),
  ];
  const seen = hidesIdentifiers(view) ? [...long, ...short].map(hasWordNearSeen) : [];
  return {
    conditions: [
      ...others.filter(() => seen.length > 0).filter((word) => !short.includes(word))
        .map((word) => sql` and ${hasWord(word, inSeenText)}`),
      ...seen.map((condition) => sql` and ${condition}`),
      ...long.map((word) => sql` and ${hasWordNear(word)}`),
      sql` and (${joined(ways.map((way) => sql`true${way}`), "or")})`,
    ],
    relevance: sql`-similarity(s.title, ${whole})`,
  };
}

/**
 * The maximum number of words that may have a mistake. Each takes a look-up in the index for each
 * of its spellings.
 */
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
  // An array, because without statistics the planner would join few products to few, in nested
  // loops.
  return sql`s.product_id = any(array(
    select n.product_id
    from product_search n
    where n.organization_id = ${organization} and n.found_text ${isLike}
    ${named("publishers", "publisher_id")}
    ${named("imprints", "imprint_id")}
  ))`;
}

/** The condition that what is seen of `s` has the word with at most one mistake. */
function hasWordNearSeen({ folded }: QueryWord): Statement {
  const isNear = isLong(folded)
    ? sql`like any(string_to_array(${spellings(folded).map((one) => `%${one}%`).join()}, ','))`
    : sql`~ ${wordPattern(spellingsOfShort(folded))}`;
  return inTextOrName(seenText, isNear);
}

/** The condition that `s`, or its publisher or imprint, has the short word with at most one mistake. */
function hasShortWordNear({ folded }: QueryWord): Statement {
  return inTextOrName(sql`(s.found_text || '')`, sql`~ ${wordPattern(spellingsOfShort(folded))}`);
}

/** The condition that the text, or the name of the publisher or imprint of `s`, matches. */
function inTextOrName(text: Statement, matches: Statement): Statement {
  return sql`(
    ${text} ${matches} or ${isOf("publisher", matches)} or ${isOf("imprint", matches)}
  )`;
}

/** The condition that `s` has each short word at the beginning of a word. Undefined without one. */
function beginWords(words: readonly QueryWord[]): Statement | undefined {
  const short = words.filter(({ folded }) => isShort(folded));
  if (short.length === 0) return;
  const conditions = short.map(({ folded, in_publishers, in_imprints }) => {
    const begins = sql`~ ${beginningPattern(folded)}`;
    const alternatives = [
      sql`s.found_text ${begins}`,
      ...in_publishers ? [isOf("publisher", begins)] : [],
      ...in_imprints ? [isOf("imprint", begins)] : [],
    ];
    return sql`(${joined(alternatives, "or")})`;
  });
  return joined(conditions, "and");
}
