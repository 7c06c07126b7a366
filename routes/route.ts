import type { Handler } from "../middleware/context.ts";
import { pathOf } from "../middleware/conditional.ts";
import { ApiError } from "../schema/errors.ts";
import type { Operation } from "../schema/openapi/operation.ts";
import { bareIsbn, UUID_PATTERN } from "../schema/values.ts";

/** The parameters of paths. */
const PARAMETERS: Record<string, string> = {
  id: UUID_PATTERN,
  product_id: UUID_PATTERN,
  number: "[1-9]\\d{0,2}",
  key_id: "[0-9a-z]{12}",
};

/** The path of a product with something else in place of the id. */
const PRODUCT = /^\/products\/([^/]+)$/;

const ISBN = /^(?:\d-?){9}(?:(?:\d-?){3}\d|[\dXx])$/;

export interface Route {
  method: string;
  /** Such as `/api/products/{id}`. */
  path: string;
  /** Matches the path of a request, exactly as sent. */
  pattern: RegExp;
  handler: Handler;
  /** Whether its handler reads the query. */
  takesQuery: boolean;
}

/** The route of a request with its path parameters, or the response to `OPTIONS`. */
type Match =
  | Route & { params: Record<string, string | undefined> }
  | { handler?: undefined; allow: string };

/** Routes below the prefix, by keys such as `GET /products/{id}`. */
export function routesBelow(
  prefix: string,
  handlers: Record<string, Handler>,
  operations: Record<string, Operation> = {},
): Route[] {
  return Object.entries(handlers).map(([operation, handler]) => {
    const [method, below] = operation.split(" ") as [string, string];
    const path = prefix + below;
    const pattern = path.split(/\{(\w+)\}/).map((part, i) =>
      i % 2 === 0 ? RegExp.escape(part) : `(?<${part}>${PARAMETERS[part]})`
    ).join("");
    return {
      method,
      path,
      pattern: new RegExp(`^${pattern}$`),
      handler,
      takesQuery: !!operations[operation]?.query,
    };
  });
}

/**
 * Finds the route of a request. Returns undefined for an unknown path. Throws
 * `METHOD_NOT_ALLOWED`.
 */
export function match(routes: Route[], request: Request): Match | undefined {
  const { method } = request;
  const path = pathOf(request);
  const routed = method === "HEAD" ? "GET" : method;
  for (const route of routes) {
    if (route.method !== routed) continue;
    const hit = route.pattern.exec(path);
    if (hit) return { ...route, params: hit.groups ?? {} };
  }
  const methods = routes.filter(({ pattern }) => pattern.test(path))
    .flatMap(({ method }) => method === "GET" ? ["GET", "HEAD"] : [method]);
  if (methods.length === 0) return undefined;
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { allow };
  throw new ApiError("METHOD_NOT_ALLOWED", `This path supports ${allow}`, {
    headers: { allow },
  });
}

/** The error for an unknown path. Its message suggests a valid one. */
export function notFound(
  request: Request,
  { apiPrefix: prefix, docs }: { apiPrefix: string; docs: boolean },
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
