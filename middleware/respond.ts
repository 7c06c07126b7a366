import { Buffer } from "node:buffer";
import { ApiError } from "../schema/errors.ts";
import { failure, JSON_TYPE } from "../schema/envelope.ts";
import { VERSIONS } from "../schema/version.ts";
import { PART, streamed } from "./answer_stream.ts";
import type { Answer, Facts, Memory, Services } from "./context.ts";
import { toApiError } from "./error_mapping.ts";
import { described } from "./log.ts";
import type { Reservation } from "./memory_budget.ts";
import { pathOf } from "./request_path.ts";
import { serverTiming, Stopwatch, type Timing } from "./timing.ts";

const COMMON = {
  "api-version": VERSIONS[0],
  "vary": "Accept-Version",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/**
 * Turns whatever `handle` answers or throws into a `Response`, with the common
 * headers, and writes one line of the log. Never throws.
 */
export async function responded(
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
      reserved = memory.answers.reserve(facts, costOf(answer));
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
  const ms = performance.now() - started;
  log(status >= 500 ? "error" : "info", {
    request_id: requestId,
    method: request.method,
    path: loggedPath(pathOf(request)),
    status,
    ms: Math.round(ms * 10) / 10,
    trace_id: telemetry.traceId(),
    ...facts,
    ...error && { code: error.code },
    ...error && status >= 500 && { cause: described(error.cause) },
  });
  const onUnread = () =>
    log("warn", {
      message: "A client has stopped reading its answer",
      request_id: requestId,
    });
  const sent = reserved && body !== null
    ? streamed(body, {
      memory: reserved,
      patienceMs: services.answerPatienceMs,
      onUnread,
    })
    : body;
  return new Response(isHead ? null : sent, {
    status,
    headers: {
      "x-request-id": requestId,
      "server-timing": serverTiming(timing, ms),
      ...COMMON,
      ...body !== null && { "content-type": JSON_TYPE },
      // The server knows neither the length of a stream nor that of GET (RFC 9110, 8.6).
      ...body !== null && (isHead || reserved) &&
        { "content-length": String(Buffer.byteLength(body)) },
      ...facts.ignored_fields && status < 400 &&
        { "ignored-fields": facts.ignored_fields.join(", ") },
      ...answer.headers,
    },
  });
}

function isLong({ body }: Answer): boolean {
  return body !== undefined && body.length > PART;
}

/** Bytes that all answers share cost each of them one part at a time. */
function costOf({ body = "" }: Answer): number {
  return typeof body === "string" ? Buffer.byteLength(body) : PART;
}

/** The client's own id where it is valid, else a new one. */
function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given && /^[A-Za-z0-9._-]{1,128}$/.test(given)
    ? given
    : crypto.randomUUID();
}

/**
 * No path of ours has a segment longer than a UUID. A longer one may be a
 * misplaced key or token: it is cut where the secret of a key begins.
 */
function loggedPath(path: string): string {
  return path.split("/")
    .map((part) => part.length > 36 ? `${part.slice(0, 16)}…` : part)
    .join("/").slice(0, 200);
}
