import { createHash } from "node:crypto";
import { VERSIONS } from "../schema/versions.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Services } from "./context.ts";

/* The parts of HTTP that do not depend on the route. */

/** The authority and the path of an `http` URL. */
const URL_PARTS = /^https?:\/\/([^/\\?#]*)([^?]*)/;

/** A valid `Host` (RFC 9110, 7.2). Other values could change the path of the URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** A longer `Link` is omitted, since proxies limit headers. `meta` has the same data. */
const MAX_LINK = 2_048;

/**
 * The path of a request, exactly as sent. `URL` would resolve `..` and `%2e%2e` and
 * turn `\` into `/`, and so bypass a proxy that restricts paths.
 */
export function pathOf({ url }: Request): string {
  return URL_PARTS.exec(url)?.[2] || "/";
}

/** Throws `SERVICE_UNAVAILABLE` while the service starts or stops. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting or stopping");
  }
}

/**
 * Throws `VALIDATION_ERROR` for an invalid `Host`, or an invalid authority of the URL:
 * in absolute form and in HTTP/2, they can differ.
 */
export function checkHost({ headers, url }: Request): void {
  const authority = URL_PARTS.exec(url)?.[1] ?? "";
  const host = headers.get("host") ?? authority;
  if (HOST.test(host) && HOST.test(authority) && URL.canParse(url)) return;
  throw new ApiError("VALIDATION_ERROR", "The header Host is invalid", {
    details: [{
      header: "Host",
      code: "invalid_host",
      message: "Expected a host name or an address, and optionally a port",
    }],
  });
}

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

/**
 * The strong entity tag of a representation (RFC 9110, 8.8.3). The column
 * `product_documents.etag` is computed in the same way.
 */
export function etagOf(representation: string): string {
  const hash = createHash("sha256").update(representation).digest("base64url");
  return `"${hash.slice(0, 27)}"`;
}

/** Whether `If-None-Match` contains the tag. The comparison is weak (RFC 9110, 13.1.2). */
export function isNotModified(headers: Headers, etag: string): boolean {
  const condition = headers.get("if-none-match");
  return condition !== null &&
    (condition.trim() === "*" ||
      tagsOf(condition).some((tag) => tag.replace(/^W\//, "") === etag));
}

/**
 * The tag of a record that is shown with a count, which is not part of the record. A
 * count of 0 leaves the tag that the creation of the record returned.
 */
export function withCount(etag: string, count: number): string {
  return count === 0 ? etag : etag.replace(/"$/, `.${count}"`);
}

/**
 * The check for a value of `If-Match`, or undefined without one. The check throws
 * `PRECONDITION_FAILED` unless the current representation exists and matches. The
 * comparison is strong (RFC 9110, 13.1.1), and ignores a count in the tag.
 */
export function preconditionOf(
  condition: string | null | undefined,
): ((representation: string | undefined) => void) | undefined {
  if (typeof condition !== "string") return undefined;
  return (representation) => {
    if (representation !== undefined) {
      if (condition.trim() === "*") return;
      const tags = tagsOf(condition).map((tag) => tag.replace(/\.\d+"$/, '"'));
      if (tags.includes(etagOf(representation))) return;
    }
    throw new ApiError(
      "PRECONDITION_FAILED",
      "The current representation does not match If-Match",
    );
  };
}

function tagsOf(condition: string): string[] {
  return condition.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/**
 * The `Link` header of a page (RFC 8288): the first, previous, next and last page
 * of the list, if they exist. The last page precedes every page past the end.
 */
export function linkHeader(
  { pathname, searchParams }: URL,
  { page, total_pages }: { page: number; total_pages: number },
): { link?: string } {
  const last = Math.max(total_pages, 1);
  const pages = {
    first: 1,
    ...page > 1 && { prev: Math.min(page - 1, last) },
    ...page < last && { next: page + 1 },
    last,
  };
  const query = new URLSearchParams(searchParams);
  const link = Object.entries(pages).map(([relation, page]) => {
    query.set("page", String(page));
    return `<${pathname}?${query}>; rel="${relation}"`;
  }).join(", ");
  return link.length <= MAX_LINK ? { link } : {};
}
