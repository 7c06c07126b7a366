import { readiness } from "../db/database.ts";
import type { Handler } from "../middleware/context.ts";
import { checkReady } from "../middleware/conditional.ts";
import type { ServiceOperation } from "../schema/openapi/prose.ts";
import { ok } from "./responses.ts";

/** The health checks. Ready: the service accepts requests, and the database responds. */
export const HEALTH_HANDLERS: Record<ServiceOperation, Handler> = {
  "GET /health/live": () => ok('{"status":"live"}'),
  "GET /health/ready": async ({ services, deadline }) => {
    checkReady(services);
    await services.database.for({ deadline }).lookUp(readiness);
    return ok('{"status":"ready"}');
  },
};
