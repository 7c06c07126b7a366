import { normalized } from "./element.ts";

/*
 * Names of persons as catalogues write them, and as they are spoken. For example,
 * `Twain, Mark, 1835-1910` is Mark Twain.
 */

/** A name with the key names first, such as `Surname, First, Jr.`, in the order of speech. */
export function spoken(inverted: string): string {
  const [surname = "", ...others] = withoutYears(inverted).split(",")
    .map((part) => part.trim()).filter((part, i) => part && (i === 0 || !YEAR_ALONE.test(part)));
  // Initials such as M.A. may be all that is known of the first names.
  const isSuffix = (part: string, i: number) => GENERATION.test(part) || i > 0 && DEGREE.test(part);
  const first = others.filter((part, i) => !isSuffix(part, i));
  const name = [...first, surname].join(" ");
  return [name, ...others.filter(isSuffix)].join(", ");
}

/** A name without the years of a life, such as `(1835-1910)`, `, b. 1970` and `, 1970-`. */
export function withoutYears(name: string): string {
  const rest = normalized(name.replace(YEARS_IN_BRACKETS, " "))
    .replaceAll(" ,", ",").replace(/ \.$/, "");
  const left = rest.split(",").map((part) => part.replace(YEARS, ""))
    .filter((part) => /\S/.test(part)).join(",");
  return left === "" ? name : left;
}

/** The words of a name, folded as `q` folds them: in lower case, without marks. */
export function nameWords(name: string): string[] {
  const folded = name.normalize("NFKD").replace(/\p{Mn}+/gu, "").toLowerCase()
    .replace(/[øłđðıþßæœ]/g, (letter) => FOLDED[letter]!);
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Letters that NFKD does not take apart, as people type them. `folded` of `0001_schema.sql` does the same. */
const FOLDED: Readonly<Record<string, string>> = {
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ı: "i",
  þ: "th",
  ß: "ss",
  æ: "ae",
  œ: "oe",
};

/** Parts of the patterns for years of a life: `b. 1970`, `fl. ca. 1500 B.C.`, `1835-1910`. */
const SPACE = "\\s{0,2}";
const DASH = `${SPACE}(?:[-\u2010-\u2015\u2212/]|--)${SPACE}`;
const ERA = `(?:${SPACE}(?:a\\.?d\\.?|b\\.?c\\.?(?:e\\.?)?|c\\.?e\\.?))?`;
const YEAR = `(?:(?:c|ca|circa)\\.?${SPACE})?\\d{3,4}\\??${ERA}`;
const MARKED = `(?:(?:b|d|geb|gest|fl)\\.|born|died|active|n\u00e9e?|[*\u2020+])${SPACE}${YEAR}`;
const SPAN = `${YEAR}${DASH}(?:${YEAR}|present)?|[-\u2010-\u2015\u2212]${YEAR}`;
const LIFE = `(?:${MARKED}(?:${DASH}(?:${YEAR})?)?|${SPAN})`;

/** The years at the end of a part of a name: a span of them, or one that is marked. */
const YEARS = new RegExp(`(?:^|(?<=\\s))${LIFE}\\.?$`, "iu");

const YEAR_ALONE = new RegExp(`^${YEAR}\\.?$`, "iu");

const YEARS_IN_BRACKETS = new RegExp(
  `[([]${SPACE}(?:${LIFE}|${YEAR})(?:${SPACE}[,;]?${SPACE}${LIFE})?${SPACE}[)\\]]`,
  "giu",
);

/** Suffixes that distinguish generations: Jr., III. */
const GENERATION = /^(?:jn?r|sn?r|jun|sen)\.?$|^(?:junior|senior|ii|iii|iv|2nd|3rd|4th)$/i;

/** Degrees, orders and the like. A dot or a space in one may be left out. */
// deno-fmt-ignore
const DEGREES = [
  "ph. d", "d. phil", "m. phil", "ed.d", "psy.d", "th.d", "d.sc", "d.min",
  "m.d", "d.d.s", "d.v.m", "d.d", "m.a", "m.sc", "m.s", "m.b.a", "m.f.a",
  "m.p.h", "m.div", "b.a", "b.sc", "j.d", "ll.b", "ll.d", "ll.m", "r.n", "c.p.a",
  "esq", "c.b.e", "k.b.e", "m.b.e", "o.b.e", "f.r.s", "k.c", "q.c",
  "s.j", "o.p", "o.s.b", "v", "vi",
];

const DEGREE = new RegExp(
  `^(?:${
    DEGREES.map((one) => one.replaceAll(".", "\\.?").replaceAll(" ", "\\s?"))
      .join("|")
  })\\.?$`,
  "i",
);

/** Joins the parts of a title or name with a space between them, but none after an apostrophe or a hyphen. */
export function joined(
  parts: readonly (string | undefined)[],
): string | undefined {
  return parts.reduce((whole, part) => {
    if (!whole || !part) return whole || part;
    return whole + (ELIDED.test(whole) ? "" : " ") + part;
  }, undefined);
}

/** Ends as `L’` and `Al-` do. */
const ELIDED = /[\p{L}\p{N}]['\u2018\u2019\u02bb\u02bc\u2010\u2011-]$/u;

/** The parts of a name, in the order in which they are spoken. */
export const NAME_PARTS = [
  "NamesBeforeKey",
  "PrefixToKey",
  "KeyNames",
  "NamesAfterKey",
  "SuffixToKey",
];
