import { unavailable } from "../schema/errors.ts";
import type { Services } from "./context.ts";

/** Throws `SERVICE_UNAVAILABLE` where the service does not take work yet, or any more. */
export function checkReady({ isReady }: Services): void {
  if (!isReady()) {
    throw unavailable("The service is starting, or being stopped");
  }
}
