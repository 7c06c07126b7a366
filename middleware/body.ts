import * as v from "valibot";
import { ApiError, bodyDetails, invalid } from "../schema/errors.ts";
import { ignoredFields } from "../schema/ignored_fields.ts";
import { readBytes } from "./body_bytes.ts";
import type { Context } from "./context.ts";
import { invalidJson, parseJson } from "./json.ts";
import type { Reservation } from "./memory_budget.ts";

/** `application/json`, case-insensitive, in UTF-8 (RFC 8259, 8.1; RFC 9110, 8.3.1). */
const JSON_MEDIA_TYPE =
  /^application\/json[ \t]*(?:;[ \t]*(?:(?:charset="?utf-8"?|(?!charset=)[\w-]+=(?:"[^"]*"|[^;"\s]+))[ \t]*)?)*$/i;

/**
 * Reads the text of a JSON body into reserved memory. Throws
 * `UNSUPPORTED_MEDIA_TYPE`, `INVALID_JSON` for bytes that are not UTF-8, and the
 * errors of `readBytes`.
 */
export async function readText(
  context: Context,
  memory: Reservation,
): Promise<string> {
  checkMediaType(context.request.headers);
  const bytes = await readBytes(context, memory);
  try {
    // The parser must see a byte order mark, which is not JSON (RFC 8259, 8.1).
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes,
    );
  } catch (cause) {
    throw invalidJson("The body is not valid UTF-8", cause);
  }
}

/**
 * Parses and validates the text of a body, and records the ignored fields for the
 * response. Throws `INVALID_JSON` or `VALIDATION_ERROR`.
 */
export function validBody<S extends v.GenericSchema>(
  { facts }: Context,
  text: string,
  schema: S,
): v.InferOutput<S> {
  const input = parseJson(text);
  const result = v.safeParse(schema, input);
  if (!result.success) throw invalid("The body", bodyDetails(result.issues));
  const ignored = ignoredFields(input, result.output);
  if (ignored.length > 0) facts.ignored_fields = ignored;
  return result.output;
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
    );
  }
}
