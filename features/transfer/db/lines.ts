import { Buffer } from "node:buffer";
import type { Entry, RestoredLine } from "../../../schema/bodies.ts";
import { ApiError, type ErrorDetail } from "../../../schema/errors.ts";
import {
  CATALOGUE,
  Header,
  Identified,
  LINE_KINDS,
  type LineTable,
  validLine,
} from "../../../schema/lines.ts";
import { parseExact } from "../../../schema/numbers.ts";
import { shapeFault } from "../../../schema/json_shape.ts";
import { isObject } from "../../../schema/objects.ts";
import { fromStored } from "../../onix/schema/xml/read.ts";
import { MAX_LINE_BYTES } from "../../../db/sizes.ts";

/* Reads lines of an NDJSON file: splits the stream, parses a line, validates its values. */

/** An invalid line. The message is the reason. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/** A line of a record. `readRecordLine` reads its values, unless the stored record is equal. */
export interface RecordLine {
  number: number;
  kind: string;
  table: LineTable;
  id: string;
  /** The line as in the file. */
  text: string;
  /** Its values as in the file. */
  given: Record<string, unknown>;
}

const NEWLINE = 10;

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
 * Returns the line of a record, the header's name and number of records (0 if it has none), or
 * undefined for an empty line. Throws `LineError`, or another error for an invalid header or
 * one of another version, which ends the import.
 */
export function parseLine(
  bytes: Uint8Array,
):
  | Omit<RecordLine, "number">
  | { organization: Entry; records: number }
  | undefined {
  const text = decodeLine(bytes);
  if (text === "") return;
  const { kind, ...given } = objectIn(text);
  if (kind === CATALOGUE.kind) {
    if (given.version !== CATALOGUE.version) {
      throw new Error(
        `The file has version ${given.version} of the format, and this release reads version ${CATALOGUE.version} alone: export the organization again with this release`,
      );
    }
    try {
      return valid(Header, given);
    } catch (error) {
      throw new Error(`The header is invalid: ${(error as Error).message}`);
    }
  }
  if (typeof kind !== "string") throw new LineError("kind must be a string");
  const known = LINE_KINDS.get(kind);
  if (!known) throw new LineError(`There is no kind "${kind}"`);
  const { id } = valid(Identified, given);
  return { kind, table: known.table, id, text, given };
}

/**
 * Returns the values of a line, validated by the schema of the API, in their stored form. Throws
 * `LineError` for invalid values and for an ONIX record that cannot be read.
 */
export function readRecordLine(
  { kind, given }: RecordLine,
): RestoredLine | ApiError {
  const record = validLine(LINE_KINDS.get(kind)!.schema, given);
  if (!(record instanceof ApiError)) checkOnixRecords(record.stored);
  return record;
}

/** The line by its schema. Throws `LineError` with every error. */
function valid<T>(schema: Parameters<typeof validLine<T>>[0], given: unknown) {
  const line = validLine(schema, given);
  if (line instanceof ApiError) throw new LineError(reasonOf(line.details));
  return line;
}

/** Checks that the service can read the ONIX records of a product. */
function checkOnixRecords(stored: RestoredLine["stored"]): void {
  for (const table of ["onix_records", "onix_senders"]) {
    const rows = (stored[table] ?? []) as { record?: string | null }[];
    for (const [i, { record }] of rows.entries()) {
      try {
        if (record) fromStored(record);
      } catch {
        throw new LineError(
          `/stored/${table}/${i}/record: Expected a record as exports write it`,
        );
      }
    }
  }
}

/** The errors of a line in the words of the API, each with its JSON Pointer. */
export function reasonOf(details: readonly ErrorDetail[]): string {
  const reasons = details.slice(0, MAX_REASONS).map((detail) =>
    "pointer" in detail && detail.pointer ? `${detail.pointer}: ${detail.message}` : detail.message
  );
  const more = details.length - reasons.length;
  return more > 0 ? `${reasons.join("; ")}; and ${more} more` : reasons.join("; ");
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
  const fault = shapeFault(text);
  if (fault) throw new LineError(`The line ${fault}`);
  if (!isObject(value)) throw new LineError("The line is not a JSON object");
  return value;
}
