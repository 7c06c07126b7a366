import * as v from "valibot";

/**
 * A JSON number that JavaScript cannot represent exactly, kept as its source text.
 * `JSON.stringify` writes that text.
 */
export interface RawNumber {
  rawJSON: string;
}

// V8 implements https://github.com/tc39/proposal-json-parse-with-source, TypeScript has no types for it yet.
declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
  }
}

/** A decimal number without exponent: PostgreSQL keeps all of its digits. */
export const ExactNumber = v.custom<RawNumber>((value) =>
  JSON.isRawJSON(value) && /^-?\d{1,100}(\.\d{1,100})?$/.test(value.rawJSON)
);

/** The digits of an amount, or undefined for a value of another type. */
function decimal(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (JSON.isRawJSON(value)) return value.rawJSON;
}

/** Negative zero is zero. */
const AMOUNT = /^(?:(?:0|[1-9]\d{0,11})(?:\.\d{1,4})?|-0(?:\.0{1,4})?)$/;

/** A positive integer in the range of PostgreSQL's `int`. */
export const PositiveInteger = v.pipe(
  v.number("invalid_type: Expected a whole number"),
  v.check(
    (number) =>
      Number.isInteger(number) && number >= 1 && number <= 2_147_483_647,
    "out_of_range: Expected a whole number from 1 to 2147483647",
  ),
  v.metadata({ type: "integer", minimum: 1, maximum: 2_147_483_647 }),
);

/** A JSON number or a decimal string. */
const Decimal = v.custom<number | string | RawNumber>(
  (value) => decimal(value) !== undefined,
  "invalid_type: Expected a number, or a decimal string",
);

/** An exact amount. The database gets the client's digits. */
export const Amount = v.pipe(
  Decimal,
  v.check(
    (value) => AMOUNT.test(decimal(value)!),
    "invalid_amount: Expected 0 or more, with at most 12 digits before the point and 4 after it",
  ),
  v.metadata(decimalUpTo(999_999_999_999.9999)),
);

/** A percentage, as exact as an amount. */
export const Percent = v.pipe(
  Decimal,
  v.check(
    (value) => AMOUNT.test(decimal(value)!) && Number(decimal(value)) <= 100,
    "invalid_percent: Expected 0 to 100 percent, with at most 4 digits after the point",
  ),
  v.metadata(decimalUpTo(100)),
);

/** The JSON Schema of an amount. */
function decimalUpTo(maximum: number) {
  return {
    anyOf: [
      { type: "number", minimum: 0, maximum },
      { type: "string", pattern: AMOUNT.source },
    ],
    description: "An exact amount, with at most 4 digits after the point.",
  };
}
