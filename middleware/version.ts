import { ApiError } from "../schema/errors.ts";
import { VERSIONS } from "../schema/envelope.ts";

/** Throws `UNSUPPORTED_VERSION` for an `Accept-Version` that is not served (specification, 9). */
export function checkVersion(headers: Headers): void {
  const version = headers.get("accept-version")?.trim();
  if (!version || VERSIONS.includes(version)) return;
  throw new ApiError(
    "UNSUPPORTED_VERSION",
    `Accept-Version is not supported; supported: ${VERSIONS.join(", ")}`,
  );
}
