import { ApiError } from "../schema/errors.ts";

/**
 * The `Idempotency-Key` of the request, if it has one: 1 to 255 visible ASCII
 * characters. Throws `VALIDATION_ERROR` for any other.
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError(
    "VALIDATION_ERROR",
    "The header Idempotency-Key is not a key",
    {
      details: [{
        header: "Idempotency-Key",
        code: "invalid_key",
        message: "Expected 1 to 255 visible ASCII characters",
      }],
    },
  );
}
