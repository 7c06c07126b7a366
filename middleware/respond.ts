import { Buffer } from "node:buffer";
import { ApiError } from "../schema/errors.ts";
import { failure, JSON_TYPE } from "../schema/envelope.ts";
import { VERSIONS } from "../schema/version.ts";
import type { Answer, Facts, Services } from "./context.ts";
import { toApiError } from "./error_mapping.ts";
import { errorFields } from "./log.ts";
import { serverTiming, Stopwatch, type Timing } from "./timing.ts";

const COMMON = {
  "api-version": VERSIONS[0],
  "vary": "Accept-Version",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/**
 * Makes the `Response` of whatever `handle` answers or throws, with the headers
 * that every answer has, and one line in the log. It never throws itself.
 */
export async function responded(
  { log, telemetry }: Services,
  request: Request,
  handle: (facts: Facts, timing: Timing) => Answer | Promise<Answer>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const facts: Facts = {};
  const timing = { auth: new Stopwatch(), db: new Stopwatch() };
  let answer: Answer;
  let error: ApiError | undefined;
  try {
    answer = await handle(facts, timing);
  } catch (thrown) {
    error = toApiError(thrown);
    telemetry.failed(error.code);
    answer = {
      status: error.status,
      body: failure(error, requestId),
      headers: error.headers,
    };
  }
  const ms = performance.now() - started;
  log(answer.status >= 500 ? "error" : "info", {
    request_id: requestId,
    method: request.method,
    path: pathOf(request.url),
    status: answer.status,
    ms: Math.round(ms * 10) / 10,
    trace_id: telemetry.traceId(),
    ...facts,
    ...error && { code: error.code },
    ...error && error.status >= 500 && { cause: errorFields(error.cause) },
  });
  const isHead = request.method === "HEAD";
  return new Response(isHead ? null : answer.body ?? null, {
    status: answer.status,
    headers: {
      "x-request-id": requestId,
      "server-timing": serverTiming(timing, ms),
      ...COMMON,
      ...answer.body !== undefined && { "content-type": JSON_TYPE },
      // The length that GET would have (RFC 9110, 8.6): the server would say 0.
      ...isHead && answer.body !== undefined &&
        { "content-length": String(Buffer.byteLength(answer.body)) },
      ...answer.headers,
    },
  });
}

/** The client's own id where it is one, else a new one. */
function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given && /^[A-Za-z0-9._-]{1,128}$/.test(given)
    ? given
    : crypto.randomUUID();
}

/**
 * Without the query, which may hold what a reader of logs has no business with.
 * No path of ours has a part that is longer than a UUID: such a part may be a
 * key or a token at the wrong place, and is cut where the secret of a key begins.
 */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.search(/[?#]/);
  if (start < 0) return "/";
  return url.slice(start, end < 0 ? undefined : end).split("/")
    .map((part) => part.length > 36 ? `${part.slice(0, 16)}…` : part)
    .join("/").slice(0, 200);
}
