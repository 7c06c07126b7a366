/** A random number from 0 to 1, excluding 1. */
export type Random = () => number;

/** The same numbers for the same seed (Marsaglia's 32-bit xorshift). */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** The most frequent words. Invented ones follow. */
const WORDS = ["the", "of", "a", "and", "in", "to", "for", "you", "on", "life"];
const VOCABULARY = 30_000;
const ONSETS = "b br c ch d dr f g gr h j k l m n p r s st t th v w z"
  .split(" ");
const RHYMES = "a al an ar e el en er i il in is o ol on or u un ur ai ea ou"
  .split(" ");

/** A title of one to eight words, which follow Zipf's law: `the` is in every fifth title, most words in few. */
export function titleOf(random: Random): string {
  const length = 1 + Math.floor(random() * random() * 8);
  const words = Array.from(
    { length },
    () => wordOf(Math.floor(VOCABULARY ** random()) - 1),
  );
  const title = words.join(" ");
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** The word with this rank, from 0. Among n titles, that of rank n / 10 is in about three. */
export function wordOf(rank: number): string {
  if (rank < WORDS.length) return WORDS[rank]!;
  let left = rank - WORDS.length;
  let name = "";
  for (let syllable = 0; syllable < 2 || left > 0; syllable++) {
    name += ONSETS[left % ONSETS.length]!;
    left = Math.floor(left / ONSETS.length);
    name += RHYMES[left % RHYMES.length]!;
    left = Math.floor(left / RHYMES.length);
  }
  return name;
}
