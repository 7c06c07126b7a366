import * as v from "valibot";
import { ALPHA_2 } from "./alpha3.ts";
import { didYouMean } from "./spelling.ts";
import file from "../sql/code_lists.json" with { type: "json" };

/*
 * The ONIX code lists, the schemas of their codes, and the code that a wrong value probably means.
 */

/** The ONIX code lists by number. `sql/seed.sql` stores them in the database. */
export const CODE_LISTS = file.lists;

type NumberOf<Key> = Key extends `${infer List extends number}` ? List : never;

/** The number of a list. */
export type OnixList = NumberOf<keyof typeof CODE_LISTS>;

/** The expectation that messages about unknown codes name. Default: "a code of ONIX List …". */
const EXPECTED: { [list in OnixList]?: string } = {
  96: "a currency of ISO 4217, in capitals",
};

/**
 * A code of the list, described by its number for `/code-lists/{number}`. A list has one
 * schema, so that the OpenAPI document can name it.
 */
export function code(list: OnixList) {
  const known = CODE_SCHEMAS.get(list) ?? v.pipe(
    oneOfMany(list),
    v.description(`A code of ONIX List ${list}.`),
  );
  CODE_SCHEMAS.set(list, known);
  return known;
}

/** `v.picklist`, which compares with each of hundreds of codes, without the comparisons. */
function oneOfMany(list: OnixList) {
  const codes = codesIn(list);
  const schema = v.picklist(
    codes,
    ({ input }) => `invalid_code: ${expectedCode(list, input)}`,
  );
  const all = new Set<unknown>(codes);
  const run: typeof schema["~run"] = (dataset, config) =>
    all.has(dataset.value)
      ? { typed: true, value: dataset.value as string }
      : schema["~run"](dataset, config);
  return { ...schema, "~run": run };
}

/** The rest of the world, which is a region only in ONIX 2.1. */
export const ROW = "ROW";

/** The message about a value that is no code of the list. It suggests the likely code. */
export function expectedCode(list: OnixList, value: unknown): string {
  if (value === ROW && (list === 49 || list === 91)) {
    const kind = list === 49 ? "region" : "country";
    return `Expected a ${kind} of ONIX 3, which ROW is not: set is_rest_of_world of a sales right (ROWSalesRightsType), or name the countries`;
  }
  const expected = EXPECTED[list] ?? `a code of ONIX List ${list}`;
  return `Expected ${expected}, see /code-lists/${list}` +
    didYouMean(likelyCode(value, list));
}

/** Words that people write instead of codes, besides labels and codes in another case. */
const OTHER_CODES: { [list in OnixList]?: Record<string, string> } = {
  17: {
    aut: "A01",
    author: "A01",
    edt: "B01",
    editor: "B01",
    ill: "A12",
    illustrator: "A12",
    narrator: "E07",
    nrt: "E07",
    photographer: "A13",
    pht: "A13",
    translator: "B06",
    trl: "B06",
    writer: "A01",
  },
  27: { bic: "12", bisac: "10", keyword: "20", thema: "93" },
  49: { all: "WORLD", global: "WORLD", worldwide: "WORLD", ww: "WORLD" },
  50: {
    centimeter: "cm",
    centimetre: "cm",
    g: "gr",
    gram: "gr",
    inch: "in",
    inches: "in",
    kilo: "kg",
    kilogram: "kg",
    millimeter: "mm",
    millimetre: "mm",
    ounce: "oz",
    pound: "lb",
  },
  91: {
    uk: "GB",
    "great britain": "GB",
    england: "GB",
    usa: "US",
    "united states": "US",
  },
  150: {
    audiobook: "AJ",
    ebook: "ED",
    "e-book": "ED",
    hardcover: "BB",
    paperback: "BC",
    softback: "BC",
    softcover: "BC",
  },
  96: {
    "£": "GBP",
    stg: "GBP",
    ukp: "GBP",
    "€": "EUR",
    "$": "USD",
    dollar: "USD",
    "us$": "USD",
    sfr: "CHF",
    rmb: "CNY",
    dkr: "DKK",
    nkr: "NOK",
    skr: "SEK",
  },
};

/**
 * Finds the code that a wrong one probably means: one in another case or without its zero, another
 * word, one of several, or a label. For a language, also the other codes of ISO 639, such as `deu`
 * and `en`, and tags that begin with one, such as `en-GB`.
 */
export function likelyCode(input: unknown, list: OnixList): string | undefined {
  if (typeof input !== "string" && typeof input !== "number") return;
  const word = String(input).trim().toLowerCase();
  if (word === "" || word.length > MAX_LABEL) return;
  const known = codesByWord(list);
  const language = list === 74 && /^[a-z]{2,3}(?=$|[-_])/.exec(word)?.[0];
  return known.get(word) ?? known.get(`0${word}`) ??
    (language
      ? known.get(language) ??
        known.get(LANGUAGES.of(language)?.toLowerCase() ?? "")
      : known.get(word.replace(/s$/, "")));
}

const MAX_LABEL = 100;

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });

/** The codes of the list by other words, labels and themselves, in lower case. */
function codesByWord(list: OnixList): Map<string, string> {
  const words = WORDS.get(list) ?? new Map([
    ...OTHER_FORMS[list]?.() ?? [],
    ...knownIn(list).map(({ code, label }) => [label.toLowerCase(), code] as const),
    ...Object.entries(OTHER_CODES[list] ?? {}),
    ...codesIn(list).map((code) => [code.toLowerCase(), code] as const),
  ]);
  WORDS.set(list, words);
  return words;
}

/** The codes of other standards, and well-known names and signs. */
const OTHER_FORMS: {
  [list in OnixList]?: () => (readonly [string, string])[];
} = {
  74: () => namesOf(74, LANGUAGES),
  91: () => [
    ...namesOf(91, new Intl.DisplayNames("en", { type: "region" })),
    ...ALPHA_2,
  ],
  96: () => [
    ...namesOf(96, new Intl.DisplayNames("en", { type: "currency" })),
    ...codesIn(96).map((code) => [signOf(code), code] as const),
  ],
};

/** The codes of a list by their names. If two have the same name, the first counts. */
function namesOf(list: OnixList, names: Intl.DisplayNames) {
  return codesIn(list).filter((code) => code !== ROW).toReversed()
    .map((code) => [names.of(code)!.toLowerCase(), code] as const);
}

/** The sign of a currency, such as `a$`. */
function signOf(currency: string): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const sign = format.formatToParts(0).find(({ type }) => type === "currency");
  return sign!.value.toLowerCase();
}

const WORDS = new Map<OnixList, Map<string, string>>();

type CodeSchema = v.GenericSchema<string>;

const CODE_SCHEMAS = new Map<OnixList, CodeSchema>();

/** The codes of the list, in its order. */
export function codesIn(list: OnixList): string[] {
  return knownIn(list).map(({ code }) => code);
}

/** The codes with their labels, without the region that ONIX 3 no longer has. */
function knownIn(list: OnixList) {
  const { codes } = CODE_LISTS[list];
  return list === 49 ? codes.filter(({ code }) => code !== ROW) : codes;
}
