import { ApiError } from "../schema/errors.ts";
import { shapeFault } from "../schema/json_shape.ts";
import { parseExact } from "../schema/numbers.ts";

/** More values could stall the process. The depth is limited before the parser allocates memory. */
const SHAPE_LIMITS = { depth: 32, values: 100_000 };

/** The limit for numbers of more than 15 digits, which take longer to parse. */
const MAX_LONG_NUMBERS = 10_000;

/**
 * Parses JSON (RFC 8259) in linear time. A number that JavaScript cannot represent
 * exactly becomes a raw number (`JSON.rawJSON`) with its original digits. Throws
 * `INVALID_JSON`.
 */
export function parseJson(text: string): unknown {
  const fault = shapeFault(text, SHAPE_LIMITS);
  if (fault) throw invalidJson(`The body ${fault}`);
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

/** The error of a body that is not JSON, or exceeds what the parser accepts. */
export function invalidJson(message: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_JSON", message, { cause });
}
