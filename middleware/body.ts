import * as v from "valibot";
import type { Caller } from "../db/connections/queue.ts";
import { refusedBody } from "../schema/accepted.ts";
import { ApiError } from "../schema/errors.ts";
import { gunzip } from "../schema/gunzip.ts";
import { unsupportedWorkbook } from "../schema/sheets/read.ts";
import { ignoredIn } from "../schema/ignored.ts";
import { expectedLength, limited, readChunks } from "./chunks.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";

/*
 * The body of a request: JSON as a whole, XML as it arrives, and a sheet as it arrives, but kept.
 * `chunks.ts` says how fast it must arrive.
 */

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

/**
 * Opens an XML body, which is read as it arrives. Throws `UNSUPPORTED_MEDIA_TYPE`, and while it
 * is read the errors of `readChunks` and `gunzip`.
 */
export function openXml(context: Context): OpenText {
  const media = { known: XML_MEDIA_TYPE, name: "application/xml or text/xml" };
  return openText(context, media, "INVALID_XML");
}

/** The size of the blocks in which a sheet is kept. */
const BLOCK_BYTES = 65_536;

/**
 * Reads the body of a sheet, which is checked as a whole before anything is written. Throws
 * `UNSUPPORTED_MEDIA_TYPE` and the errors of `readChunks`.
 */
export async function readSheet(
  context: Context,
): Promise<{ charset: string | undefined; chunks: Uint8Array[] }> {
  const { headers } = context.request;
  if (/spreadsheet|ms-excel/i.test(headers.get("content-type") ?? "")) {
    throw unsupportedWorkbook();
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

/** A text that is read as it arrives. */
interface OpenText {
  /** The charset of its media type. */
  charset: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
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
