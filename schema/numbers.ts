import * as v from "valibot";

/*
 * Numbers with exact digits. JavaScript rounds numbers with more than 15 digits, so these are kept
 * as text: 0.1234567890123456789 is stored as it was sent.
 */

/**
 * A JSON number that JavaScript cannot represent exactly, kept as its source text.
 * `JSON.stringify` writes that text.
 */
export interface RawNumber {
  rawJSON: string;
}

// V8 implements https://github.com/tc39/proposal-json-parse-with-source. TypeScript has no types for it yet.
declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/**
 * Matches a number that JavaScript may not represent exactly: more than 15 digits, or an exponent
 * of three digits. In JSON, a number never follows a quotation mark. The pattern also matches in
 * some strings.
 */
const PERHAPS_INEXACT = /(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/;

/**
 * Parses JSON, and keeps the text of each number that JavaScript cannot represent. Calls
 * `onLong` for each long number: it takes longer to parse.
 */
export function parseExact(text: string, onLong = () => {}): unknown {
  // A reviver takes ten times as long.
  if (!PERHAPS_INEXACT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, value, context?: { source?: string }) => {
    const { source = "" } = context!;
    if (typeof value !== "number" || !PERHAPS_INEXACT.test(source)) {
      return value;
    }
    onLong();
    return canonicalNumber(source) === canonicalNumber(String(value))
      ? value
      : JSON.rawJSON(source);
  });
}

/** The canonical form of a decimal number: its significant digits and the exponent. */
function canonicalNumber(number: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start++;
  let end = digits.length;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  const power = Number(exponent) - fraction.length + digits.length - end;
  return `${sign}${digits.slice(start, end)}e${power}`;
}

/** A decimal number without an exponent. PostgreSQL stores all of its digits. */
export const ExactNumber = v.custom<RawNumber>((value) =>
  JSON.isRawJSON(value) && /^-?\d{1,100}(\.\d{1,100})?$/.test(value.rawJSON)
);

const POSITIVE_INTEGERS = new WeakSet<v.GenericSchema>();

/** A whole number from 1 to `maximum`, as a JSON number or, like amounts, a decimal string. */
export function positiveInteger(maximum: number) {
  const form = /^[1-9]\d{0,9}(?:\.0{1,4})?$/;
  const schema = v.pipe(
    v.custom<number | string | RawNumber>(
      (value) => digitsOf(value) !== undefined,
      "invalid_type: Expected a whole number",
    ),
    v.check(
      (value) => {
        const number = Number(digitsOf(value));
        return (typeof value === "number" || form.test(digitsOf(value)!)) &&
          Number.isInteger(number) && number >= 1 && number <= maximum;
      },
      `out_of_range: Expected a whole number from 1 to ${maximum}`,
    ),
    v.metadata({
      anyOf: [
        { type: "integer", minimum: 1, maximum },
        { type: "string", pattern: form.source },
      ],
    }),
    v.transform((value) => Number(digitsOf(value))),
  );
  POSITIVE_INTEGERS.add(schema);
  return schema;
}

/** Whether the schema is one of `positiveInteger`. */
export function isPositiveInteger(schema: v.GenericSchema | undefined): boolean {
  return schema !== undefined && POSITIVE_INTEGERS.has(schema);
}

/** A positive integer in the range of PostgreSQL's `int`. */
export const PositiveInteger = positiveInteger(2_147_483_647);

/** An exact amount. The database receives the client's digits. */
export const Amount = decimal(
  999_999_999_999.9999,
  "An exact amount, with at most 4 digits after the point.",
  "invalid_amount: Expected 0 or more, with at most 12 digits before the point and 4 after it",
);

/** A measured or counted quantity, with the precision of an amount. */
export const Measurement = decimal(
  999_999_999_999.9999,
  "More than 0, with at most 4 digits after the point.",
  "invalid_measurement: Expected more than 0, with at most 12 digits before the point and 4 after it",
  { isPositive: true },
);

/** A `Measurement`, or a duration with leading zeros: `"00730"` is HHHMM (ONIX List 24, 14 to 16). */
export const ExtentValue = decimal(
  999_999_999_999.9999,
  "More than 0, with at most 4 digits after the point. A string may have leading zeros.",
  "invalid_measurement: Expected more than 0, with at most 12 digits before the point and 4 after it",
  { isPositive: true, isPadded: true },
);

/** A percentage with the precision of an amount. */
export const Percent = decimal(
  100,
  "In percent, such as 20 for 20 %, with at most 4 digits after the point.",
  "invalid_percent: Expected 0 to 100 percent, with at most 4 digits after the point",
);

/**
 * A JSON number or a decimal string, from 0 (or above it) to `maximum`. Becomes a JSON number
 * without trailing zeros, which `jsonb` would keep. Negative zero is zero.
 */
function decimal(
  maximum: number,
  description: string,
  message: string,
  { isPositive = false, isPadded = false } = {},
) {
  const form = isPadded
    ? /^0*\d{1,12}(?:\.\d{1,4})?$/
    : /^(?:(?:0|[1-9]\d{0,11})(?:\.\d{1,4})?|-0(?:\.0{1,4})?)$/;
  return v.pipe(
    v.custom<number | string | RawNumber>(
      (value) => digitsOf(value) !== undefined,
      "invalid_type: Expected a number, or a decimal string",
    ),
    v.check((value) => {
      const digits = digitsOf(value)!;
      return form.test(digits) && Number(digits) <= maximum &&
        (!isPositive || Number(digits) > 0);
    }, message),
    v.metadata({
      anyOf: [
        {
          type: "number",
          ...isPositive ? { exclusiveMinimum: 0 } : { minimum: 0 },
          maximum,
        },
        { type: "string", pattern: form.source },
      ],
    }),
    v.description(description),
    v.transform((value) => typeof value === "number" ? value : JSON.rawJSON(shortestNumber(value))),
  );
}

/** A valid amount without trailing zeros. */
function shortestNumber(value: string | RawNumber): string {
  const digits = digitsOf(value)!.replace(/^-?0*(?=\d)/, "");
  return digits.includes(".") ? digits.replace(/\.?(?<!0)0+$/, "") : digits;
}

/** Whether a number is 0, in any form. */
export function isZero(value: unknown): boolean {
  return Number(digitsOf(value)) === 0;
}

/** The decimal digits of a number or string, or undefined for another type. */
function digitsOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (JSON.isRawJSON(value)) return value.rawJSON;
}
