import { createGuard, type Need } from "../middleware/auth.ts";
import type { Handler, Services } from "../middleware/context.ts";
import { createCors } from "../middleware/cors.ts";
import { respond } from "../middleware/respond.ts";
import { MemoryBudget } from "../middleware/memory_budget.ts";
import { checkHost, checkVersion } from "../middleware/conditional.ts";
import { Turns } from "../middleware/turns.ts";
import { API, type ApiOperation } from "../schema/openapi/prose.ts";
import { createDescription, createDocs } from "./docs.ts";
import { HEALTH_HANDLERS } from "./health.ts";
import { KEY_HANDLERS } from "./keys.ts";
import { PRODUCT_HANDLERS } from "./products.ts";
import { RECORD_HANDLERS } from "./records.ts";
import { match, notFound, type Route, routesBelow } from "./route.ts";

const MIB = 1_048_576;

/** The handlers that need credentials. */
const GUARDED = { ...PRODUCT_HANDLERS, ...RECORD_HANDLERS, ...KEY_HANDLERS };

function needOf(operation: string): Need {
  if (Object.hasOwn(KEY_HANDLERS, operation)) return "administer";
  return operation.startsWith("GET ") ? "read" : "write";
}

/** The routes of the API, the service and the reference page. */
function routesOf({ apiPrefix: prefix, docs }: Services): Route[] {
  const guard = createGuard();
  const guarded = Object.entries(GUARDED).map(([key, handler]) => {
    return [key, guard(needOf(key), handler)];
  });
  const api: Record<ApiOperation, Handler> = {
    ...Object.fromEntries(guarded) as Record<keyof typeof GUARDED, Handler>,
    "GET /openapi.json": createDescription(prefix),
  };
  return [
    ...routesBelow(prefix, api, API),
    ...routesBelow("", HEALTH_HANDLERS),
    ...docs ? routesBelow("", createDocs(prefix)) : [],
  ];
}

/** Creates the handler of all requests. It never throws. */
export function createHandler(
  services: Services,
): (request: Request) => Promise<Response> {
  const routes = routesOf(services);
  const allowOrigin = createCors(services.corsOrigins);
  const memory = {
    bodies: new MemoryBudget(
      128 * MIB,
      "Too many request bodies are in memory",
    ),
    answers: new MemoryBudget(
      64 * MIB,
      "Too many long responses are unread: this request may have taken effect",
    ),
  };
  const shared = { services, memory, turns: new Turns() };

  return async (request) => {
    const response = await respond(shared, request, (facts, timing) => {
      checkHost(request);
      checkVersion(request.headers);
      const found = match(routes, request);
      if (!found) throw notFound(request, services);
      if (!found.handler) {
        return { status: 204, headers: { allow: found.allow } };
      }
      services.telemetry.routed(request.method, found.path);
      const deadline = performance.now() + services.deadlineMs;
      const { handler, params, takesQuery } = found;
      return handler({
        ...shared,
        request,
        params,
        takesQuery,
        deadline,
        facts,
        timing,
      });
    });
    return allowOrigin(request, response);
  };
}
