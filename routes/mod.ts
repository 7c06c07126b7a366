import { createGuard } from "../middleware/auth.ts";
import type { Answer, Handler, Services } from "../middleware/context.ts";
import { createCors } from "../middleware/cors.ts";
import { responded } from "../middleware/respond.ts";
import { Room } from "../middleware/memory_budget.ts";
import { checkVersion } from "../middleware/version.ts";
import { ApiError } from "../schema/errors.ts";
import type {
  ApiOperation,
  ServiceOperation,
} from "../schema/openapi/operations.ts";
import { createDescription, createDocs } from "./docs.ts";
import * as changes from "./changes.ts";
import * as health from "./health.ts";
import * as products from "./products.ts";

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

/** A `Host` that is one (RFC 9110, 7.2); any other could change the path of the request's URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** So many bodies of the largest size are held at a time, or as many more as they are smaller. */
const BODIES = 32;

interface Route {
  method: string;
  /** Such as `/api/products/{id}`. */
  path: string;
  pattern: URLPattern;
  handler: Handler;
}

/** What is served: every operation that is described, and no other, has a handler. */
function routesOf({ apiPrefix: prefix, docs }: Services): Route[] {
  const guarded = createGuard();
  const api: Record<ApiOperation, Handler> = {
    "GET /products": guarded("read", products.list),
    "POST /products": guarded("write", products.create),
    "GET /products/changes": guarded("read", changes.list),
    "GET /products/{id}": guarded("read", products.get),
    "PUT /products/{id}": guarded("write", products.update),
    "DELETE /products/{id}": guarded("write", products.remove),
    "GET /openapi.json": createDescription(prefix),
  };
  const service: Record<ServiceOperation, Handler> = {
    "GET /health/live": health.live,
    "GET /health/ready": health.ready,
  };
  return [
    ...routes(prefix, api),
    ...routes("", service),
    ...docs ? routes("", createDocs(prefix)) : [],
  ];
}

/** A key such as `GET /products/{id}` is a method and a path below the prefix. */
function routes(prefix: string, handlers: Record<string, Handler>): Route[] {
  return Object.entries(handlers).map(([operation, handler]) => {
    const [method, path] = operation.split(" ") as [string, string];
    const pathname = prefix + path.replace("{id}", `:id(${UUID})`);
    const pattern = new URLPattern({ pathname });
    return { method, path: prefix + path, pattern, handler };
  });
}

/** Makes the service: a function from a request to its response, which never throws. */
export function createHandler(
  services: Services,
): (request: Request) => Promise<Response> {
  const routes = routesOf(services);
  const allowOrigin = createCors(services.corsOrigins);
  const room = new Room(BODIES * services.maxBodyBytes);
  return (request) =>
    responded(services, request, async (facts, timing): Promise<Answer> => {
      checkHost(request);
      checkVersion(request.headers);
      const found = match(routes, request);
      if (!found.handler) {
        return { status: 204, headers: { allow: found.allow } };
      }
      services.telemetry.routed(request.method, found.path);
      const deadline = performance.now() + services.deadlineMs;
      return await found.handler({
        services,
        request,
        params: found.params,
        deadline,
        room,
        facts,
        timing,
      });
    }).then((response) => allowOrigin(request, response));
}

function checkHost({ headers, url }: Request): void {
  const host = headers.get("host");
  if ((host === null || HOST.test(host)) && URL.canParse(url)) return;
  throw new ApiError("VALIDATION_ERROR", "The header Host is not a host name", {
    details: [{
      header: "Host",
      code: "invalid_host",
      message: "Expected a host name or an address, and a port if need be",
    }],
  });
}

/** The handler of the request; none for `OPTIONS`, which asks for what is allowed. */
function match(
  routes: Route[],
  { method, url }: Request,
): Route & { params: Record<string, string | undefined> } | {
  handler?: undefined;
  allow: string;
} {
  const asked = method === "HEAD" ? "GET" : method;
  for (const route of routes) {
    if (route.method !== asked) continue;
    const hit = route.pattern.exec(url);
    if (hit) return { ...route, params: hit.pathname.groups };
  }
  const methods = routes.filter(({ pattern }) => pattern.test(url)).map((
    { method },
  ) => method);
  if (methods.length === 0) {
    throw new ApiError("NOT_FOUND", "Nothing is served at this path");
  }
  const allow = methods.flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  )
    .concat("OPTIONS").join(", ");
  if (method === "OPTIONS") return { allow };
  throw new ApiError("METHOD_NOT_ALLOWED", `This path answers ${allow}`, {
    headers: { allow },
  });
}
