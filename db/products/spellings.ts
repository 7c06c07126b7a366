/*
 * The spellings of a word with one mistake, as people type: a letter too many, too few or in
 * place of another, two that changed places, or no space between words. Each is a LIKE pattern of
 * which the trigram index finds a part: that costs the same whatever there is to find.
 */

/** A word of letters. Characters of Chinese and Japanese are words of their own. */
const LETTERS = /^(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\p{L}){5,30}$/u;

/** Letters that the trigram index finds. */
const INDEXED = /\p{L}{3}/u;

/** Whether a mistake in the word can be told: shorter words are spelled like many others. */
export function isSpelled(word: string): boolean {
  return LETTERS.test(word);
}

/** The word, and patterns of all that it may be meant for. In them, `_` is any character. */
export function spellings(word: string): string[] {
  const letters = Array.from(word);
  const all = letters.flatMap((letter, i) => {
    const before = letters.slice(0, i).join("");
    const after = letters.slice(i + 1).join("");
    const [next = "", ...others] = letters.slice(i + 1);
    return [
      `${before}${after}`,
      // At the ends, the word without a letter is a part of what is meant.
      ...before && after ? [`${before}_${after}`] : [],
      ...before ? [`${before}_${letter}${after}`] : [],
      ...next ? [`${before}${next}${letter}${others.join("")}`] : [],
    ];
  });
  return [...new Set([word, ...all])].filter((one) => INDEXED.test(one));
}
