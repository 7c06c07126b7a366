import { readiness } from "../db/database.ts";
import type { Handler } from "../middleware/context.ts";
import { checkReady } from "../middleware/http.ts";
import type { ServiceOperation } from "../schema/openapi/operations.ts";
import { ok } from "./handlers.ts";

/** The health checks. Ready: the service accepts requests, and the database responds. */
export const HEALTH_HANDLERS: Record<ServiceOperation, Handler> = {
  "GET /health/live": () => ok('{"status":"live"}'),
  "GET /health/ready": async ({ services, deadline }) => {
    checkReady(services);
    await services.database.for({ deadline }).lookUp(readiness);
    return ok('{"status":"ready"}');
  },
};
