/** What a page may read of an answer besides its body. */
const EXPOSED =
  "API-Version, ETag, Idempotent-Replayed, Link, Location, Retry-After, Server-Timing, X-Request-Id";

/** What a page may send. */
const ALLOWED =
  "Accept-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Api-Key, X-Organization-Id, X-Request-Id";

/** Browsers believe a preflight for so many seconds, two hours at most. */
const MAX_AGE = "7200";

/**
 * Makes what lets the pages of these origins read answers (Fetch standard,
 * 3.3). Credentials here are headers that a page sends itself, so cookies are
 * never let in, and an origin is named and never `*`.
 */
export function createCors(origins: readonly string[]) {
  return function allowOrigin(request: Request, response: Response): Response {
    if (origins.length === 0) return response;
    const { headers } = response;
    // Without an origin too: what is kept of that answer must not serve a page.
    headers.append("vary", "Origin");
    const origin = request.headers.get("origin");
    if (origin === null || !origins.includes(origin)) return response;

    headers.set("access-control-allow-origin", origin);
    if (isPreflight(request)) {
      headers.set("access-control-allow-methods", headers.get("allow") ?? "");
      headers.set("access-control-allow-headers", ALLOWED);
      headers.set("access-control-max-age", MAX_AGE);
    } else {
      headers.set("access-control-expose-headers", EXPOSED);
    }
    return response;
  };
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}
