import type {
  Handler,
  Routed,
  Services,
  Shares,
} from "../middleware/context.ts";
import { createCors } from "../middleware/cors.ts";
import { createGuard } from "../middleware/guard.ts";
import { MemoryBudget } from "../middleware/memory.ts";
import { ParseQueue } from "../middleware/parse_queue.ts";
import { checkVersion, pathOf, urlOf } from "../middleware/request.ts";
import { respond } from "../middleware/respond.ts";
import { ApiError } from "../schema/errors.ts";
import {
  PATH_PARAMETERS,
  type PathParameters,
} from "../schema/openapi/operation.ts";
import { bareIsbn } from "../schema/values.ts";
import { DOCS } from "./docs.ts";
import { OPERATIONS } from "./operations.ts";

const MIB = 1_048_576;

/** Creates the handler of all requests. It never throws. */
export function createHandler(
  services: Services,
): (request: Request) => Promise<Response> {
  const routes = routesOf(services);
  const shares = createShares();
  const allowOrigin = createCors(services.corsOrigins);

  return async (request) => {
    const response = await respond({ services, shares }, request, (context) => {
      const url = urlOf(request);
      checkVersion(request);
      const found = match(routes, request, url);
      if (!found && services.docs && isVisit(request)) {
        return { status: 302, headers: { location: "/docs" } };
      }
      if (!found) throw notFound(request, services);
      if ("allow" in found) {
        return { status: 204, headers: { allow: found.allow } };
      }
      const { handle, params, operation, path } = found;
      services.telemetry.routed(request.method, path);
      return handle(Object.assign(context, { url, operation, params }));
    });
    return allowOrigin(request, response);
  };
}

/**
 * A request gives back its memory of a budget before it waits for more of the same, and a
 * response never waits for a body. So requests never wait for each other.
 */
function createShares(): Shares {
  return {
    bodies: new MemoryBudget(64 * MIB, "memory for bodies"),
    imports: new MemoryBudget(64 * MIB, "memory for imports"),
    responses: new MemoryBudget(64 * MIB, "memory for long responses"),
    parsing: new ParseQueue(),
  };
}

/** The operations on a path. */
interface Route {
  pattern: URLPattern;
  /** What precedes the path: the API prefix, or nothing. */
  prefix: string;
  /** Such as `/products/{id}`. */
  path: string;
  /** By method. */
  handlers: Record<string, Handler>;
}

/** The routes of the operations, and of the reference page. */
function routesOf({ apiPrefix, docs }: Services): Route[] {
  const guard = createGuard();
  const paths = Map.groupBy(OPERATIONS, ({ key }) => key.split(" ")[1]!);
  const operations = Array.from(paths).flatMap(([path, operations]) => {
    const prefixes = operations[0]!.isAtRoot ? ["", apiPrefix] : [apiPrefix];
    const handlers = Object.fromEntries(operations.map((operation) => {
      return [operation.key.split(" ")[0]!, guard(operation)];
    }));
    return prefixes.map((prefix) => routeOf(prefix, path, handlers));
  });
  const pages = Object.entries(DOCS)
    .map(([path, handler]) => routeOf("", path, { GET: handler }));
  return [...operations, ...docs ? pages : []];
}

function routeOf(
  prefix: string,
  path: string,
  handlers: Record<string, Handler>,
): Route {
  // No character of an API prefix means something to a pattern (`schema/environment.ts`).
  const pathname = prefix + path.replace(
    /\{(\w+)\}/g,
    (_, name: keyof PathParameters) => `:${name}(${PATH_PARAMETERS[name]})`,
  );
  return { pattern: new URLPattern({ pathname }), prefix, path, handlers };
}

/** The handler of a request and what its path says, or the response to `OPTIONS`. */
type Match =
  | Pick<Routed, "operation" | "params"> & { handle: Handler; path: string }
  | { allow: string };

/**
 * Finds the handler of a request. Returns undefined for an unknown path. Throws the
 * errors of `choose`.
 *
 * A pattern resolves `..`, `%2e` and `\`, which would bypass a proxy that restricts
 * paths: a path that is not already resolved is unknown. The patterns get the whole URL,
 * since `exec({ pathname })` takes five times as long.
 */
function match(
  routes: Route[],
  request: Request,
  { origin, pathname }: URL,
): Match | undefined {
  if (pathOf(request) !== pathname) return undefined;
  // Without the query, which may be long.
  const url = origin + pathname;
  for (const route of routes) {
    const found = route.pattern.exec(url);
    if (found) return choose(route, request, found.pathname.groups);
  }
}

/** Chooses the handler of the method. Throws `METHOD_NOT_ALLOWED` (RFC 9110, 15.5.6). */
function choose(
  { prefix, path, handlers }: Route,
  { method }: Request,
  groups: Record<string, string | undefined>,
): Match {
  const known = method === "HEAD" ? "GET" : method;
  if (Object.hasOwn(handlers, known)) {
    const segment = groups.records ?? groups.codes;
    const table = segment?.replaceAll("-", "_");
    const named = segment ? path.replace(/\{\w+\}/, segment) : path;
    return {
      handle: handlers[known]!,
      params: { ...groups, records: table, codes: table } as PathParameters,
      operation: `${known} ${named}`,
      path: prefix + named,
    };
  }
  const methods = Object.keys(handlers)
    .flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]);
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { allow };
  throw new ApiError("METHOD_NOT_ALLOWED", `This path supports ${allow}`, {
    headers: { allow },
  });
}

/** Whether a browser opens the address of the service, without a path. */
function isVisit(request: Request): boolean {
  return request.method === "GET" && pathOf(request) === "/" &&
    !!request.headers.get("accept")?.includes("text/html");
}

/** The path of a product with something else in place of the id. */
const PRODUCT = /^\/products\/([^/]+)$/;

const ISBN = /^(?:\d-?){9}(?:(?:\d-?){3}\d|[\dXx])$/;

/** The error for an unknown path. Its message suggests a valid one. */
function notFound(
  request: Request,
  { apiPrefix: prefix, docs }: Services,
): ApiError {
  const path = pathOf(request);
  const given = path.startsWith(prefix)
    ? PRODUCT.exec(path.slice(prefix.length))?.[1]
    : undefined;
  if (given !== undefined) {
    const isbn = ISBN.test(given) ? bareIsbn(given) : undefined;
    const search = isbn
      ? `by ISBN, use ${prefix}/products?isbn${isbn.length}=${isbn}`
      : `for products, use ${prefix}/products?search=`;
    return new ApiError(
      "NOT_FOUND",
      `The path of a product requires its id, a UUID: to search ${search}`,
    );
  }
  const description = `${prefix}/openapi.json`;
  return new ApiError(
    "NOT_FOUND",
    `Unknown path: see ${docs ? `/docs and ${description}` : description}`,
  );
}
