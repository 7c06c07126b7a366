import { withHint } from "./errors.ts";
import * as v from "valibot";

/*
 * Schemas of single values: texts, ids, dates, URLs and identifiers of the trade, with their check
 * digits.
 */

/** The length in Unicode code points. */
export function codePoints(text: string): number {
  return text.length -
    (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** A string that PostgreSQL stores unchanged. */
export function text(max = 2000) {
  return v.pipe(
    v.string("invalid_type: Expected a string"),
    v.check(
      (text) => text.length <= max || codePoints(text) <= max,
      `too_long: At most ${max} characters`,
    ),
    v.check(
      (text) => !text.includes("\0"),
      "invalid_character: The character U+0000 cannot be stored",
    ),
    v.check(
      (text) => text.isWellFormed(),
      "invalid_character: A lone surrogate (U+D800 to U+DFFF) is not a character",
    ),
    v.metadata({ maxLength: max }),
  );
}

/** A string with at least one character that is not white space. */
export function heading(max = 2000) {
  return v.pipe(
    text(max),
    v.check(
      (text) => /\S/.test(text),
      "blank: Expected at least one character that is not a space",
    ),
    v.metadata({ pattern: "\\S" }),
  );
}

/** A UUID in either case, as part of a larger pattern. */
export const UUID_PATTERN = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/** A UUID (RFC 9562) in either case. */
export const SentUuid = v.pipe(
  v.string("invalid_type: Expected a UUID as a string"),
  v.uuid(
    "invalid_uuid: Expected a UUID such as 0190f5a4-7c1e-7b3a-9d2f-5e8c4b6a1d20",
  ),
);

/** Whether the value is a UUID in either case. */
export function isUuid(value: unknown): value is string {
  return v.is(SentUuid, value);
}

/** A count. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** A UUID, converted to lower case. */
export const Uuid = v.pipe(SentUuid, v.toLowerCase());

/** The id of a record that `path` lists. */
export function idIn(path: string) {
  const expected = withHint("Expected the id of a record, a UUID", `see ${path}`);
  return v.pipe(
    v.string(`invalid_type: ${expected}`),
    v.uuid(`invalid_uuid: ${expected}`),
    v.toLowerCase(),
  );
}

/** The id of a new row, which must be absent: the service assigns ids. */
export const NoId = v.optional(
  v.never(
    "unexpected_id: An id refers to an existing row: omit it to create one",
  ),
);

/** A calendar day in the years 0001 to 9999, `YYYY-MM-DD`. */
export const Day = v.pipe(
  v.string("invalid_type: Expected a date as a string, YYYY-MM-DD"),
  v.check(isDay, "invalid_date: Expected a calendar day as YYYY-MM-DD"),
  v.metadata({ format: "date" }),
);

/** A time in responses: UTC, to the millisecond (ISO 8601). */
export const Timestamp = v.pipe(
  v.string(),
  v.metadata({ format: "date-time" }),
);

/** A date of which the day, or the month and the day, may be unknown. */
export const PartialDate = v.pipe(
  v.string("invalid_type: Expected a date as a string"),
  v.check(
    (date) => isDay(`${date}-01-01`.slice(0, 10)) && /^(?:.{4}|.{7}|.{10})$/.test(date),
    "invalid_date: Expected a date as YYYY, YYYY-MM or YYYY-MM-DD",
  ),
  v.metadata({ pattern: "^\\d{4}(?:-\\d\\d){0,2}$" }),
);

function isDay(day: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || day.startsWith("0000")) return false;
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.valueOf()) && date.toISOString().startsWith(day);
}

/** The grammar of RFC 3986: authority, path, query, fragment. `BARE_PERCENT` checks percent-encoding. */
const HTTP_URL =
  /^[hH][tT][tT][pP][sS]?:\/\/(?:[\w.~!$&'()*+,;=:%-]*@)?(?:\[[\dA-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?(?:\/[\w.~!$&'()*+,;=:@%\/-]*)?(?:\?[\w.~!$&'()*+,;=:@%\/?-]*)?(?:#[\w.~!$&'()*+,;=:@%\/?-]*)?$/;

/** A percent sign must be followed by two hexadecimal digits (RFC 3986, 2.1). */
const BARE_PERCENT = /%(?![\dA-Fa-f]{2})/;

/** An absolute `http` or `https` URL (RFC 3986). */
export const HttpUrl = v.pipe(
  text(),
  v.check(
    (url) => HTTP_URL.test(url) && !BARE_PERCENT.test(url) && URL.canParse(url),
    "invalid_url: Expected an absolute http or https URL (RFC 3986) with characters such as space, <, >, % and é percent-encoded",
  ),
  // Some generators escape the slashes themselves.
  v.metadata({ pattern: HTTP_URL.source.replaceAll("\\/", "/") }),
);

/** 13 digits that only ISBNs begin with. */
const ISBN13 = /^97(?:8\d|9[1-9])\d{9}$/;

function isIsbn13(value: string): boolean {
  return ISBN13.test(bareIsbn(value));
}

/**
 * The field for the ISBN of an identifier with this type (List 5): an ISBN-13 has type 15,
 * or 03 as any GTIN-13, and an ISBN-10 has type 02.
 */
export function isbnFieldOf(
  type: unknown,
  value: unknown,
): "isbn13" | "isbn10" | undefined {
  if (type === "02") return "isbn10";
  if (type === "15") return "isbn13";
  const isIsbn = type === "03" && typeof value === "string" && isIsbn13(value);
  return isIsbn ? "isbn13" : undefined;
}

export const Isbn13 = verified("invalid_isbn13", {
  form: ISBN13,
  expected: "13 digits that begin with 978 or 979, but not with 9790",
  checkOf: isbn13CheckDigit,
  about: "The check digit must be right.",
  example: "978-0-306-40615-7",
});

/** `x` becomes `X`. */
export const Isbn10 = verified("invalid_isbn10", {
  form: /^\d{9}[\dX]$/,
  expected: "nine digits and a check digit, 0 to 9 or X",
  checkOf: isbn10CheckDigit,
  about: "The check digit must be right.",
  example: "0-306-40615-2",
});

const NAME_IDENTIFIER = {
  form: /^\d{15}[\dX]$/,
  expected: "15 digits and a check character, 0 to 9 or X",
  checkOf: nameCheckCharacter,
  check: "character",
  about: "16 characters, of which the last verifies the others.",
};

/** An International Standard Name Identifier (ISO 27729), without hyphens and spaces. */
export const Isni = verified("invalid_isni", {
  ...NAME_IDENTIFIER,
  example: "0000-0001-2103-2683",
});

/** An ORCID, which is an ISNI of researchers and authors. */
export const Orcid = verified("invalid_orcid", {
  ...NAME_IDENTIFIER,
  example: "0000-0002-1825-0097",
});

/** An identifier whose last character, its check digit, verifies the others. */
function verified(
  code: string,
  { form, expected, checkOf, check = "digit", about, example }: {
    form: RegExp;
    expected: string;
    checkOf: (identifier: string) => string;
    check?: string;
    about: string;
    example: string;
  },
) {
  return v.pipe(
    text(),
    v.description(`${about} Hyphens and spaces are removed.`),
    v.examples([example]),
    v.transform(bareIsbn),
    v.check(
      (id) => form.test(id) && id.endsWith(checkOf(id)),
      ({ input: id }) =>
        form.test(id)
          ? `${code}: The check ${check} after ${id.slice(0, -1)} is ${checkOf(id)}, not ${
            id.at(-1)
          }`
          : `${code}: Expected ${expected}`,
    ),
  );
}

/** The check character of a name identifier with these first fifteen digits (ISO 7064, MOD 11-2). */
function nameCheckCharacter(digits: string): string {
  const sum = [...digits.slice(0, 15)]
    .reduce((sum, digit) => (sum + Number(digit)) * 2, 0);
  const check = (12 - sum % 11) % 11;
  return check === 10 ? "X" : String(check);
}

/** A Global Trade Item Number of any length. */
export const Gtin = v.pipe(
  v.string("invalid_type: Expected a GTIN as a string"),
  v.check(
    (gtin) => GTIN.test(gtin) && gtin.endsWith(gtinCheckDigit(gtin)),
    ({ input: gtin }) =>
      GTIN.test(gtin)
        ? `invalid_gtin: The check digit after ${gtin.slice(0, -1)} is ${
          gtinCheckDigit(gtin)
        }, not ${gtin.at(-1)}`
        : "invalid_gtin: Expected 14, 13, 12 or 8 digits",
  ),
  v.description("14, 13, 12 or 8 digits with a valid check digit."),
  v.examples(["10614141543219"]),
);

const GTIN = /^(?:\d{8}|\d{12,14})$/;

/** The check digit of a GTIN (GS1 General Specifications, 7.9). */
function gtinCheckDigit(gtin: string): string {
  const sum = [...gtin.slice(0, -1)].reverse()
    .reduce((sum, digit, i) => sum + Number(digit) * (i % 2 ? 1 : 3), 0);
  return String((10 - sum % 10) % 10);
}

/** One of the values, case-sensitive. */
export function oneOf<const T extends readonly string[]>(...values: T) {
  return v.picklist(
    values,
    `invalid_value: Expected one of ${values.join(", ")}`,
  );
}

/** A parameter that is `true` or `false`. */
export function flag() {
  return v.pipe(oneOf("true", "false"), v.transform((text) => text === "true"));
}

/** A described parameter that is `true` or `false`, such as `dry_run`. Default: `false`. */
export function optionalFlag(description: string) {
  return described(description, v.optional(flag(), "false"));
}

/** Hyphens and dashes of every kind, as word processors write them, the minus sign and spaces. */
const SEPARATORS = /[-\u2010-\u2015\u2212 ]/g;

/** Removes hyphens and spaces. The check character `x` becomes `X`. */
export function bareIsbn(isbn: string): string {
  return isbn.replace(SEPARATORS, "").replace("x", "X");
}

/** The check digit of an ISBN-13 with these first twelve digits (ISO 2108). */
export function isbn13CheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 12)]
    .reduce((sum, digit, i) => sum + Number(digit) * (i % 2 ? 3 : 1), 0);
  return String((10 - sum % 10) % 10);
}

/** The check character of an ISBN-10 with these first nine digits (ISO 2108). */
export function isbn10CheckDigit(digits: string): string {
  const sum = [...digits.slice(0, 9)]
    .reduce((sum, digit, i) => sum + Number(digit) * (10 - i), 0);
  const check = (11 - sum % 11) % 11;
  return check === 10 ? "X" : String(check);
}

/** A field that may be absent or null. */
export function optional<const S extends v.GenericSchema>(schema: S) {
  return v.optional(v.nullable(schema));
}

/** The schema with a description for the OpenAPI document. */
export function described<const S extends v.GenericSchema>(
  description: string,
  schema: S,
) {
  return v.pipe(schema, v.description(description));
}
