import { ApiError, printable } from "../schema/errors.ts";
import { parseExact } from "../schema/numbers.ts";

const MAX_DEPTH = 32;

/** The limit for array entries, names and values. More could stall the process. */
const MAX_JSON_VALUES = 100_000;

/** The limit for numbers of more than 15 digits, which take longer to parse. */
const MAX_LONG_NUMBERS = 10_000;

/**
 * Parses JSON (RFC 8259) in linear time. A number that JavaScript cannot represent
 * exactly becomes a raw number (`JSON.rawJSON`) with its original digits. Throws
 * `INVALID_JSON`.
 */
export function parseJson(text: string): unknown {
  checkShape(text);
  let long = 0;
  try {
    return parseExact(text, () => {
      if (++long > MAX_LONG_NUMBERS) {
        throw invalidJson(
          `The body has more than ${MAX_LONG_NUMBERS} numbers of more than 15 digits`,
        );
      }
    });
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const [where = ""] = /\(line \d+ column \d+\)/.exec(String(cause)) ?? [];
    throw invalidJson(
      text.trim()
        ? `The body is not valid JSON ${where}`.trimEnd()
        : "The body is empty: expected JSON",
      cause,
    );
  }
}

function repeated(name: string): string {
  return `The body has the name "${printable(name)}" twice in one object`;
}

/** The error for a body that is no JSON, or more than the parser takes. */
export function invalidJson(message: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_JSON", message, { cause });
}

/**
 * Limits the depth and the number of values before the parser allocates memory, and refuses an
 * object that has a name twice: readers differ in which one counts (RFC 8259, 4).
 */
function checkShape(text: string): void {
  let depth = 0;
  let values = 1;
  let isInString = false;
  let start = 0;
  let last = "";
  /** The names of each open object. None of an array. */
  const names: (Set<string> | undefined)[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === "\\") i++;
      else if (character === '"') {
        isInString = false;
        last = text.slice(start, i);
      }
    } else if (character === '"') {
      isInString = true;
      start = i + 1;
    } else if (character === ",") {
      values++;
    } else if (character === ":") {
      values++;
      const known = names[depth - 1];
      if (known?.has(last)) throw invalidJson(repeated(last));
      known?.add(last);
    } else if (character === "[" || character === "{") {
      if (++depth > MAX_DEPTH) {
        throw invalidJson(
          `The body is nested more than ${MAX_DEPTH} levels deep`,
        );
      }
      names[depth - 1] = character === "{" ? new Set() : undefined;
    } else if (character === "]" || character === "}") {
      depth--;
    }
  }
  if (values > MAX_JSON_VALUES) {
    throw invalidJson(
      `The body has more than ${MAX_JSON_VALUES} names and values`,
    );
  }
}
