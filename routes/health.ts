import { ping } from "../db/database.ts";
import type { HandlerResponse, Routed } from "../middleware/context.ts";
import { checkReady } from "../middleware/guard.ts";
import { ok } from "../middleware/responses.ts";

/* The health checks. */

/** `GET /health/live`. */
export function checkLiveness(): HandlerResponse {
  return ok('{"status":"live"}');
}

/** `GET /health/ready`: the service accepts requests, and the database responds. */
export async function checkReadiness(
  { services, deadline }: Routed,
): Promise<HandlerResponse> {
  checkReady(services);
  await services.database.for({ deadline }).lookUp(ping);
  return ok('{"status":"ready"}');
}
