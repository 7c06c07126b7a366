import * as v from "valibot";
import { before } from "../db/connections/deadline.ts";
import {
  ApiError,
  bodyDetails,
  invalid,
  unavailable,
} from "../schema/errors.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";
import type { Share } from "./memory_budget.ts";

/** `application/json` in any case, with no charset but UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/**
 * Reads the text of a JSON body into its share of memory. Throws `UNSUPPORTED_MEDIA_TYPE`,
 * `PAYLOAD_TOO_LARGE` as soon as the limit is passed, `SERVICE_UNAVAILABLE`
 * where there is no room for it, `REQUEST_TIMEOUT`, or `INVALID_JSON` for what
 * is not UTF-8.
 */
export async function readText(
  context: Context,
  share: Share,
): Promise<string> {
  checkMediaType(context.request.headers);
  const bytes = await readBytes(context, share);
  try {
    // A byte order mark stays, and is no JSON (RFC 8259, 8.1).
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes,
    );
  } catch (cause) {
    throw invalidJson("The body is not valid UTF-8", cause);
  }
}

/**
 * The text as `schema` describes it. Throws `INVALID_JSON`, or
 * `VALIDATION_ERROR` with all its faults.
 */
export function validBody<S extends v.GenericSchema>(
  text: string,
  schema: S,
): v.InferOutput<S> {
  const result = v.safeParse(schema, parseJson(text));
  if (result.success) return result.output;
  throw invalid("The body", bodyDetails(result.issues));
}

function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type")?.trim() ?? "";
  const encoding = headers.get("content-encoding")?.trim() ?? "identity";
  if (!JSON_MEDIA_TYPE.test(type)) {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Content-Type must be application/json, in UTF-8",
    );
  }
  if (encoding.toLowerCase() !== "identity") {
    throw new ApiError(
      "UNSUPPORTED_MEDIA_TYPE",
      "Content-Encoding is not supported: send the body as it is",
    );
  }
}

async function readBytes(
  { request, services }: Context,
  share: Share,
): Promise<Uint8Array> {
  const { maxBodyBytes: limit, bodyArrivalMs, isReady } = services;
  // Only a hint, but enough to refuse before anything arrives.
  if (Number(request.headers.get("content-length")) > limit) {
    throw tooLarge(limit);
  }
  if (!request.body) return new Uint8Array();

  const reader = request.body.getReader();
  const deadline = performance.now() + bodyArrivalMs;
  const tooLate = () =>
    new ApiError(
      "REQUEST_TIMEOUT",
      `The body did not arrive within ${bodyArrivalMs / 1000} seconds`,
    );
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    while (true) {
      const { done, value } = await before(deadline, reader.read(), tooLate);
      if (done) return joined(chunks, size);
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      share.take(value.length);
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof ApiError) throw error;
    // `deno serve` cuts bodies off when it stops: that is no fault of the client's.
    if (!isReady()) throw unavailable("The service is being stopped");
    throw invalidJson("The body broke off before its end", error);
  }
}

function joined(chunks: Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function tooLarge(limit: number): ApiError {
  return new ApiError(
    "PAYLOAD_TOO_LARGE",
    `The body is larger than ${limit} bytes`,
  );
}
