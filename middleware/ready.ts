import { unavailable } from "../schema/errors.ts";
import type { Services } from "./context.ts";

/** Throws `SERVICE_UNAVAILABLE` while the service starts or stops. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting or stopping");
  }
}
