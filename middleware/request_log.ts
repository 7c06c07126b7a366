import type { ApiError } from "../schema/errors.ts";
import { distinctNames } from "../schema/ignored.ts";
import type { Context } from "./context.ts";
import { errorFields } from "./log.ts";
import { pathOf } from "./request.ts";

/** The logged length of a method. The server accepts methods of 100,000 characters. */
const MAX_METHOD = 20;

/** Writes the log line of a request, and at the level `debug` the reason of a refusal. */
export function logRequest(
  { services: { log, telemetry }, request, caller, log: fields, ignored }: Context,
  { requestId, status, ms, error }: {
    requestId: string;
    status: number;
    ms: number;
    error: ApiError | undefined;
  },
): void {
  const cause = error && errorFields(error.cause);
  if (error && status < 500) {
    log("debug", {
      message: "A request is refused",
      request_id: requestId,
      code: error.code,
      // These messages quote no client data, as others may.
      reason: status === 401 || status === 403 ? error.message : undefined,
      cause,
      details: [...new Set(error.details.map(({ code }) => code))],
    });
  }
  log(status >= 500 ? "error" : "info", {
    request_id: requestId,
    method: request.method.slice(0, MAX_METHOD),
    path: loggedPath(pathOf(request)),
    status,
    ms: Math.round(ms * 10) / 10,
    trace_id: telemetry.traceId(),
    organization_id: caller?.organizationId,
    api_key: fields.api_key,
    ignored_fields: ignored && distinctNames(ignored),
    records: fields.records,
    code: error?.code,
    // The messages of these errors quote no client data.
    ...error && status >= 500 && { message: error.message, cause },
  });
}

/**
 * Truncates long segments of the path. A segment longer than a UUID may be a
 * misplaced credential: the cut removes the secret of an API key.
 */
function loggedPath(path: string): string {
  if (path.length <= 200 && !/(?:^|\/)[^/]{37}/.test(path)) return path;
  return path.split("/")
    .map((part) => part.length > 36 ? `${part.slice(0, 16)}…` : part)
    .join("/").slice(0, 200);
}
