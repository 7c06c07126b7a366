import { NIL_UUID } from "../db/uuid.ts";
import type { Handler, Routed, Services } from "../middleware/context.ts";
import { createGuard } from "../middleware/guard.ts";
import { pathOf } from "../middleware/request.ts";
import { ApiError } from "../schema/errors.ts";
import type { PathParameters } from "../schema/operation.ts";
import { bodySchema, PATH_PARAMETERS } from "./openapi/operation.ts";
import { expandTables } from "./openapi/tables.ts";
import { type RecordTable, TABLES_BY_PATH } from "../schema/records.ts";
import { UUID_PATTERN } from "../schema/values.ts";
import { DOCS } from "./docs.ts";
import { OPERATIONS } from "./operations.ts";

/* Finds the operation of a request: by the path its route, by the method the row of `OPERATIONS`. */

/** The operations on a path. */
interface Route {
  /** The pattern of the path. The first call compiles it: all of them take 30 ms. */
  pattern(): URLPattern;
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
export type Routes = Map<string, Route[]>;

/** The routes of the operations, and of the reference page. */
export function routesOf({ apiPrefix, docs }: Services): Routes {
  const guard = createGuard(bodySchema);
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
    .sort((one, other) => other.parameters.length - one.parameters.length);
  return Map.groupBy(all, ({ path }) => beginningOf(path, apiPrefix));
}

function routeOf(
  prefix: string,
  path: string,
  operations: Route["operations"],
): Route {
  // An API prefix has no character with a meaning in patterns (`schema/config.ts`).
  const pathname = prefix + path.replace(
    /\{(\w+)\}/g,
    (_, name: keyof PathParameters) => `:${name}(${PATH_PARAMETERS[name]})`,
  );
  const segments = (prefix + path).split("/");
  let pattern: URLPattern | undefined;
  return {
    pattern: () => pattern ??= new URLPattern({ pathname }),
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

/** The handler of a request with the parameters of its path, or the response to `OPTIONS`. */
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
export function match(
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
    if (route.pattern().test(url)) return choose(route, request, given);
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
  // PUT changes only the fields in its body, as PATCH does in other APIs (RFC 5789).
  const hint = method === "PATCH" && Object.hasOwn(operations, "PUT")
    ? ". PUT changes only the fields that its body has"
    : "";
  throw new ApiError(
    "METHOD_NOT_ALLOWED",
    `This path supports ${allow}${hint}`,
    { headers: { allow } },
  );
}
