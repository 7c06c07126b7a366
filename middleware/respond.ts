import { Buffer } from "node:buffer";
import { ApiError } from "../schema/errors.ts";
import { VERSIONS } from "../schema/versions.ts";
import { CHUNK, streamBody } from "./answer_stream.ts";
import type { Answer, Facts, Memory, Services } from "./context.ts";
import { toApiError } from "./error_mapping.ts";
import { errorFields } from "./log.ts";
import type { Reservation } from "./memory_budget.ts";
import { pathOf } from "./conditional.ts";
import { serverTiming, Stopwatch, type Timing } from "./timing.ts";

/** Longer responses are streamed. Most are shorter, and cheaper as a whole. */
const LONG = 131_072;

/** The logged length of a method. The server accepts methods of 100,000 characters. */
const MAX_METHOD = 20;

const COMMON = {
  "api-version": VERSIONS[0],
  "vary": "Accept-Version",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/**
 * Turns the answer or the error of `handle` into a `Response` with the common
 * headers, and logs the request. Never throws.
 */
export async function respond(
  { services, memory }: { services: Services; memory: Memory },
  request: Request,
  handle: (facts: Facts, timing: Timing) => Answer | Promise<Answer>,
): Promise<Response> {
  const { log, telemetry } = services;
  const started = performance.now();
  const requestId = requestIdOf(request.headers);
  const isHead = request.method === "HEAD";
  const facts: Facts = {};
  const timing = { auth: new Stopwatch(), db: new Stopwatch() };
  let answer: Answer;
  let reserved: Reservation | undefined;
  let error: ApiError | undefined;
  try {
    answer = await handle(facts, timing);
    if (!isHead && isLong(answer)) {
      reserved = memory.answers.reserve(facts.caller, costOf(answer));
    }
  } catch (thrown) {
    error = toApiError(thrown);
    telemetry.failed(error.code);
    answer = {
      status: error.status,
      body: failure(error, requestId),
      headers: error.headers,
    };
  }
  const { status, body = null } = answer;
  const { caller, ...logged } = facts;
  const ms = performance.now() - started;
  log(status >= 500 ? "error" : "info", {
    request_id: requestId,
    method: request.method.slice(0, MAX_METHOD),
    path: loggedPath(pathOf(request)),
    status,
    ms: Math.round(ms * 10) / 10,
    trace_id: telemetry.traceId(),
    organization_id: caller?.organizationId,
    ...logged,
    ...error && { code: error.code },
    // The messages of these errors quote no client data.
    ...error && status >= 500 &&
      { message: error.message, cause: errorFields(error.cause) },
  });
  const onTimeout = () =>
    log("warn", {
      message: "A client stopped reading its response",
      request_id: requestId,
    });
  const sent = reserved && body !== null
    ? streamBody(body, {
      memory: reserved,
      timeoutMs: services.sendTimeoutMs,
      onTimeout,
    })
    : body;
  return new Response(isHead ? null : sent, {
    status,
    headers: {
      "x-request-id": requestId,
      "server-timing": serverTiming(timing, ms),
      ...COMMON,
      ...body !== null && { "content-type": "application/json; charset=utf-8" },
      // Deno cannot know the length of a stream or of a HEAD response (RFC 9110, 8.6).
      ...body !== null && (isHead || reserved) &&
        { "content-length": String(Buffer.byteLength(body)) },
      ...facts.ignored_fields && status < 400 &&
        { "ignored-fields": facts.ignored_fields.join(", ") },
      ...answer.headers,
    },
  });
}

function isLong({ body }: Answer): boolean {
  return body !== undefined && body.length > LONG;
}

/** Shared bytes cost a response one chunk at a time. */
function costOf({ body = "" }: Answer): number {
  return typeof body === "string" ? Buffer.byteLength(body) : CHUNK;
}

/** The client's id if it is valid and not a misplaced API key, and a new one otherwise. */
function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given && /^(?!cat_)[A-Za-z0-9._-]{1,128}$/i.test(given)
    ? given
    : crypto.randomUUID();
}

/**
 * Truncates long segments of the path. A segment longer than a UUID may be a
 * misplaced credential: the cut removes the secret of an API key.
 */
function loggedPath(path: string): string {
  return path.split("/")
    .map((part) => part.length > 36 ? `${part.slice(0, 16)}…` : part)
    .join("/").slice(0, 200);
}

/** The envelope of a success (specification, 7.1). `data` is JSON text. */
export function success(data: string, meta?: object): string {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}

/** The envelope of a failure. */
function failure(
  { code, message, details }: ApiError,
  requestId: string,
): string {
  const error = { code, message, details, request_id: requestId };
  return JSON.stringify({ success: false, error });
}
