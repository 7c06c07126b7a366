/*
 * Titles with the word frequencies of real ones: a few words in most of them, most
 * words in few. Words follow Zipf's law, with an exponent and lengths that fit
 * English titles. `the` is in about a third of them.
 */

/** Words of English titles, most frequent first. */
const WORDS = `
the of a and in to for you on life my from love one story i an is world man
me with night at how girl death last book other little house dark stories
your dead all time that secret it black who we what new city history war red
true fire first blood guide art god no king good tales are magic heart
things why complete by great lost this blue not when american way summer be
girls moon out day power boy game big up about midnight white his two home
three tale daughter after woman adventures end year queen beautiful vampire
never road more family will fall princess light if kiss her lord men where
club sea go bad do forever long our prince dream shadow darkness as bones
hidden like poems high street shadows journey lady five before people earth
america just days rising grave star into everything heaven murder school son
living memoir wife glass green children down human bone knight mind ice dawn
storm food truth dreams river soul angels dragon dog angel through key back
short novel beauty perfect part lives inside winter us body science gone
side garden gods here prey now broken twilight years kings can old dance
without child sun snow island boys know between four tell walking too hard
darkest rock stone women wild christmas cat under fear was set have second
best cross secrets water wicked song dragons or die am strange empire case
sweet rose small born hour most so among seven rise than kill diary half
witch wind thousand castle tree over cold its rules country thing devil name
worlds there lover killing behind business evil mother hope deep full six
future ghost live thief curious being walk were eye search bear silver faith
autobiography sky sword sisters pretty times redemption success change land
right eyes them quest twenty recipes marriage invisible get free north notes
beyond spy ever play selected stars lion confessions make see ashes battle
chronicles fallen friends call brain paris kitchen brothers rich master
universe baby run greatest falling collection fish wolf every next modern
path demon happy town music take games train golden room something stranger
found madness illustrated nights peace lies keep naked mile work left
century far friend age edge passion door simple making sex third lake grace
away cookbook young memory stay personal let souls legend mountain mouse
place nothing crown fat innocent silent flight frog private works justice
fifth say again double dangerous wisdom hunger code shades odyssey talk
until changed diaries still rabbit freedom chance some happiness cry only
destiny going once hearts mine gate gift hand own goodbye hell look heat
mercy sons americas self everyday breaking paper miss return silence
thinking curse companion called places very woods bird magicians wizard
study holy graphic space getting wall think thoughts fury list assassin
monster matter english crossing burning dogs ordinary comes magician always
revolution dust essays warrior sin reality revenge burn bible joy point
swords divine letter survival society money academy came bridge hat alice
lucky hunt come bed ultimate spirit give find she they mars note apprentice
nine epic but affair wedding awakening happened gathering jungle need vision
wolves tower rainbow paradise better miracle against prophecy south hot
dirty beach zero less fever captain sister saving mystery sugar library skin
trouble season face sleeping frost`.trim().split(/\s+/);

const VOCABULARY = 60_000;

const EXPONENT = 1.05;

/** The percentages of titles with one word, two words, and so on. */
const LENGTHS = [11, 22, 24, 15, 10, 6, 4, 3, 2, 1, 1, 1];

const ONSETS = "b br c ch d dr f g gr h j k l m n p r s st t th v w z".split(
  " ",
);
const RHYMES = "a al an ar e el en er i il in is o ol on or u un ur ai ea ou"
  .split(" ");

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

/** Generates titles from random numbers. */
export function createTitles(random: Random): () => string {
  const words = Array.from({ length: VOCABULARY }, (_, rank) => word(rank));
  const draw = drawer(words.map((_, rank) => (rank + 1) ** -EXPONENT), random);
  const drawLength = drawer(LENGTHS, random);
  return () => {
    const title = Array.from(
      { length: 1 + drawLength() },
      () => words[draw()],
    ).join(" ");
    return title.charAt(0).toUpperCase() + title.slice(1);
  };
}

/** The word of a rank. Invented names follow the real words. */
function word(rank: number): string {
  if (rank < WORDS.length) return WORDS[rank]!;
  let rest = rank - WORDS.length;
  let name = "";
  for (let syllable = 0; syllable < 2 || rest > 0; syllable++) {
    name += ONSETS[rest % ONSETS.length]!;
    rest = Math.floor(rest / ONSETS.length);
    name += RHYMES[rest % RHYMES.length]!;
    rest = Math.floor(rest / RHYMES.length);
  }
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Draws an index with a probability proportional to its weight. */
function drawer(weights: number[], random: Random): () => number {
  let sum = 0;
  const sums = Float64Array.from(weights, (weight) => sum += weight);
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
