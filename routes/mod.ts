import type { Handler, Services, Shares } from "../middleware/context.ts";
import { createCors } from "../middleware/cors.ts";
import { createGuard } from "../middleware/guard.ts";
import { MemoryBudget } from "../middleware/memory_budget.ts";
import { checkHost, checkVersion, pathOf } from "../middleware/request.ts";
import { respond } from "../middleware/respond.ts";
import { Turns } from "../middleware/turns.ts";
import { ApiError } from "../schema/errors.ts";
import {
  PATH_PARAMETERS,
  type PathParameters,
} from "../schema/openapi/operation.ts";
import { forTable } from "../schema/openapi/tables.ts";
import type { RecordTable } from "../schema/records.ts";
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
      checkHost(request);
      checkVersion(request);
      const found = match(routes, request);
      if (!found) throw notFound(request, services);
      if ("allow" in found) {
        return { status: 204, headers: { allow: found.allow } };
      }
      const { handle, params, operation, path } = found;
      services.telemetry.routed(request.method, path);
      return handle(Object.assign(context, { operation, params }));
    });
    return allowOrigin(request, response);
  };
}

function createShares(): Shares {
  return {
    bodies: new MemoryBudget(
      128 * MIB,
      "Too many request bodies are in memory",
    ),
    responses: new MemoryBudget(
      64 * MIB,
      "Too many long responses are unread: this request may have taken effect",
    ),
    turns: new Turns(),
  };
}

interface Route {
  method: string;
  /** The path with its parameters, such as `/products/{id}`. */
  path: string;
  /** What precedes the path: the API prefix, or nothing. */
  prefix: string;
  pattern: URLPattern;
  handle: Handler;
}

/** The routes of the operations, and of the reference page. */
function routesOf({ apiPrefix, docs }: Services): Route[] {
  const guard = createGuard();
  return [
    ...OPERATIONS.map((operation) =>
      routeOf(
        operation.key,
        operation.isAtRoot ? "" : apiPrefix,
        guard(operation),
      )
    ),
    ...docs
      ? Object.entries(DOCS).map(([key, handler]) => routeOf(key, "", handler))
      : [],
  ];
}

function routeOf(key: string, prefix: string, handle: Handler): Route {
  const [method, path] = key.split(" ") as [string, string];
  // The configuration permits no character in the prefix that means something to a pattern.
  const pathname = prefix + path.replace(
    /\{(\w+)\}/g,
    (_, name: keyof PathParameters) => `:${name}(${PATH_PARAMETERS[name]})`,
  );
  return {
    method,
    path,
    prefix,
    pattern: new URLPattern({ pathname }),
    handle,
  };
}

/** The route of a request with the parameters of the path, or the response to `OPTIONS`. */
type Match =
  | Pick<Route, "handle" | "path"> & {
    operation: string;
    params: PathParameters;
  }
  | { allow: string };

/**
 * Finds the route of a request. Returns undefined for an unknown path. Throws
 * `METHOD_NOT_ALLOWED`.
 */
function match(routes: Route[], request: Request): Match | undefined {
  const { method, url } = request;
  // A pattern resolves `..`, `%2e` and `\`, which would bypass a proxy that restricts paths.
  if (pathOf(request) !== new URL(url).pathname) return undefined;
  const routed = method === "HEAD" ? "GET" : method;
  for (const route of routes) {
    // The whole URL is parsed four times as fast as its path alone.
    const found = route.method === routed && route.pattern.exec(url);
    if (found) return withParams(route, found.pathname.groups);
  }
  const methods = routes.filter(({ pattern }) => pattern.test(url))
    .flatMap(({ method }) => method === "GET" ? ["GET", "HEAD"] : [method]);
  if (methods.length === 0) return undefined;
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { allow };
  throw new ApiError("METHOD_NOT_ALLOWED", `This path supports ${allow}`, {
    headers: { allow },
  });
}

function withParams(
  { method, path, prefix, handle }: Route,
  groups: Record<string, string | undefined>,
): Match {
  const table = (groups.records ?? groups.codes)?.replaceAll("-", "_") as
    | RecordTable
    | undefined;
  const named = table ? forTable(path, table) : path;
  const params = { ...groups, records: table, codes: table } as PathParameters;
  return {
    handle,
    params,
    operation: `${method} ${named}`,
    path: prefix + named,
  };
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
