import { ApiError } from "../schema/errors.ts";
import { VERSIONS } from "../schema/envelope.ts";

/** Throws `UNSUPPORTED_VERSION` for an unsupported `Accept-Version` (specification, 9). */
export function checkVersion(headers: Headers): void {
  const version = headers.get("accept-version");
  if (!version || VERSIONS.includes(version)) return;
  throw new ApiError(
    "UNSUPPORTED_VERSION",
    `Accept-Version is not supported: expected ${VERSIONS.join(", ")}`,
  );
}

/**
 * The `Idempotency-Key` of the request, if any: 1 to 255 visible ASCII
 * characters. Throws `VALIDATION_ERROR` for any other value.
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ApiError(
    "VALIDATION_ERROR",
    "The header Idempotency-Key is invalid",
    {
      details: [{
        header: "Idempotency-Key",
        code: "invalid_key",
        message: "Expected 1 to 255 visible ASCII characters",
      }],
    },
  );
}
