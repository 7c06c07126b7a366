import * as v from "valibot";
import { pause, withDeadline } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/fair_share.ts";
import { ApiError, invalidBody, unavailable } from "../schema/errors.ts";
import { gunzip } from "../schema/gunzip.ts";
import { ignoredFields } from "../schema/objects.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";
import type { Reservation } from "./memory.ts";

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/** The size of the largest read buffer, which a body holds while it arrives. */
const BUFFER = 65_536;

/** A shorter body reserves memory for this size, because of its buffer. */
const LEAST_BYTES = BUFFER / 8;

/** After this number of short chunks, other requests run: a million may have arrived at once. */
const SHORTS = 32;

/** The size below which a chunk is short, in bytes. */
const SHORT_CHUNK = 1_024;

/** The interval at which a waiting body checks whether the service stops. */
const WATCH_MS = 250;

/** How fast a body must arrive. */
interface Pace {
  /** The least rate. A lower one consumes the allowance. */
  bytesPerMs: number;
  /** The time that a body may be behind the least rate. */
  allowanceMs: number;
  /** The time for the whole body. */
  totalMs: number;
}

/** The media types of ONIX messages. The charset may be any that the reader knows. */
const XML_MEDIA_TYPE =
  /^(?:application|text)\/xml[ \t]*(?:;[ \t]*(?:[\w-]+=(?:"[^"]*"|[^;"\s]+)[ \t]*)?)*$/i;

const CHARSET = /;[ \t]*charset=(?:"([^"]*)"|([^;"\s]+))/i;

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
  mediaTypeOf(context.request.headers, {
    known: JSON_MEDIA_TYPE,
    name: "application/json, in UTF-8",
    encoding: "identity",
  });
  const text = decodeUtf8(await readBytes(context, memory));
  const parse = () => {
    const input = parseJson(text);
    const result = v.safeParse(schema, input);
    if (!result.success) throw invalidBody(result.issues);
    const ignored = ignoredFields(input, result.output);
    if (ignored.length > 0) context.log.ignored_fields = ignored;
    return result.output;
  };
  const { caller, deadline, shares } = context;
  const turn = { caller, deadline, length: text.length };
  const body = await shares.parsing.run(turn, parse);
  return { text, body };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // Drops a byte order mark, as a parser may (RFC 8259, 8.1).
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidJson("The body is not valid UTF-8", cause);
  }
}

/** The media type, and whether the body is compressed. Throws `UNSUPPORTED_MEDIA_TYPE`. */
function mediaTypeOf(
  headers: Headers,
  { known, name, encoding }: {
    known: RegExp;
    name: string;
    encoding: "identity" | "gzip";
  },
): { type: string; isGzip: boolean } {
  const type = headers.get("content-type") ?? "";
  if (!known.test(type)) {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      `Content-Type must be ${name}`,
    );
  }
  const given = (headers.get("content-encoding") ?? "identity").toLowerCase();
  const isGzip = /^(?:x-)?gzip$/.test(given); // RFC 9110, 8.4.1.3
  if (given !== "identity" && !(isGzip && encoding === "gzip")) {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      `This Content-Encoding is not supported: send the body ${
        encoding === "gzip" ? "with gzip, or " : ""
      }uncompressed`,
      { headers: { "accept-encoding": encoding } }, // RFC 9110, 12.5.3
    );
  }
  return { type, isGzip };
}

/** An XML body that is read as it arrives, with the charset of its media type. */
export interface XmlBody {
  charset: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens an XML body. It must arrive at 16 KB a second or faster, not counting the time
 * that its reader takes, and may be compressed. Throws `UNSUPPORTED_MEDIA_TYPE`, and while
 * it is read the errors of `readChunks` and `gunzip`.
 */
export function openXml(context: Context): XmlBody {
  const { type, isGzip } = mediaTypeOf(context.request.headers, {
    known: XML_MEDIA_TYPE,
    name: "application/xml or text/xml",
    encoding: "gzip",
  });
  const { services: { maxOnixBytes, bodyTimeoutMs } } = context;
  const [, quoted, token] = CHARSET.exec(type) ?? [];
  const chunks = readChunks(context, maxOnixBytes, {
    bytesPerMs: 16,
    allowanceMs: bodyTimeoutMs,
    totalMs: Infinity,
  }, "INVALID_XML");
  return {
    charset: quoted ?? token,
    chunks: isGzip ? limited(gunzip(chunks), maxOnixBytes) : chunks,
  };
}

/** The chunks up to a number of bytes in all. Throws `PAYLOAD_TOO_LARGE`. */
async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw bodyTooLarge(limit);
    yield chunk;
  }
}

/**
 * Reads the bytes of a JSON body. Before, waits for memory: for the largest body if the
 * length is unknown. Throws the errors of `readChunks`, and `SERVICE_UNAVAILABLE` at the
 * deadline.
 */
async function readBytes(
  context: Context,
  memory: Reservation,
): Promise<Uint8Array> {
  const { maxBodyBytes, bodyTimeoutMs } = context.services;
  const pace = { bytesPerMs: 1, allowanceMs: 3_000, totalMs: bodyTimeoutMs };
  const expected = expectedLength(context.request, maxBodyBytes);
  await memory.reserve(Math.max(expected, LEAST_BYTES));
  // A list of a million chunks would take far more memory than their bytes.
  const bytes = new Uint8Array(expected);
  let size = 0;
  for await (
    const chunk of readChunks(context, expected, pace, "INVALID_JSON")
  ) {
    bytes.set(chunk, size);
    size += chunk.length;
  }
  await memory.reserve(size);
  return bytes.subarray(0, size);
}

/** The length that the header says, or else the limit. Throws `PAYLOAD_TOO_LARGE`. */
function expectedLength({ headers }: Request, limit: number): number {
  const length = Number(headers.get("content-length") ?? limit);
  if (length > limit) throw bodyTooLarge(limit);
  return length;
}

/**
 * The chunks of a body as they arrive. The caller has reserved memory for the buffer.
 * Throws `PAYLOAD_TOO_LARGE` as soon as the body exceeds the limit, `SERVICE_UNAVAILABLE`
 * when the service stops, `REQUEST_TIMEOUT` for a slow body, or `incomplete` for an
 * incomplete one.
 */
async function* readChunks(
  { request, services: { isReady } }: Context,
  limit: number,
  { bytesPerMs, allowanceMs, totalMs }: Pace,
  incomplete: "INVALID_JSON" | "INVALID_XML",
): AsyncGenerator<Uint8Array> {
  expectedLength(request, limit);
  if (!request.body) return;

  const reader = readerOf(request.body);
  const deadline = performance.now() + totalMs;
  // A body that may take any time ends when the service stops.
  const watch = totalMs === Infinity
    ? setInterval(() => isReady() || cancel(), WATCH_MS)
    : undefined;
  let allowance = allowanceMs;
  let size = 0;
  let shorts = 0;
  let isRead = false;
  try {
    while (true) {
      const asked = performance.now();
      const stalls = asked + allowance;
      const { done, value } = await withDeadline(
        Math.min(deadline, stalls),
        reader.read(),
        () => tooSlow(stalls < deadline),
      );
      if (done) {
        isRead = true;
        if (watch) checkReady();
        return;
      }
      size += value.length;
      if (size > limit) throw bodyTooLarge(limit);
      const waited = performance.now() - asked;
      allowance = Math.min(
        allowanceMs,
        allowance - waited + value.length / bytesPerMs,
      );
      yield value;
      if (value.length < SHORT_CHUNK && ++shorts % SHORTS === 0) await pause(1);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops.
    checkReady();
    throw new ApiError(incomplete, "The body is incomplete", { cause: error });
  } finally {
    clearInterval(watch);
    if (!isRead) cancel();
  }

  function cancel(): void {
    reader.cancel().catch(() => {});
  }

  function checkReady(): void {
    if (!isReady()) throw unavailable("The service is stopping");
  }

  function tooSlow(isStalled: boolean): ApiError {
    return new ApiError(
      "REQUEST_TIMEOUT",
      isStalled
        ? `The body stalled: it must arrive at ${
          bytesPerMs * 1000
        } bytes a second or faster`
        : `The body did not arrive within ${totalMs / 1000} seconds`,
    );
  }
}

/**
 * Reads a byte stream into one buffer, which grows when a read fills it: Deno allocates
 * 64 KiB for each read, which would add up for stalled bodies and short chunks. Requests
 * created in this process have another kind of stream.
 */
function readerOf(body: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
  let buffer = new ArrayBuffer(2_048);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return { done, value };
      const size = value.buffer.byteLength;
      const isFull = value.length === size && size < BUFFER;
      buffer = isFull ? new ArrayBuffer(size * 2) : value.buffer;
      return { done, value: value.slice() };
    },
    cancel: () => reader.cancel(),
  };
}

function bodyTooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}
