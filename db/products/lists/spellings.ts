/*
 * The spellings of a word with one typing mistake: an extra, missing or wrong letter, two swapped
 * letters, or a missing space. In longer words, `ph` may also be written as `f` or `v`.
 *
 * A word of five or more letters is compared with parts of texts. Each spelling is a LIKE pattern,
 * for which the trigram index finds a part at a constant cost. A word of three or four letters with
 * a mistake is part of many words (`pe` for `pie`), so it is compared with full words, by a regular
 * expression that no index helps.
 *
 * For example, `hobit` has the pattern `hob_it`, which finds `hobbit`.
 */

/** Letters. Characters of Chinese and Japanese are words of their own. */
const LETTERS = /^(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\p{L}){3,30}$/u;

/** Letters that the trigram index finds. */
const INDEXED = /\p{L}{3}/u;

/** The letters of the longest short word. */
const SHORT = 4;

/** Whether a mistake in the word can be found by parts of texts. */
export function isLong(word: string): boolean {
  return LETTERS.test(word) && Array.from(word).length > SHORT;
}

/** Whether a mistake in the word can be found by full words. */
export function isShort(word: string): boolean {
  return LETTERS.test(word) && Array.from(word).length <= SHORT;
}

/**
 * Returns the word, and LIKE patterns of all words that it may be a misspelling of. In them, `_` is
 * any character.
 */
export function spellings(word: string): string[] {
  const all = mistakesIn(word).flatMap(({ before, letter, after, swapped }) => [
    `${before}${after}`,
    // At the ends no letter is inserted: the word is then already a part of the correct one.
    ...before && after ? [`${before}_${after}`] : [],
    ...before ? [`${before}_${letter}${after}`] : [],
    ...swapped,
  ]);
  return [...new Set([word, ...all, ...otherSounds(word)])].filter((one) => INDEXED.test(one));
}

/** `ph`, and the letters by which people write its sound: Stephen and Steven, Sophie and Sofie. */
const SOUND = /ph|[fv]/g;

/** Returns the word with `ph` for one `f` or `v`, or the other way around. */
function otherSounds(word: string): string[] {
  return Array.from(word.matchAll(SOUND)).flatMap(({ 0: letters, index }) => {
    const others = letters === "ph" ? ["f", "v"] : ["ph"];
    return others.map((other) =>
      `${word.slice(0, index)}${other}${word.slice(index + letters.length)}`
    );
  });
}

/** Returns the short word, and regular expressions of all words that it may be a misspelling of. */
export function spellingsOfShort(word: string): string[] {
  const all = mistakesIn(word).flatMap(({ before, letter, after, swapped }) => [
    `${before}${after}`,
    `${before}${ANY}${after}`,
    `${before}${ANY}${letter}${after}`,
    ...swapped,
  ]);
  return [...new Set([word, ...all, `${word}${ANY}`])];
}

/** Each place in the word at which a mistake may be. */
function mistakesIn(word: string) {
  const letters = Array.from(word);
  return letters.map((letter, i) => {
    const before = letters.slice(0, i).join("");
    const [next = "", ...others] = letters.slice(i + 1);
    const after = next + others.join("");
    const swapped = next ? [`${before}${next}${letter}${others.join("")}`] : [];
    return { before, letter, after, swapped };
  });
}

/*
 * In folded texts, spaces separate words, and U+001F separates texts. Classes such as `\w`
 * depend on the locale of the database.
 */
const SEPARATOR = "[ \x1f]";
const ANY = "[^ \x1f]";

/** The regular expression of texts with one of these words. */
export function wordPattern(words: readonly string[]): string {
  return `(?:^|${SEPARATOR})(?:${words.join("|")})(?:$|${SEPARATOR})`;
}

/** The regular expression of texts with a word that begins so. */
export function beginningPattern(letters: string): string {
  return `(?:^|${SEPARATOR})${letters}`;
}
