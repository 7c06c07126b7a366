import { ApiError } from "../schema/errors.ts";

const MAX_DEPTH = 32;

/**
 * What may stand for a number whose digits a JavaScript number would change:
 * long, with an exponent, or -0. Most text that looks so is in a string, behind
 * its quote, where no number begins.
 */
const SUSPECT = /(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE]|(?<=-)0)/;

/**
 * Reads JSON text (RFC 8259). A number that a JavaScript number cannot hold
 * digit by digit stays its source text (`JSON.rawJSON`), so that no digit
 * changes unnoticed. Throws `INVALID_JSON`.
 */
export function parseJson(text: string): unknown {
  let value;
  try {
    value = JSON.parse(text, SUSPECT.test(text) ? keepDigits : undefined);
  } catch (cause) {
    const [, where = ""] = /(\(line \d+ column \d+\))/.exec(String(cause)) ??
      [];
    throw invalidJson(
      text.trim()
        ? `The body is not valid JSON ${where}`.trimEnd()
        : "The body is empty: expected JSON",
      cause,
    );
  }
  if (isDeeper(value, MAX_DEPTH)) {
    throw invalidJson(`The body is nested more than ${MAX_DEPTH} levels deep`);
  }
  return value;
}

export function invalidJson(message: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_JSON", message, { cause });
}

function keepDigits(
  _key: string,
  value: unknown,
  { source }: { source?: string },
): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return decimal(source) === decimal(String(value))
    ? value
    : JSON.rawJSON(source);
}

/** One spelling for each decimal number: its digits without zeros around them, and the exponent. */
function decimal(number: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const power = Number(exponent) - fraction.length + digits.length -
    significant.length;
  return `${sign}${significant}e${significant ? power : 0}`;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (JSON.isRawJSON(value)) return false;
  return depth === 0 ||
    Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
