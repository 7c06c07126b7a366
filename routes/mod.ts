import { createGuard } from "../middleware/auth.ts";
import type {
  Answer,
  Facts,
  Handler,
  Services,
} from "../middleware/context.ts";
import { createCors } from "../middleware/cors.ts";
import { respond } from "../middleware/respond.ts";
import { MemoryBudget } from "../middleware/memory_budget.ts";
import { checkVersion } from "../middleware/request_headers.ts";
import type { Timing } from "../middleware/timing.ts";
import { ApiError } from "../schema/errors.ts";
import {
  API,
  type ApiOperation,
  type ServiceOperation,
} from "../schema/openapi/operations.ts";
import { createDescription, createDocs } from "./docs.ts";
import { batch } from "./batches.ts";
import * as changes from "./changes.ts";
import * as keys from "./keys.ts";
import * as health from "./health.ts";
import * as products from "./products.ts";
import { recordHandlers } from "./record_handlers.ts";
import * as rights from "./rights_and_supply.ts";
import { match, notFound, type Route, routesBelow } from "./route.ts";

/** A valid `Host` (RFC 9110, 7.2). Other values could change the path of the request's URL. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

const MIB = 1_048_576;

/** The routes of the API, the service and the reference page. */
function routesOf({ apiPrefix: prefix, docs }: Services): Route[] {
  const guarded = createGuard();
  const api: Record<ApiOperation, Handler> = {
    "GET /products": guarded("read", products.list),
    "POST /products": guarded("write", products.create),
    "GET /products/changes": guarded("read", changes.list),
    "POST /products/batch": guarded("write", batch),
    "GET /products/{id}": guarded("read", products.get),
    "PUT /products/{id}": guarded("write", products.update),
    "DELETE /products/{id}": guarded("write", products.remove),
    "GET /products/{id}/territories": guarded("read", rights.getTerritories),
    "PUT /products/{id}/territories": guarded("write", rights.putTerritories),
    "GET /products/{id}/sales-rights": guarded("read", rights.getSalesRights),
    "PUT /products/{id}/sales-rights": guarded("write", rights.putSalesRights),
    ...recordHandlers(guarded),
    "GET /api-keys": guarded("administer", keys.list),
    "POST /api-keys": guarded("administer", keys.create),
    "GET /api-keys/{key_id}": guarded("administer", keys.get),
    "DELETE /api-keys/{key_id}": guarded("administer", keys.revoke),
    "GET /openapi.json": createDescription(prefix),
  };
  const service: Record<ServiceOperation, Handler> = {
    "GET /health/live": health.live,
    "GET /health/ready": health.ready,
  };
  return [
    ...routesBelow(prefix, api, API),
    ...routesBelow("", service),
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

  async function handle(
    request: Request,
    facts: Facts,
    timing: Timing,
  ): Promise<Answer> {
    checkHost(request);
    checkVersion(request.headers);
    const found = match(routes, request);
    if (!found) throw notFound(request, services);
    if (!found.handler) {
      return { status: 204, headers: { allow: found.allow } };
    }
    services.telemetry.routed(request.method, found.path);
    const deadline = performance.now() + services.deadlineMs;
    return await found.handler({
      services,
      request,
      params: found.params,
      takesQuery: found.takesQuery,
      deadline,
      memory,
      facts,
      timing,
    });
  }

  return async (request) => {
    const response = await respond(
      { services, memory },
      request,
      (facts, timing) => handle(request, facts, timing),
    );
    return allowOrigin(request, response);
  };
}

function checkHost({ headers, url }: Request): void {
  const host = headers.get("host");
  if ((host === null || HOST.test(host)) && URL.canParse(url)) return;
  throw new ApiError("VALIDATION_ERROR", "The header Host is invalid", {
    details: [{
      header: "Host",
      code: "invalid_host",
      message: "Expected a host name or an address, and optionally a port",
    }],
  });
}
