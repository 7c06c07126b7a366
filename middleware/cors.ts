/** The response headers that a page may read. */
const EXPOSED =
  "API-Version, ETag, Idempotent-Replayed, Ignored-Fields, Link, Location, Retry-After, Server-Timing, X-Request-Id";

/** The request headers that a page may send. */
const ALLOWED =
  "Accept-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Api-Key, X-Organization-Id, X-Request-Id";

/** The time that browsers cache a preflight, in seconds. They cap it at two hours. */
const MAX_AGE = "7200";

/**
 * Lets pages of these origins read responses (Fetch standard, 3.3). Pages send
 * credentials in headers, so cookies are not allowed.
 */
export function createCors(origins: readonly string[]) {
  return function allowOrigin(request: Request, response: Response): Response {
    if (origins.length === 0) return response;
    const { headers } = response;
    // A cache must not serve a page the response to a request without an origin.
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
