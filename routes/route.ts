import type { Handler } from "../middleware/context.ts";
import { pathOf } from "../middleware/request_path.ts";
import { ApiError } from "../schema/errors.ts";
import { bareIsbn } from "../schema/values.ts";

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/** The parameters of paths. */
const PARAMETERS: Record<string, string> = {
  id: UUID,
  product_id: UUID,
  number: "\\d{1,3}",
  key_id: "[0-9a-z]{12}",
};

/** An ISBN in place of a product's id, with or without hyphens. */
const ISBN = /^\/products\/((?:\d-?){9}(?:(?:\d-?){3}\d|[\dXx]))$/;

export interface Route {
  method: string;
  /** Such as `/api/products/{id}`. */
  path: string;
  /** Matches the path of a request exactly as it was sent. */
  pattern: RegExp;
  handler: Handler;
}

/** The route that a request matches, with the groups of its path, or the methods that `OPTIONS` asks for. */
type Match =
  | Route & { params: Record<string, string | undefined> }
  | { handler?: undefined; allow: string };

/** Routes below the prefix. A key such as `GET /products/{id}` is a method and a path. */
export function routesBelow(
  prefix: string,
  handlers: Record<string, Handler>,
): Route[] {
  return Object.entries(handlers).map(([operation, handler]) => {
    const [method, below] = operation.split(" ") as [string, string];
    const path = prefix + below;
    const pattern = path.split(/\{(\w+)\}/).map((part, i) =>
      i % 2 === 0 ? RegExp.escape(part) : `(?<${part}>${PARAMETERS[part]})`
    ).join("");
    return { method, path, pattern: new RegExp(`^${pattern}$`), handler };
  });
}

/**
 * Finds the route of a request; undefined where no route has its path. Throws
 * `METHOD_NOT_ALLOWED`.
 */
export function match(routes: Route[], request: Request): Match | undefined {
  const { method } = request;
  const path = pathOf(request);
  const asked = method === "HEAD" ? "GET" : method;
  for (const route of routes) {
    if (route.method !== asked) continue;
    const hit = route.pattern.exec(path);
    if (hit) return { ...route, params: hit.groups ?? {} };
  }
  const methods = routes.filter(({ pattern }) => pattern.test(path))
    .map(({ method }) => method);
  if (methods.length === 0) return undefined;
  const allow = methods.flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  )
    .concat("OPTIONS").join(", ");
  if (method === "OPTIONS") return { allow };
  throw new ApiError("METHOD_NOT_ALLOWED", `This path answers ${allow}`, {
    headers: { allow },
  });
}

/** The error of an unknown path. It says where to look instead. */
export function notFound(
  request: Request,
  { apiPrefix: prefix, docs }: { apiPrefix: string; docs: boolean },
): ApiError {
  const path = pathOf(request);
  const isbn = path.startsWith(prefix)
    ? ISBN.exec(path.slice(prefix.length))?.[1]
    : undefined;
  if (isbn !== undefined) {
    const bare = bareIsbn(isbn);
    return new ApiError(
      "NOT_FOUND",
      `Products are addressed by id: find one by its ISBN with ${prefix}/products?isbn${bare.length}=${bare}`,
    );
  }
  const description = `${prefix}/openapi.json`;
  return new ApiError(
    "NOT_FOUND",
    `Nothing is served at this path: see ${
      docs ? `/docs and ${description}` : description
    }`,
  );
}
