import { Buffer } from "node:buffer";
import * as v from "valibot";
import { withDeadline } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/fair_share.ts";
import { ApiError, invalidBody, unavailable } from "../schema/errors.ts";
import { ignoredFields } from "../schema/objects.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";
import type { Reservation } from "./memory_budget.ts";

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/** The size of the read buffer, which a body holds while it arrives. */
const BUFFER = 65_536;

/** What a byte of a body takes until its response: its text, its values, and the parameters of statements. */
const COPIES = 6;

/** The allowance for a stalled body. A rate below `MIN_BYTES_PER_MS` consumes it. */
const STALL_MS = 3_000;

const MIN_BYTES_PER_MS = 1;

/**
 * Reads a JSON body into reserved memory, validates it, and records the ignored fields
 * for the response. Throws `UNSUPPORTED_MEDIA_TYPE`, `INVALID_JSON`, `VALIDATION_ERROR`
 * and the errors of `readBytes`.
 */
export async function readBody(
  context: Context & { caller: Caller },
  schema: v.GenericSchema,
  memory: Reservation,
): Promise<{ text: string; body: unknown }> {
  checkMediaType(context.request.headers);
  const text = decode(await readBytes(context, memory));
  const body = await context.shares.parsing.run(context, () => {
    const input = parseJson(text);
    const result = v.safeParse(schema, input);
    if (!result.success) throw invalidBody(result.issues);
    const ignored = ignoredFields(input, result.output);
    if (ignored.length > 0) context.log.ignored_fields = ignored;
    return result.output;
  });
  return { text, body };
}

function decode(bytes: Uint8Array): string {
  try {
    // The parser must see a byte order mark, which is not JSON (RFC 8259, 8.1).
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch (cause) {
    throw invalidJson("The body is not valid UTF-8", cause);
  }
}

function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  const encoding = headers.get("content-encoding") ?? "identity";
  if (!JSON_MEDIA_TYPE.test(type)) {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Content-Type must be application/json, in UTF-8",
    );
  }
  if (encoding.toLowerCase() !== "identity") {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Content-Encoding is not supported: send the body uncompressed",
      { headers: { "accept-encoding": "identity" } }, // RFC 9110, 12.5.3
    );
  }
}

/**
 * Reads the bytes of a body into reserved memory. A body with a length waits for its
 * memory before it is read. Throws `PAYLOAD_TOO_LARGE` as soon as the body exceeds the
 * limit, `SERVICE_UNAVAILABLE` beyond the caller's share of memory or when the service stops, `REQUEST_TIMEOUT` for a slow body, or
 * `INVALID_JSON` for an incomplete one.
 */
async function readBytes(
  context: Context,
  memory: Reservation,
): Promise<Uint8Array> {
  const { request, services, shares: { bodies }, caller } = context;
  const { maxBodyBytes: limit, bodyTimeoutMs, isReady } = services;
  // Content-Length is only a hint, but enough to refuse the body early.
  const length = Number(request.headers.get("content-length"));
  if (length > limit) throw tooLarge(limit);
  if (!request.body) return new Uint8Array();

  let reserved = length || 0;
  await memory.hold(reserved * COPIES);
  using buffer = bodies.open(caller, context.deadline);
  buffer.add(BUFFER);
  const reader = readerOf(request.body);
  const deadline = performance.now() + bodyTimeoutMs;
  let stalledAt = performance.now() + STALL_MS;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const { done, value } = await withDeadline(
        Math.min(deadline, stalledAt),
        reader.read(),
        tooSlow,
      );
      if (done) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      if (size > reserved) {
        memory.add((size - reserved) * COPIES);
        reserved = size;
      }
      chunks.push(value);
      stalledAt = Math.min(
        stalledAt + value.length / MIN_BYTES_PER_MS,
        performance.now() + STALL_MS,
      );
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops.
    if (!isReady()) throw unavailable("The service is stopping");
    throw invalidJson("The body is incomplete", error);
  }

  function tooSlow(): ApiError {
    return new ApiError(
      "REQUEST_TIMEOUT",
      stalledAt < deadline
        ? `The body stalled: it must arrive at ${
          MIN_BYTES_PER_MS * 1000
        } bytes a second or faster`
        : `The body did not arrive within ${bodyTimeoutMs / 1000} seconds`,
    );
  }
}

/**
 * Reads a byte stream into growing buffers: Deno allocates 64 KiB for each read,
 * which would add up for stalled bodies. Requests created in this process have
 * another kind of stream.
 */
function readerOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
  let size = 1_024;
  return {
    read() {
      size = Math.min(size * 2, BUFFER);
      return reader.read(new Uint8Array(size));
    },
    cancel: () => reader.cancel(),
  };
}

function tooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}
