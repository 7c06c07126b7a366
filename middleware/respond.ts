import { Buffer } from "node:buffer";
import {
  isConflict,
  isDatabaseError,
  isLockTimeout,
  isTransient,
} from "../db/connections/errors.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import type { Ignored } from "../schema/ignored.ts";
import { API_VERSIONS } from "../schema/api_versions.ts";
import { isNotModified } from "./conditional.ts";
import type { Context, HandlerResponse, Services, Shares } from "./context.ts";
import { errorFields } from "./log.ts";
import { TextMemory } from "./memory.ts";
import { pathOf, requestIdOf } from "./request.ts";
import { CHUNK, streamBody, streamParts } from "./streams.ts";

/** Longer responses are streamed. Most are shorter, and cheaper as a whole. */
const LONG = 131_072;

/** The logged length of a method. The server accepts methods of 100,000 characters. */
const MAX_METHOD = 20;

const COMMON = {
  "api-version": API_VERSIONS[0],
  "vary": "Accept-Version",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/**
 * Turns the response or the error of `handle` into a `Response` with the common
 * headers, and logs the request. Never throws.
 */
export async function respond(
  { services, shares }: { services: Services; shares: Shares },
  request: Request,
  handle: (context: Context) => HandlerResponse | Promise<HandlerResponse>,
): Promise<Response> {
  const started = performance.now();
  const requestId = requestIdOf(request);
  const context: Context = {
    services,
    shares,
    request,
    requestId,
    deadline: started + services.deadlineMs,
    log: {},
  };
  const isHead = request.method === "HEAD";
  let response: HandlerResponse;
  let reserved: TextMemory | undefined;
  let error: ApiError | undefined;
  try {
    response = unlessNotModified(request, await handle(context));
    if (!isHead && isLong(response)) {
      const memory = context.memory ?? new TextMemory(shares.texts, context);
      await memory.keep(costOf(response));
      reserved = memory;
    }
  } catch (thrown) {
    error = toApiError(thrown);
    services.telemetry.failed(error.code);
    response = {
      status: error.status,
      body: failureText(error, requestId),
      headers: error.headers,
    };
  }
  if (!reserved) context.memory?.[Symbol.dispose]();
  const { status } = response;
  const ms = performance.now() - started;
  logRequest(context, { requestId, status, ms, error });
  // Deno cannot know the length of a stream or of a HEAD response (RFC 9110, 8.6).
  const headers = headersOf(context, response, ms, isHead || reserved !== undefined);
  const body = isHead ? null : sentBody(context, response, reserved);
  return new Response(body, { status, headers });
}

/** The headers of a response that took so many milliseconds, perhaps with its length. */
function headersOf(
  { requestId, ignored }: Context,
  { status, body, headers: own }: HandlerResponse,
  ms: number,
  hasLength: boolean,
): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "server-timing": `total;dur=${Math.round(ms * 100) / 100}`,
    ...COMMON,
  };
  if (body !== undefined) {
    headers["content-type"] = "application/json; charset=utf-8";
    if (hasLength) headers["content-length"] = String(Buffer.byteLength(body));
  }
  if (ignored && status < 400) {
    headers["ignored-fields"] = distinctNames(ignored).join(", ");
  }
  return Object.assign(headers, own);
}

/** The body as it is sent: whole, in parts as they are made, or, if memory is reserved for it, as a stream. */
function sentBody(
  { services: { log, sendTimeoutMs }, requestId }: Context,
  { body, parts }: HandlerResponse,
  memory: TextMemory | undefined,
): BodyInit | null {
  const warn = (message: string) => log("warn", { message, request_id: requestId });
  if (parts) return streamParts(parts, sendTimeoutMs, warn);
  if (memory && body !== undefined) {
    return streamBody(body, { memory, timeoutMs: sendTimeoutMs, warn });
  }
  return body ?? null;
}

/** The response, or 304 to a `GET` of what the client has already (RFC 9110, 15.4.5). */
function unlessNotModified(
  request: Request,
  response: HandlerResponse,
): HandlerResponse {
  const { headers } = response;
  const isGet = request.method === "GET" || request.method === "HEAD";
  return isGet && headers?.etag && isNotModified(request, headers.etag)
    ? { status: 304, headers }
    : response;
}

/** The error for the client. Its cause keeps internal details for the log. */
export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (isLockTimeout(cause)) {
    return unavailable("Another transaction holds a lock for too long", {
      cause,
    });
  }
  if (isConflict(cause)) {
    return unavailable("Other requests are changing the same records", {
      cause,
    });
  }
  if (isTransient(cause)) {
    return unavailable("The database is not available", { cause });
  }
  if (isDatabaseError(cause)) {
    return new ApiError(
      "DATABASE_ERROR",
      "The database could not complete the request",
      { cause },
    );
  }
  return new ApiError("INTERNAL_ERROR", "The request could not be completed", {
    cause,
  });
}

/** The names of ignored fields, each once. */
function distinctNames(ignored: readonly Ignored[]): string[] {
  return [...new Set(ignored.map(({ name }) => name))];
}

/** Writes the line of a request, and at the level `debug` the reason of a refusal. */
function logRequest(
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

/** The envelope of a success (specification, 7.1). `data` is JSON text. */
export function successText(data: string, meta?: object): string {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}

function failureText(
  { code, message, details, report }: ApiError,
  requestId: string,
): string {
  const error = { code, message, details, request_id: requestId, report };
  return JSON.stringify({ success: false, error });
}

function isLong({ body }: HandlerResponse): boolean {
  return body !== undefined && body.length > LONG;
}

/**
 * The memory that a response takes until it is sent. A text with a character beyond
 * Latin-1 takes two bytes for each. Shared bytes cost a response one chunk at a time.
 */
function costOf({ body = "" }: HandlerResponse): number {
  if (typeof body !== "string") return CHUNK;
  const bytes = Buffer.byteLength(body);
  return bytes === body.length ? bytes : 2 * body.length;
}
