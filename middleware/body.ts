import * as v from "valibot";
import { pause, withDeadline } from "../db/connections/deadline.ts";
import type { Caller } from "../db/connections/queue.ts";
import { refusedBody } from "../schema/accepted.ts";
import { ApiError, unavailable } from "../schema/errors.ts";
import { gunzip } from "../schema/gunzip.ts";
import { isWorkbook } from "../schema/sheets/read.ts";
import { ignoredIn } from "../schema/ignored.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/** The media types of ONIX messages. The charset may be any that the reader knows. */
const XML_MEDIA_TYPE =
  /^(?:application|text)\/xml[ \t]*(?:;[ \t]*(?:[\w-]+=(?:"[^"]*"|[^;"\s]+)[ \t]*)?)*$/i;

/** The media type of sheets. */
const CSV_MEDIA_TYPE = /^text\/csv[ \t]*(?:;[ \t]*(?:[\w-]+=(?:"[^"]*"|[^;"\s]+)[ \t]*)?)*$/i;

const CHARSET = /;[ \t]*charset=(?:"([^"]*)"|([^;"\s]+))/i;

/**
 * The greatest length of a JSON body, by its headers. Throws `UNSUPPORTED_MEDIA_TYPE` and
 * `PAYLOAD_TOO_LARGE`.
 */
export function jsonLength({ headers }: Request, limit: number): number {
  mediaTypeOf(headers, {
    known: JSON_MEDIA_TYPE,
    name: "application/json, in UTF-8",
    encoding: "identity",
  });
  return expectedLength(headers, limit);
}

/**
 * Reads a JSON body of at most this length, validates it, and records the ignored fields
 * for the response. Throws `INVALID_JSON`, `VALIDATION_ERROR` and the errors of
 * `readChunks`.
 */
export async function readJson(
  context: Context & { caller: Caller },
  schema: v.GenericSchema,
  length: number,
): Promise<{ text: string; body: unknown }> {
  const { bodyTimeoutMs } = context.services;
  const chunks = readChunks(context, length, {
    bytesPerMs: 1,
    allowanceMs: 3_000,
    totalMs: bodyTimeoutMs,
  }, "INVALID_JSON");
  // A list of a million chunks would take far more memory than their bytes.
  const bytes = new Uint8Array(length);
  let size = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, size);
    size += chunk.length;
  }
  const text = decodeUtf8(bytes.subarray(0, size));
  const body = await context.shares.parsing.run(context, () => {
    const input = parseJson(text);
    const result = v.safeParse(schema, input);
    if (!result.success) throw refusedBody(schema, input, result.issues);
    const ignored = ignoredIn(input, result.output);
    if (ignored.length > 0) context.ignored = ignored;
    return result.output;
  });
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

/** A text that is read as it arrives. */
interface OpenText {
  /** The charset of its media type. */
  charset: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens an XML body, which is read as it arrives. Throws `UNSUPPORTED_MEDIA_TYPE`, and while it
 * is read the errors of `readChunks` and `gunzip`.
 */
export function openXml(context: Context): OpenText {
  const media = { known: XML_MEDIA_TYPE, name: "application/xml or text/xml" };
  return openText(context, media, "INVALID_XML");
}

/**
 * Opens a text. It must arrive at 16 KB a second or faster, not counting the time that its
 * reader takes, and may be compressed.
 */
function openText(
  context: Context,
  media: { known: RegExp; name: string },
  incomplete: "INVALID_XML" | "VALIDATION_ERROR",
): OpenText {
  const { request: { headers }, services: { maxOnixBytes, bodyTimeoutMs } } = context;
  const { type, isGzip } = mediaTypeOf(headers, { ...media, encoding: "gzip" });
  const [, quoted, token] = CHARSET.exec(type) ?? [];
  const chunks = readChunks(context, maxOnixBytes, {
    bytesPerMs: 16,
    allowanceMs: bodyTimeoutMs,
    totalMs: Infinity,
  }, incomplete);
  return {
    charset: quoted ?? token,
    chunks: isGzip ? limited(gunzip(chunks), maxOnixBytes) : chunks,
  };
}

/**
 * Reads the body of a sheet, which is checked as a whole before anything is written. Throws
 * `UNSUPPORTED_MEDIA_TYPE` and the errors of `readChunks`.
 */
export async function readSheet(
  context: Context,
): Promise<{ charset: string | undefined; chunks: Uint8Array[] }> {
  const { headers } = context.request;
  if (/spreadsheet|ms-excel/i.test(headers.get("content-type") ?? "")) {
    throw isWorkbook();
  }
  const media = { known: CSV_MEDIA_TYPE, name: "text/csv" };
  const { charset, chunks: sent } = openText(context, media, "VALIDATION_ERROR");
  const chunks: Uint8Array[] = [];
  let block = new Uint8Array(BLOCK_BYTES);
  let used = 0;
  for await (const chunk of sent) {
    // A million short chunks would take far more memory than their bytes.
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + BLOCK_BYTES - used);
      block.set(part, used);
      used += part.length;
      from += part.length;
      if (used < BLOCK_BYTES) continue;
      chunks.push(block);
      block = new Uint8Array(BLOCK_BYTES);
      used = 0;
    }
  }
  chunks.push(block.subarray(0, used));
  return { charset, chunks };
}

/** The size of the blocks in which a body is kept. */
const BLOCK_BYTES = 65_536;

/** The length that the header says, or else the limit. Throws `PAYLOAD_TOO_LARGE`. */
function expectedLength(headers: Headers, limit: number): number {
  const length = Number(headers.get("content-length") ?? limit);
  if (length > limit) throw bodyTooLarge(limit);
  return length;
}

function bodyTooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
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

interface Pace {
  /** The least rate. A lower one consumes the allowance. */
  bytesPerMs: number;
  /** The time that a body may be behind the least rate. */
  allowanceMs: number;
  /** The time for the whole body. */
  totalMs: number;
}

/** After this number of chunks, other requests run: a million short ones may have arrived at once. */
const CHUNKS_AT_ONCE = 32;

/** The interval at which a body that may take any time is told that the service stops. */
const WATCH_MS = 250;

/**
 * The chunks of a body as they arrive. Throws `PAYLOAD_TOO_LARGE` as soon as the body
 * exceeds the limit, `SERVICE_UNAVAILABLE` when the service stops, `REQUEST_TIMEOUT` for a
 * slow body, or `incomplete` for an incomplete one.
 */
async function* readChunks(
  { request, services: { isReady } }: Context,
  limit: number,
  { bytesPerMs, allowanceMs, totalMs }: Pace,
  incomplete: "INVALID_JSON" | "INVALID_XML" | "VALIDATION_ERROR",
): AsyncGenerator<Uint8Array> {
  expectedLength(request.headers, limit);
  if (!request.body) return;

  const reader = request.body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const checkReady = () => {
    if (!isReady()) throw unavailable("The service is stopping");
  };
  const watch = totalMs === Infinity
    ? setInterval(() => isReady() || cancel(), WATCH_MS)
    : undefined;
  const deadline = performance.now() + totalMs;
  let allowance = allowanceMs;
  let size = 0;
  try {
    for (let chunks = 1;; chunks++) {
      const asked = performance.now();
      const stalls = asked + allowance;
      const { done, value } = await withDeadline(
        Math.min(deadline, stalls),
        reader.read(),
        () =>
          new ApiError(
            "REQUEST_TIMEOUT",
            stalls < deadline
              ? `The body stalled: it must arrive at ${bytesPerMs * 1000} bytes a second or faster`
              : `The body did not arrive within ${totalMs / 1000} seconds`,
          ),
      );
      if (done) break;
      size += value.length;
      if (size > limit) throw bodyTooLarge(limit);
      allowance = Math.min(
        allowanceMs,
        allowance - (performance.now() - asked) + value.length / bytesPerMs,
      );
      yield value;
      if (chunks % CHUNKS_AT_ONCE === 0) await pause(1);
    }
    // A stop ends the body early.
    if (watch) checkReady();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops.
    checkReady();
    throw new ApiError(incomplete, "The body is incomplete", { cause: error });
  } finally {
    clearInterval(watch);
    cancel();
  }
}
