/*
 * Names of people, word by word.
 */

/** The words of a name, in lower case and without marks. */
export function nameWords(name: string): string[] {
  const folded = name.normalize("NFD").replace(/\p{Mn}+/gu, "").toLowerCase();
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}
