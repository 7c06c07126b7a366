import { ApiError } from "../schema/errors.ts";
import { API_VERSIONS } from "../schema/api_versions.ts";

/* Reads the URL and the headers of a request that every operation has. */

/** The authority and the path of an `http` URL. */
const URL_PARTS = /^https?:\/\/([^/\\?#]*)([^?]*)/;

/** A valid `Host` (RFC 9110, 7.2). Other values could change the path of the URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The path of a request, exactly as sent. */
export function pathOf({ url }: Request): string {
  return URL_PARTS.exec(url)?.[2] || "/";
}

/**
 * The URL of the request. Throws `VALIDATION_ERROR` for an invalid `Host`, or an invalid
 * authority of the URL: in absolute form and in HTTP/2, they can differ.
 */
export function urlOf({ headers, url }: Request): URL {
  const authority = URL_PARTS.exec(url)?.[1] ?? "";
  const host = headers.get("host") ?? authority;
  const parsed = URL.parse(url);
  if (HOST.test(host) && HOST.test(authority) && parsed) return parsed;
  throw invalidHeader(
    "Host",
    "invalid_host",
    "Expected a host name or an address, and optionally a port",
  );
}

/** Throws `UNSUPPORTED_VERSION` for an unsupported `Accept-Version` (specification, 9). */
export function checkVersion({ headers }: Request): void {
  const version = headers.get("accept-version");
  if (!version || API_VERSIONS.includes(version.replace(/^\d+$/, "$&.0"))) {
    return;
  }
  throw new ApiError(
    "UNSUPPORTED_VERSION",
    `Accept-Version is not supported: expected ${API_VERSIONS.join(", ")}`,
  );
}

/**
 * The `Idempotency-Key` of the request, if any: 1 to 255 visible ASCII
 * characters. Throws `VALIDATION_ERROR` for any other value.
 */
export function idempotencyKeyOf({ headers }: Request): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalidHeader(
    "Idempotency-Key",
    "invalid_key",
    "Expected 1 to 255 visible ASCII characters",
  );
}

function invalidHeader(header: string, code: string, message: string) {
  return new ApiError("VALIDATION_ERROR", `The header ${header} is invalid`, {
    details: [{ header, code, message }],
  });
}

/** The client's id if it is valid and not a misplaced API key, and a new one otherwise. */
export function requestIdOf({ headers }: Request): string {
  const given = headers.get("x-request-id");
  return given && /^(?!cat_)[A-Za-z0-9._-]{1,128}$/i.test(given) ? given : crypto.randomUUID();
}
