import { REQUEST_HEADERS, RESPONSE_HEADERS } from "../schema/headers.ts";

/** The response headers that a page may read: all that the API describes. */
const EXPOSED = Object.keys(RESPONSE_HEADERS)
  .filter((name) => !name.startsWith("Access-Control-"))
  .sort().join(", ");

/** The headers of W3C Trace Context and Baggage, which tracing adds to the requests of a page. */
const TRACING = ["Traceparent", "Tracestate", "Baggage"];

/** The request headers that a page may send. */
const ALLOWED = ["Authorization", "X-Api-Key", "X-Organization-Id"]
  .concat("Content-Type", Object.keys(REQUEST_HEADERS), TRACING)
  .sort().join(", ");

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

/** Whether a browser asks what a page may send (Fetch standard, 3.3.2). */
export function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}
