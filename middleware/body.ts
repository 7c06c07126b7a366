import * as v from "valibot";
import type { Caller } from "../db/connections/queue.ts";
import { ApiError, invalidBody } from "../schema/errors.ts";
import { gunzip } from "../schema/gunzip.ts";
import { ignoredFields } from "../schema/objects.ts";
import {
  BUFFER_BYTES,
  expectedLength,
  limited,
  readChunks,
} from "./body_chunks.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";
import type { Reservation } from "./memory.ts";

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/** A shorter body reserves memory for this size, because of its buffer. */
const LEAST_BYTES = BUFFER_BYTES / 8;

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
