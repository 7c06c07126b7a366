import type { Answer, Context } from "../middleware/context.ts";
import { unavailable } from "../db/admission.ts";
import { success } from "../schema/envelope.ts";

/** `GET /health/live`: the process answers. */
export function live(): Answer {
  return { status: 200, body: success('{"status":"live"}') };
}

/** `GET /health/ready`: the database answers too, and the service is not being stopped. */
export async function ready({ services, database }: Context): Promise<Answer> {
  if (!services.isReady()) throw unavailable("The service is being stopped");
  await database.read((sql) => sql`select 1 as ready`);
  return { status: 200, body: success('{"status":"ready"}') };
}
