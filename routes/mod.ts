import { NIL_UUID } from "../db/uuid.ts";
import type {
  Context,
  Handler,
  HandlerResponse,
  Routed,
  Services,
  Shares,
} from "../middleware/context.ts";
import { createCors, isPreflight } from "../middleware/cors.ts";
import { createGuard } from "../middleware/guard.ts";
import { memoryFor } from "../middleware/memory.ts";
import { ParseQueue } from "../middleware/parse_queue.ts";
import { checkVersion, pathOf, urlOf } from "../middleware/request.ts";
import { respond } from "../middleware/respond.ts";
import { ApiError } from "../schema/errors.ts";
import {
  PATH_PARAMETERS,
  type PathParameters,
} from "../schema/openapi/operation.ts";
import { expandTables } from "../schema/openapi/tables.ts";
import {
  OWN_TABLES,
  pathOfTable,
  type RecordTable,
  SHARED_TABLES,
} from "../schema/records.ts";
import { bareIsbn, UUID_PATTERN } from "../schema/values.ts";
import { DOCS } from "./docs.ts";
import { OPERATIONS } from "./operations.ts";

/**
 * Creates the handler of all requests. It never throws. The way of a request, with
 * `GET /products/{id}` as the example:
 *
 *     respond      middleware/respond.ts          logs, makes the `Response`
 *     answer       here                           finds the row of `OPERATIONS`
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
    if (!found && services.docs && isVisit(request)) {
      return { status: 302, headers: { location: "/docs" } };
    }
    if (!found && services.corsOrigins.length > 0 && isPreflight(request)) {
      // The page then reads that the path is unknown, instead of a failure without a reason.
      return { status: 204, headers: { allow: ANY_METHOD } };
    }
    if (!found) throw notFound(request, services);
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
    sheets: memoryFor("sheets", 128),
  };
}

/** The operations on a path. */
interface Route {
  pattern: URLPattern;
  /** Such as `/api/licenses/{id}`. */
  path: string;
  /** The number of its segments, and its parameters with their places among them. */
  depth: number;
  parameters: { name: string; at: number }[];
  /** The table that the path names. */
  table: RecordTable | undefined;
  operations: Record<string, { handle: Handler; operation: string }>;
}

/** The routes by the beginnings of their paths, so that a request is compared with few patterns. */
type Routes = Map<string, Route[]>;

const TABLES_BY_PATH = new Map(
  [...OWN_TABLES, ...SHARED_TABLES].map((table) => [pathOfTable(table), table]),
);

/** The routes of the operations, and of the reference page. */
function routesOf({ apiPrefix, docs }: Services): Routes {
  const guard = createGuard();
  const paths = Map.groupBy(
    expandTables(OPERATIONS),
    ({ key }) => key.split(" ")[1]!,
  );
  const routes = Array.from(paths).flatMap(([path, rows]) => {
    const prefixes = rows[0]!.isAtRoot ? ["", apiPrefix] : [apiPrefix];
    const operations = Object.fromEntries(
      rows.map((row) => [
        row.key.split(" ")[0]!,
        { handle: guard(row), operation: row.key },
      ]),
    );
    return prefixes.map((prefix) => routeOf(prefix, path, operations));
  });
  const pages = Object.entries(DOCS).map(([path, handle]) =>
    routeOf("", path, { GET: { handle, operation: `GET ${path}` } })
  );
  const all = [...routes, ...docs ? pages : []]
    // Most requests are for a record.
    .sort((one, other) => idsOfPath(other) - idsOfPath(one));
  return Map.groupBy(all, ({ path }) => beginningOf(path, apiPrefix));
}

function idsOfPath({ path }: Route): number {
  return path.split("{").length;
}

function routeOf(
  prefix: string,
  path: string,
  operations: Route["operations"],
): Route {
  // No character of an API prefix means something to a pattern (`schema/config.ts`).
  const pathname = prefix + path.replace(
    /\{(\w+)\}/g,
    (_, name: keyof PathParameters) => `:${name}(${PATH_PARAMETERS[name]})`,
  );
  const segments = (prefix + path).split("/");
  return {
    pattern: new URLPattern({ pathname }),
    path: prefix + path,
    depth: segments.length,
    parameters: segments.flatMap((segment, at) =>
      segment.startsWith("{") ? [{ name: segment.slice(1, -1), at }] : []
    ),
    table: TABLES_BY_PATH.get(path.replace(/(?<!^)\/.*/, "")),
    operations,
  };
}

/** The path up to the end of its first segment after the prefix. */
function beginningOf(path: string, prefix: string): string {
  const start = path.startsWith(`${prefix}/`) ? prefix.length : 0;
  const end = path.indexOf("/", start + 1);
  return end < 0 ? path : path.slice(0, end);
}

/** The handler of a request and what its path says, or the response to `OPTIONS`. */
type Matched =
  | Pick<Routed, "operation" | "params"> & { handle: Handler; path: string }
  | { allow: string };

/** The ids of a path. */
const PATH_IDS = new RegExp(`/${UUID_PATTERN}(?=/|$)`, "g");

/** The longest path after the prefix that is looked up. All known paths are shorter. */
const MAX_PATH = 200;

/**
 * Finds the handler of a request. Returns undefined for an unknown path. Throws the
 * errors of `choose`.
 *
 * A pattern resolves `..`, `%2e` and `\`, which would bypass a proxy that restricts
 * paths: a path that is not already resolved is unknown. A pattern takes 5 us to parse a
 * URL, and keeps thousands that it has parsed. So all ids are replaced by the same one, and
 * long paths are unknown.
 */
function match(
  routes: Routes,
  request: Request,
  { pathname }: URL,
  prefix: string,
): Matched | undefined {
  if (pathOf(request) !== pathname) return undefined;
  if (pathname.length > prefix.length + MAX_PATH) return undefined;
  const candidates = routes.get(beginningOf(pathname, prefix)) ?? [];
  const given = pathname.split("/");
  const url = `http://host${pathname.replace(PATH_IDS, `/${NIL_UUID}`)}`;
  for (const route of candidates) {
    if (route.depth !== given.length) continue;
    if (route.pattern.test(url)) return choose(route, request, given);
  }
}

/** Chooses the operation of the method. Throws `METHOD_NOT_ALLOWED` (RFC 9110, 15.5.6). */
function choose(
  { path, parameters, table, operations }: Route,
  { method }: Request,
  given: string[],
): Matched {
  const known = method === "HEAD" ? "GET" : method;
  if (Object.hasOwn(operations, known)) {
    const params: Record<string, unknown> = { records: table, codes: table };
    for (const { name, at } of parameters) params[name] = given[at];
    return {
      ...operations[known]!,
      path,
      params: params as unknown as PathParameters,
    };
  }
  const methods = Object.keys(operations)
    .flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method]);
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { allow };
  // What clients mean by PATCH (RFC 5789), PUT does here.
  const hint = method === "PATCH" && Object.hasOwn(operations, "PUT")
    ? ". PUT changes only the fields that its body has"
    : "";
  throw new ApiError(
    "METHOD_NOT_ALLOWED",
    `This path supports ${allow}${hint}`,
    { headers: { allow } },
  );
}

const ANY_METHOD = "GET, HEAD, POST, PUT, DELETE, OPTIONS";

/** Whether a browser opens the address of the service, without a path. */
function isVisit(request: Request): boolean {
  return request.method === "GET" && pathOf(request) === "/" &&
    !!request.headers.get("accept")?.includes("text/html");
}

/** The path of a product with something else in place of the id. */
const PRODUCT = /^\/products\/([^/]+)$/;

/** What monitors ask by habit. */
const HEALTH = /\/health(?:z|check)?(?:\/|$)/;

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
  if (HEALTH.test(path)) {
    return new ApiError(
      "NOT_FOUND",
      "Unknown path: whether the service is ready is at /health/ready, whether it runs at /health/live",
    );
  }
  const description = `${prefix}/openapi.json`;
  return new ApiError(
    "NOT_FOUND",
    `Unknown path: see ${docs ? `/docs and ${description}` : description}`,
  );
}
