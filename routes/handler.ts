import type { Context, HandlerResponse, Services, Shares } from "../middleware/context.ts";
import { createCors, isPreflight } from "../middleware/cors.ts";
import { memoryFor } from "../middleware/memory.ts";
import { ParseQueue } from "../middleware/parse_queue.ts";
import { checkVersion, pathOf, urlOf } from "../middleware/request.ts";
import { respond } from "../middleware/respond.ts";
import { match, routesOf } from "./routing.ts";
import { unknownPath } from "./unknown_path.ts";

/**
 * Creates the handler of all requests. It never throws. A request passes through these functions,
 * with `GET /products/{id}` as the example:
 *
 *     respond      middleware/respond.ts          logs, makes the `Response`
 *     match        routes/routing.ts              finds the row of `OPERATIONS`
 *     guard        middleware/guard.ts            credentials, memory, query, body
 *     get          routes/products.ts             the handler of the row
 *     getProduct   db/products/read.ts            the statement, and a long text once more
 *     lookUp       db/database.ts                 a short operation
 *     #run         db/database.ts                 a connection from connections/pool.ts, deadline, retries
 *     send         db/connections/connection.ts   postgres.js, and rows from its bytes
 */
export function createHandler(
  services: Services,
): (request: Request) => Promise<Response> {
  const routes = routesOf(services);
  const shares = createShares();
  const allowOrigin = createCors(services.corsOrigins);

  function answer(
    context: Context,
  ): HandlerResponse | Promise<HandlerResponse> {
    const { request } = context;
    const url = urlOf(request);
    checkVersion(request);
    const found = match(routes, request, url, services.apiPrefix);
    if (!found) {
      if (services.docs && isVisit(request)) {
        return { status: 302, headers: { location: "/docs" } };
      }
      if (services.corsOrigins.length > 0 && isPreflight(request)) {
        // After this preflight, a page can read the 404. Without it, the page sees a failure without a
        // reason.
        return { status: 204, headers: { allow: ANY_METHOD } };
      }
      throw unknownPath(request, services);
    }
    if ("allow" in found) {
      return { status: 204, headers: { allow: found.allow } };
    }
    const { handle, operation, path, params } = found;
    services.telemetry.routed(request.method, path);
    return handle(Object.assign(context, { url, operation, params }));
  }

  return async (request) => {
    const response = await respond({ services, shares }, request, answer);
    return allowOrigin(request, response);
  };
}

function createShares(): Shares {
  return {
    bodies: memoryFor("bodies", 64),
    texts: memoryFor("long texts", 96),
    parsing: new ParseQueue(),
    sheets: memoryFor("sheets", 336),
  };
}

const ANY_METHOD = "GET, HEAD, POST, PUT, DELETE, OPTIONS";

/** Whether a browser opens the address of the service, without a path. */
function isVisit(request: Request): boolean {
  return request.method === "GET" && pathOf(request) === "/" &&
    !!request.headers.get("accept")?.includes("text/html");
}
