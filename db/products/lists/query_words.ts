import { json, organization, raw, sql, type Statement } from "../../connections/sql.ts";
import type { Queries } from "../../database.ts";
import { hasTrigram, wordsOf } from "./search.ts";

/*
 * Splits `q` into words, and folds them as the searched texts are folded (without case, accents and
 * signs).
 *
 * For example, `J. R. R. Tolkien` has the words `jrr` and `tolkien`.
 */

/** A phrase in double quotes, or a word. Commas separate words too: `Surname, First`. */
const QUERY_WORD = /"([^"]*)"|[^\s,]+/g;

/** A letter with signs around it, such as an initial. */
const INITIAL = /^[\p{P}\p{S}]*\p{L}\p{M}*[\p{P}\p{S}]*$/u;

/** The words and phrases of `q`, in order. Initials that follow each other are one word. */
function wordsOfQuery(term: string): string[] {
  const words: string[] = [];
  let isInitials = false;
  for (const [word, phrase] of term.matchAll(QUERY_WORD)) {
    const isInitial = phrase === undefined && INITIAL.test(word);
    if (isInitial && isInitials) words.push(`${words.pop()} ${word}`);
    else words.push((phrase ?? word).trim());
    isInitials = isInitial;
  }
  const found = words.filter((word) => word !== "");
  return found.length > 0 ? found : wordsOf(term);
}

/** A word of `q`. */
export interface QueryWord {
  /** As it is typed. */
  word: string;
  /** Its folded form. Empty if folding leaves nothing of it. */
  folded: string;
  /** Whether names of publishers or imprints contain it. Most words are in none. */
  in_publishers: boolean;
  in_imprints: boolean;
}

/** The words of `q`, folded, in order, and all of `q` folded. */
export interface QueryWords {
  words: QueryWord[];
  whole: string;
}

/** Folds the words of `q`, and looks up the names that most products may show. */
export async function readWords(
  database: Pick<Queries, "lookUp">,
  term: string | undefined,
): Promise<QueryWords | undefined> {
  const given = term ? wordsOfQuery(term) : [];
  if (given.length === 0) return;
  const words = await database.lookUp(foldedWords(given));
  return { words, whole: words[0]!.whole };
}

/**
 * Selects the words of `q` in order, each with the full term, and whether names contain it. A word
 * that many names contain is found among the first thousand of them, any other by the trigram
 * index, which the planner uses for a count. That index finds no short word: for one, names are
 * read until one of them contains it.
 */
function foldedWords(
  words: readonly string[],
): Statement<QueryWord & { whole: string }> {
  const rows = words.map((word, place) => (
    { word, place, is_short: !hasTrigram(word) }
  ));
  const isNamed = (table: string) => {
    const names = sql`
      from ${raw(table)} r
      where r.organization_id = ${organization}
    `;
    return sql`
      w.folded <> '' and case
        when w.is_short
          then exists (select ${names} and (r.found_name || '') like '%' || w.folded || '%')
        when exists (
          select
          from (select r.found_name ${names} limit 1000) r
          where r.found_name like '%' || w.folded || '%'
        ) then true
        else (select count(*) ${names} and r.found_name like '%' || w.folded || '%') > 0
      end as ${raw(`in_${table}`)}
    `;
  };
  return sql`
    select
      w.word, w.folded, ${isNamed("publishers")}, ${isNamed("imprints")},
      folded(${words.join(" ")}) as whole
    from (
      select w.word, w.is_short, w.place, folded(w.word) as folded
      from jsonb_to_recordset(${json(rows)}) w (word text, place int, is_short boolean)
      -- Keeps it from being folded for each name.
      offset 0
    ) w
    order by w.place
  `;
}
