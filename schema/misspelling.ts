/**
 * Whether the name looks like a misspelling of the known one. No edit is likely in
 * short names, which resemble too many words, one in longer and two in long names.
 */
export function isMisspelling(name: string, known: string): boolean {
  const max = known.length < 8 ? 0 : known.length < 12 ? 1 : 2;
  return Math.abs(name.length - known.length) <= max &&
    editDistance(name.toUpperCase(), known) <= max;
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (char === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
