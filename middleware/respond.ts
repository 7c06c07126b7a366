import { Buffer } from "node:buffer";
import { API_VERSIONS } from "../schema/api_versions.ts";
import type { ApiError } from "../schema/errors.ts";
import { distinctNames } from "../schema/ignored.ts";
import { isNotModified } from "./conditional.ts";
import type { Context, HandlerResponse, Services, Shares } from "./context.ts";
import { failureText, toApiError } from "./failure.ts";
import { TextMemory } from "./memory.ts";
import { requestIdOf } from "./request.ts";
import { logRequest } from "./request_log.ts";
import { CHUNK, streamBody, streamParts } from "./streams.ts";

/** Longer responses are streamed. Most are shorter, and cheaper to send at once. */
const LONG = 131_072;

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
  let reserved: Disposable | undefined;
  let error: ApiError | undefined;
  try {
    response = unlessNotModified(request, await handle(context));
    if (!isHead && response.parts) reserved = heldBy(response, context);
    else if (!isHead && isLong(response)) {
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
  if (!reserved) {
    context.memory?.[Symbol.dispose]();
    response.held?.[Symbol.dispose]();
  }
  const { status } = response;
  const ms = performance.now() - started;
  logRequest(context, { requestId, status, ms, error });
  // Deno cannot know the length of a stream or of a HEAD response (RFC 9110, 8.6).
  const headers = headersOf(context, response, ms, isHead || reserved !== undefined);
  const body = isHead ? headBody(response) : sentBody(context, response, reserved);
  const sent = new Response(body, { status });
  // Given to the constructor, eight headers take Deno four times as long.
  for (const [name, value] of Object.entries(headers)) sent.headers.set(name, value);
  return sent;
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

/**
 * The body of a `HEAD` response, which Deno does not send. For a body of null, it would send a
 * length of 0 where `GET` streams parts, whose length is not known (RFC 9110, 8.6).
 */
function headBody({ parts }: HandlerResponse): BodyInit | null {
  return parts ? ReadableStream.from([]) : null;
}

/** The body to send: at once, in parts as they are made, or, if memory is reserved for it, as a stream. */
function sentBody(
  { services: { log, sendTimeoutMs }, requestId }: Context,
  { body, parts }: HandlerResponse,
  memory: Disposable | undefined,
): BodyInit | null {
  const warn = (message: string) => log("warn", { message, request_id: requestId });
  if (!memory) return body ?? null;
  const options = { memory, timeoutMs: sendTimeoutMs, warn };
  return parts ? streamParts(parts, options) : streamBody(body!, options);
}

/** Returns what a response holds until it is sent. */
function heldBy({ held }: HandlerResponse, { memory }: Context): Disposable {
  const stack = new DisposableStack();
  if (memory) stack.use(memory);
  if (held) stack.use(held);
  return stack;
}

/** Returns the response, or 304 if the client of a `GET` has it already (RFC 9110, 15.4.5). */
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
