import { readiness } from "../db/database.ts";
import type { Answer, Context } from "../middleware/context.ts";
import { checkReady } from "../middleware/ready.ts";
import { ok } from "./handlers.ts";

/** `GET /health/live`: the process responds. */
export function live(): Answer {
  return ok('{"status":"live"}');
}

/** `GET /health/ready`: the service accepts requests and the database responds. */
export async function ready({ services, deadline }: Context): Promise<Answer> {
  checkReady(services);
  await services.database.until(deadline).lookUp(readiness);
  return ok('{"status":"ready"}');
}
