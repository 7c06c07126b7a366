import { codesIn, expectedCode, type OnixList, ROW } from "../../../../schema/onix_codes.ts";
import { withoutFraction, withPoint } from "./decimals.ts";

/*
 * The kinds of values in `data_elements.txt`, and their forms. A value in another form with the
 * same meaning, such as `30,80`, is corrected.
 */

/** The texts of a kind, after a correction. */
interface ValueKind {
  form: RegExp;
  correct?: (value: string) => string;
}

const WHOLE = /^\+?\d+$/;
const DECIMAL = /^\+?(?:\d+(?:\.\d*)?|\.\d+)$/;
const DAY =
  "(?:19|20)\\d\\d(?:(?:0[1-9]|1[0-2])(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])(?:29|30)|(?:0[13578]|1[02])31)";
const LEAP_DAY = "(?:19(?:0[48]|[2468][048]|[13579][26])|20(?:0[048]|[2468][048]|[13579][26]))0229";
const TIME = "(?:[01]\\d|2[0-3])[0-5]\\d(?:[0-5]\\d)?";
const ZONE = "(?:Z|[+-](?:0\\d|1[0-2])(?:00|15|30|45))";

/** The parts of a URI (RFC 3986, 3). A relative one has no colon before a slash. */
const SCHEME = "(?:[A-Za-z][A-Za-z\\d+.-]*:|(?=[^:]*(?:[/?#]|$)))";
const AUTHORITY =
  "(?:\\/\\/(?:(?:[^\\s/?#@%]|%[\\dA-Fa-f]{2})*@)?(?:\\[[\\dA-Fa-f:.]+\\]|(?:[^\\s/?#@:[\\]%]|%[\\dA-Fa-f]{2})*)(?::\\d+)?(?=[/?#]|$)|(?!\\/\\/))";
const PATH = "(?:[^\\s#%[\\]]|%[\\dA-Fa-f]{2})*";

/** The kinds of values. That of codes is the number of their list, with `*` for several of them. */
export const KINDS: Readonly<Record<string, ValueKind>> = {
  n: { form: WHOLE, correct: withoutFraction },
  "n+": { form: /^\+?0*[1-9]\d*$/, correct: withoutFraction },
  int: { form: /^[+-]?\d{1,9}$/ },
  d: { form: DECIMAL, correct: withPoint },
  "d+": {
    form: /^(?=.*[1-9])\+?(?:\d+(?:\.\d*)?|\.\d+)$/,
    correct: withPoint,
  },
  dec: { form: /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/, correct: withPoint },
  percent: {
    form: /^\+?(?:0*\d{1,2}(?:\.\d*)?|\.\d+|0*100(?:\.0*)?)$/,
    correct: withPoint,
  },
  uri: {
    form: new RegExp(`^${SCHEME}${AUTHORITY}${PATH}(?:#${PATH})?$`),
    correct: encoded,
  },
  time: { form: /^\d{3}[0-5]\d[0-5]\d(?:\d\d)?$/ },
  timestamp: {
    form: new RegExp(`^(?:${DAY}|${LEAP_DAY})(?:T${TIME}${ZONE}?)?$`),
  },
  year: { form: /^(?:1\d{3}|20\d\d)$/ },
  years: { form: /^(?:1\d{3}|20\d\d)(?:-(?:1\d{3}|20\d\d))?$/ },
  roman: { form: /^(?:[MDCLXVI]+|[mdclxvi]+)$/ },
  levels: { form: /^\d+(?:\.\d+)*$/ },
  "levels-": { form: /^(?:\d+|-)(?:\.(?:\d+|-))*$/ },
  // Each number from 1.
  "levels+": { form: /^[1-9]\d*(?:\.[1-9]\d*)*$/, correct: withoutLeadingZeros },
  "levels+-": {
    form: /^(?:[1-9]\d*|-)(?:\.(?:[1-9]\d*|-))*$/,
    correct: withoutLeadingZeros,
  },
  email: {
    form: /^\w+(?:[-+.']\w+)*@(?=.*\.)\w+(?:[-.]\w+)*$/,
  },
  // Lists 14, and 34 without the codes of earlier releases.
  case: { form: /^0[0-3]$/ },
  format: { form: /^0[23567]$/ },
  text: { form: /\S/ },
  flow: { form: /\S/ },
  flag: { form: /^$/, correct: () => "" },
};

/** The attributes by their letters in `data_elements.txt`, with the kinds of their values. */
export const ATTRIBUTES: Readonly<
  Record<string, [letter: string, kind: string]>
> = {
  collationkey: ["k", "text"],
  dateformat: ["d", "55"],
  datestamp: ["", "timestamp"],
  language: ["l", "74"],
  sourcename: ["", "text"],
  sourcetype: ["", "3"],
  textcase: ["c", "case"],
  textformat: ["f", "format"],
  textscript: ["s", "121"],
};

/** The maximum length of a code, number, date or URL. Real ones have less than a tenth of it. */
const MAX_VALUE = 65_536;

/**
 * The value as the kind demands it, or undefined if it is none. Of several codes, those
 * that are none are left out.
 */
export function validValue(kind: string, value: string): string | undefined {
  if (value.length > MAX_VALUE && kind !== "text" && kind !== "flow") return;
  return VALIDATORS.getOrInsertComputed(kind, validatorOf)(value);
}

type Validator = (value: string) => string | undefined;

const VALIDATORS = new Map<string, Validator>();

function validatorOf(kind: string): Validator {
  const codes = codesOfKind(kind);
  if (!codes) {
    const { form, correct } = KINDS[kind]!;
    return (value) => {
      if (form.test(value)) return value;
      const corrected = correct?.(value);
      return corrected !== undefined && form.test(corrected) ? corrected : undefined;
    };
  }
  if (!kind.endsWith("*")) {
    return (value) => codes.has(value) ? value : undefined;
  }
  return (value) => {
    const known = value.split(" ").filter((code) => codes.has(code));
    return known.length > 0 ? known.join(" ") : undefined;
  };
}

const CODES_OF_KINDS = new Map<string, ReadonlySet<string> | undefined>();

/** The codes that a kind of value has, or undefined if it has others than codes. */
export function codesOfKind(kind: string): ReadonlySet<string> | undefined {
  return CODES_OF_KINDS.getOrInsertComputed(kind, () => {
    const list = Number.parseInt(kind);
    if (Number.isNaN(list)) return;
    return new Set(codesIn(list as OnixList).filter((code) => code !== ROW));
  });
}

/** The codes in a value that its list does not have. Of a value that is too long, none is named. */
export function wrongCodes(kind: string, value: string): string[] {
  return value.length > MAX_VALUE ? [] : value.split(" ").filter((code) => !validValue(kind, code));
}

/**
 * Returns the sentence about unknown codes. If an element has several codes, it names the unknown
 * ones.
 */
export function expectedCodes(kind: string, wrong: readonly string[]): string {
  const sentence = expectedCode(Number.parseInt(kind) as OnixList, wrong[0]);
  return kind.endsWith("*") && wrong.length > 0
    ? `${wrong.slice(0, 10).join(", ")}: ${sentence}`
    : sentence;
}

/** The sentence about a value that is not a number of the kind. */
export function expectedNumber(kind: string): string {
  switch (kind) {
    case "n":
    case "n+":
      return "Expected a whole number";
    case "percent":
      return "Expected a percentage from 0 to 100";
    default:
      return "Expected a number, such as 30.80";
  }
}

function withoutLeadingZeros(levels: string): string {
  return levels.split(".").map((level) => level.replace(/^0+(?=\d)/, "")).join(".");
}

/**
 * Percent-encodes characters that a URL cannot contain: spaces, brackets in its path, bare percent
 * signs.
 */
function encoded(url: string): string {
  const [, start = "", rest = ""] = /^([^:/?#]+:\/\/[^/?#]*)?(.*)$/s.exec(url)!;
  return start.replace(/\s/g, "%20") + rest.replace(
    /[\s[\]]|%(?![\dA-Fa-f]{2})/g,
    (character) => PERCENT_ENCODED[character] ?? "%20",
  );
}

const PERCENT_ENCODED: Readonly<Record<string, string>> = {
  "[": "%5B",
  "]": "%5D",
  "%": "%25",
};
