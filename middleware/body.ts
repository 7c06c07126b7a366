import * as v from "valibot";
import type { Caller } from "../db/connections/queue.ts";
import { refusedBody } from "../schema/accepted.ts";
import { ApiError, withHint } from "../schema/errors.ts";
import { gunzip } from "../schema/gunzip.ts";
import { ignoredIn } from "../schema/ignored.ts";
import { inTurns } from "../schema/turns.ts";
import { validateEntries } from "../schema/validate_in_turns.ts";
import { expectedLength, limited, readChunks } from "./chunks.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";

/*
 * Reads the body of a request: JSON at once (`readJson`), other text as it arrives (`openText`).
 * `chunks.ts` enforces how fast it must arrive.
 */

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

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

/** Validates the body of an operation. */
export type BodySchema = v.GenericSchema;

/**
 * Whether the headers announce a body. Over HTTP, a request without one has no length, or 0 (RFC
 * 9112, 6.3), but its `body` is not null.
 */
export function announcesBody({ body, headers }: Request): boolean {
  return body !== null && headers.get("content-length") !== "0" &&
    ["content-length", "content-type", "transfer-encoding"].some((name) => headers.has(name));
}

/** A longer body, in bytes, is validated in turns. A shorter one takes some milliseconds. */
export const LONG_BODY = 65_536;

/** The part of its time by which a body may be late: 3 of 10 seconds. */
const ALLOWANCE = 0.3;

/**
 * Reads a JSON body of at most this length, validates it, and records the ignored fields
 * for the response. `whenEmpty` is the text for which an empty body stands, if that is allowed.
 * Throws `INVALID_JSON`, `VALIDATION_ERROR` and the errors of `readChunks`.
 */
export async function readJson(
  context: Context & { caller: Caller },
  schema: BodySchema,
  length: number,
  whenEmpty: string,
): Promise<{ text: string; body: unknown }> {
  const { bodyTimeoutMs } = context.services;
  const chunks = readChunks(context, length, {
    bytesPerMs: 1,
    allowanceMs: bodyTimeoutMs * ALLOWANCE,
    totalMs: bodyTimeoutMs,
  }, "INVALID_JSON");
  // A list of a million chunks would take far more memory than their bytes.
  const bytes = new Uint8Array(length);
  let size = 0;
  for await (const chunk of chunks) {
    bytes.set(chunk, size);
    size += chunk.length;
  }
  const text = decodeUtf8(bytes.subarray(0, size)) || whenEmpty;
  const { parsing } = context.shares;
  if (size <= LONG_BODY) {
    return {
      text,
      body: await parsing.run(context, () => validate(context, schema, parseJson(text))),
    };
  }
  const pace = parsing.pacer(context.caller);
  await pace();
  const input = parseJson(text);
  await pace();
  await inTurns(validateEntries(schema, input), pace);
  await pace();
  const body = validate(context, schema, input);
  await pace();
  return { text, body };
}

function validate(
  context: Context,
  schema: BodySchema,
  input: unknown,
): unknown {
  const result = v.safeParse(schema, input);
  if (!result.success) throw refusedBody(schema, input, result.issues);
  const ignored = ignoredIn(input, result.output);
  if (ignored.length > 0) context.ignored = ignored;
  return result.output;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // Drops a byte order mark, as a parser may (RFC 8259, 8.1).
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidJson("The body is not valid UTF-8", cause);
  }
}

/** A text that is read as it arrives. */
export interface OpenText {
  /** The charset of its media type. */
  charset: string | undefined;
  chunks: AsyncIterable<Uint8Array>;
}

/**
 * Opens a text of a known media type. It must arrive at 16 KB a second or faster, not counting the
 * time that its reader takes, and may be compressed. Throws `UNSUPPORTED_MEDIA_TYPE`, and while it
 * is read the errors of `readChunks` and `gunzip`.
 */
export function openText(
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
      withHint(
        "This Content-Encoding is not supported",
        `send the body ${encoding === "gzip" ? "with gzip, or " : ""}uncompressed`,
      ),
      { headers: { "accept-encoding": encoding } }, // RFC 9110, 12.5.3
    );
  }
  return { type, isGzip };
}
