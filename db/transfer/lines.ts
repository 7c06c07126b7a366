import { Buffer } from "node:buffer";
import { ApiError, type ErrorDetail } from "../../schema/errors.ts";
import { LINE_KINDS, validLine } from "../../schema/lines.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isObject } from "../../schema/objects.ts";
import { fromStored } from "../../schema/onix/xml/write.ts";
import { CATALOGUE } from "./format.ts";

/** An invalid line. The message is the reason. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/** A valid record. */
export interface RecordLine {
  number: number;
  kind: string;
  id: string;
  /** The line as in the file. */
  text: string;
  /** The values of the line in the form in which they are stored. */
  record: object;
}

const NEWLINE = 10;

/** More than any record has. Bounds the memory for a file without line breaks. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

const STRICT_UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** Splits a stream into lines with their line breaks. Throws if a line is too long. */
export async function* splitLines(
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let at; (at = chunk.indexOf(NEWLINE, start)) >= 0; start = at + 1) {
      yield Buffer.concat([...parts, chunk.subarray(start, at + 1)]);
      parts = [];
      length = 0;
      number++;
    }
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE_BYTES) {
      throw new Error(`Line ${number} is too long to be a record`);
    }
  }
  if (length > 0) yield Buffer.concat(parts);
}

/**
 * Parses a line by the schemas of the API. Returns a record, the header's name and number
 * of records (0 if it has none), or undefined for an empty line. Throws `LineError`, or
 * another error for a file of an unsupported version, which ends the import.
 */
export function parseLine(
  bytes: Uint8Array,
):
  | Omit<RecordLine, "number">
  | { name: unknown; records: number }
  | undefined {
  const text = decodeLine(bytes);
  if (text === "") return;
  const { kind, ...given } = objectIn(text);
  if (kind === CATALOGUE.kind) {
    return { name: nameIn(given), records: recordsIn(given) };
  }
  if (typeof kind !== "string") throw new LineError("kind must be a string");
  if (!Object.hasOwn(LINE_KINDS, kind)) {
    throw new LineError(`There is no kind "${kind}"`);
  }
  const record = validLine(kind, given);
  if (record instanceof ApiError) throw new LineError(reasonOf(record.details));
  checkOnixRecords(record.onix_records);
  return { kind, id: record.id, text, record };
}

/** Checks that the service can read the ONIX record of a product. */
function checkOnixRecords(records: unknown): void {
  for (const { record } of (records ?? []) as { record: string }[]) {
    try {
      fromStored(record);
    } catch {
      throw new LineError("/onix_records/0/record: Not as exports write it");
    }
  }
}

/** The errors of a line in the words of the API, each with its JSON Pointer. */
export function reasonOf(details: readonly ErrorDetail[]): string {
  const reasons = details.slice(0, MAX_REASONS).map((detail) =>
    "pointer" in detail && detail.pointer
      ? `${detail.pointer}: ${detail.message}`
      : detail.message
  );
  const more = details.length - reasons.length;
  return more > 0
    ? `${reasons.join("; ")}; and ${more} more`
    : reasons.join("; ");
}

const MAX_REASONS = 5;

function decodeLine(bytes: Uint8Array): string {
  try {
    return STRICT_UTF_8.decode(bytes).trim();
  } catch {
    throw new LineError("The line is not UTF-8");
  }
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw new LineError("The line is not JSON");
  }
  if (!isObject(value)) throw new LineError("The line is not a JSON object");
  return value;
}

function recordsIn({ records = 0 }: Record<string, unknown>): number {
  if (Number.isInteger(records)) return records as number;
  throw new LineError("records must be a whole number");
}

function nameIn({ version, organization }: Record<string, unknown>): unknown {
  if (version !== CATALOGUE.version) {
    const found = JSON.stringify(version);
    throw new Error(
      `This release reads version ${CATALOGUE.version} of the format, and the file has ${found}`,
    );
  }
  return isObject(organization) ? organization.name : undefined;
}
