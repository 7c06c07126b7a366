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

/** Longer responses are streamed. Most are shorter, and cheaper as a whole. */
const LONG = 131_072;

const CHUNK = 65_536;

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
  const { status, body = null } = response;
  const ms = performance.now() - started;
  logRequest(context, { requestId, status, ms, error });
  const sent = reserved && body !== null
    ? streamBody(body, {
      memory: reserved,
      timeoutMs: services.sendTimeoutMs,
      onTimeout: () =>
        services.log("warn", {
          message: "A client stopped reading its response",
          request_id: requestId,
        }),
    })
    : body;
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "server-timing": `total;dur=${Math.round(ms * 100) / 100}`,
    ...COMMON,
  };
  if (body !== null) {
    headers["content-type"] = "application/json; charset=utf-8";
    // Deno cannot know the length of a stream or of a HEAD response (RFC 9110, 8.6).
    if (isHead || reserved) {
      headers["content-length"] = String(Buffer.byteLength(body));
    }
  }
  if (context.ignored && status < 400) {
    headers["ignored-fields"] = distinctNames(context.ignored).join(", ");
  }
  Object.assign(headers, response.headers);
  if (response.parts && !isHead) {
    const { log, sendTimeoutMs } = services;
    return new Response(
      streamParts(
        response.parts,
        sendTimeoutMs,
        (message) => log("warn", { message, request_id: requestId }),
      ),
      { status, headers },
    );
  }
  return new Response(isHead ? null : sent, { status, headers });
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
export function success(data: string, meta?: object): string {
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

interface StreamOptions {
  /** The memory that the response holds until its end. */
  memory: Disposable;
  /** The time limit for the client to read a chunk. */
  timeoutMs: number;
  onTimeout: () => void;
}

/**
 * Streams a long response at the client's pace, and aborts it when the client
 * stops reading. `Deno.serve` copies any other body, and keeps the copy until the
 * connection closes.
 */
function streamBody(
  body: string | Uint8Array,
  { memory, timeoutMs, onTimeout }: StreamOptions,
): ReadableStream<Uint8Array> {
  const chunks = typeof body === "string" ? encodedChunks(body) : views(body);
  let left = Buffer.byteLength(body);
  let timer: ReturnType<typeof setTimeout>;

  function end() {
    clearTimeout(timer);
    memory[Symbol.dispose]();
  }

  function waitForClient(stream: ReadableStreamDefaultController) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      end();
      onTimeout();
      // Deno prints the reason on stderr, with a stack if it is an `Error`.
      stream.error("A client stopped reading its response");
    }, timeoutMs);
  }

  return new ReadableStream<Uint8Array>({
    start: waitForClient,
    pull(stream) {
      const chunk = chunks.next().value!;
      stream.enqueue(chunk);
      left -= chunk.length;
      if (left > 0) return waitForClient(stream);
      end();
      stream.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

/** Streams parts that are made as the client reads them. A client that stops reading ends them. */
function streamParts(
  parts: AsyncGenerator<string>,
  timeoutMs: number,
  warn: (message: string) => void,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout>;

  function fail(stream: ReadableStreamDefaultController, message: string) {
    clearTimeout(timer);
    warn(message);
    stream.error(message);
    void parts.return(undefined).catch(() => {});
  }

  return new ReadableStream<Uint8Array>({
    async pull(stream) {
      clearTimeout(timer);
      try {
        const { done, value } = await parts.next();
        if (done) return stream.close();
        stream.enqueue(Buffer.from(value));
        timer = setTimeout(
          () => fail(stream, "A client stopped reading its response"),
          timeoutMs,
        );
      } catch (error) {
        fail(stream, `A response ends early: ${(error as Error).name}`);
      }
    },
    async cancel() {
      clearTimeout(timer);
      await parts.return(undefined);
    },
  }, { highWaterMark: 0 });
}

/** Encodes each chunk separately, so that no chunk keeps the others in memory. */
function* encodedChunks(text: string): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + CHUNK;
    // Keeps surrogate pairs together.
    if (/[\uD800-\uDBFF]/.test(text.charAt(to - 1))) to--;
    yield Buffer.from(text.slice(from, to));
  }
}

function* views(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += CHUNK) {
    yield bytes.subarray(from, from + CHUNK);
  }
}
