/*
 * Names of people, word by word.
 */

/** The words of a name, folded as a search folds them. */
export function wordsOf(name: string): string[] {
  const folded = name.normalize("NFD").replace(/\p{Mn}+/gu, "").toLowerCase();
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}
