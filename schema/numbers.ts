import * as v from "valibot";

/**
 * A number of a JSON text whose digits a JavaScript number would change, kept
 * as its source: `JSON.stringify` writes it as it was sent.
 */
export interface RawNumber {
  rawJSON: string;
}

// https://github.com/tc39/proposal-json-parse-with-source, which V8 has and the type libraries have not.
declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver?: (
        key: string,
        value: unknown,
        context: { source?: string },
      ) => unknown,
    ): unknown;
  }
}

/** A number of many digits. PostgreSQL keeps those of a plain decimal number, however many. */
export const ExactNumber = v.custom<RawNumber>((value) =>
  JSON.isRawJSON(value) &&
  /^-?\d{1,100}(\.\d{1,100})?$/.test(value.rawJSON) &&
  !/^-[0.]+$/.test(value.rawJSON)
);

/** The decimal digits of an amount, or nothing where it is none. */
function decimal(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (JSON.isRawJSON(value)) return value.rawJSON;
}

const AMOUNT = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,4})?$/;

/** A JSON number or a decimal string. */
const Decimal = v.custom<number | string | RawNumber>(
  (value) => decimal(value) !== undefined,
  "invalid_type: Expected a number, or a decimal string",
);

/** An exact amount, passed on as it was sent. */
export const Amount = v.pipe(
  Decimal,
  v.check(
    (value) => AMOUNT.test(decimal(value)!),
    "invalid_amount: Expected 0 or more, with at most 12 digits before the point and 4 after it",
  ),
  v.metadata(decimalUpTo(999_999_999_999.9999)),
);

/** A percentage, exact as an amount is. */
export const Percent = v.pipe(
  Decimal,
  v.check(
    (value) => AMOUNT.test(decimal(value)!) && Number(decimal(value)) <= 100,
    "invalid_percent: Expected 0 to 100 percent, with at most 4 digits after the point",
  ),
  v.metadata(decimalUpTo(100)),
);

/** A whole number from 1 that PostgreSQL can hold in an `int`. */
export const PositiveInteger = v.pipe(
  v.number("invalid_type: Expected a whole number"),
  v.check(
    (count) => Number.isInteger(count) && count >= 1 && count <= 2_147_483_647,
    "out_of_range: Expected a whole number from 1 to 2147483647",
  ),
  v.metadata({ type: "integer", minimum: 1, maximum: 2_147_483_647 }),
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
