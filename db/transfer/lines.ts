import { Buffer } from "node:buffer";
import * as v from "valibot";
import { lineBody, type RestoredLine } from "../../schema/bodies.ts";
import { bodyDetails, type ErrorDetail } from "../../schema/errors.ts";
import { parseExact } from "../../schema/numbers.ts";
import { isObject, list, object } from "../../schema/objects.ts";
import { tablesOf } from "../../schema/fields.ts";
import { ROWS } from "../../schema/product.ts";
import { nounOf, OWN_TABLES, type OwnTable } from "../../schema/records.ts";
import { heading, Uuid } from "../../schema/values.ts";
import { fromStored } from "../../schema/onix/xml/write.ts";

/*
 * The file format: one JSON object per line. The first line is the header, of kind
 * `catalogue`. The others are records and products as `GET` shows them, with what it does
 * not show in `stored`. A line may only refer to records on earlier lines.
 */

/** The kind and the version in the header. */
export const CATALOGUE = { kind: "catalogue", version: 2 } as const;

export type LineTable = OwnTable | "products";

/** What ONIX stores beside products: the tables, which are arrays in `stored`. */
export const ONIX_TABLES = ["onix_records", "onix_aliases", "onix_senders"];

/** The tables with the rows of a record. */
export function tablesOfLine(table: LineTable): string[] {
  switch (table) {
    case "products":
      return [
        table,
        ...ROWS.flatMap(([, array]) => tablesOf(array)),
        ...ONIX_TABLES,
      ];
    case "publishing_programs":
      return [table, "publishing_program_products"];
    default:
      return [table];
  }
}

/** A row of an ONIX table. The service must be able to read its record. */
const OnixRow = v.pipe(
  v.custom<object>(isObject, "invalid_type: Expected an object"),
  v.looseObject({
    record: v.optional(v.pipe(
      v.string("invalid_type: Expected a string"),
      v.check(isReadable, "invalid: Expected a record as exports write it"),
    )),
  }),
);

function isReadable(record: string): boolean {
  try {
    fromStored(record);
    return true;
  } catch {
    return false;
  }
}

/** What `GET` does not show, by table. */
const STORED: Partial<Record<LineTable, v.ObjectEntries>> = {
  products: Object.fromEntries(
    ONIX_TABLES.map((table) => [table, v.optional(list(OnixRow))]),
  ),
  publishing_programs: { products: v.optional(list(Uuid)) },
};

/** A kind of line. */
interface Kind {
  table: LineTable;
  schema: v.GenericSchema<unknown, RestoredLine>;
}

/** The kinds of lines. Each one follows the kinds that it refers to. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    ...OWN_TABLES.filter((table) => table !== "publishing_programs"),
    "products" as const,
    "publishing_programs" as const,
  ].map((table) => [
    table === "products" ? "product" : nounOf(table).replace(" ", "_"),
    { table, schema: lineBody(table, STORED[table] ?? {}) },
  ]),
);

/** An invalid line. The message is the reason. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/** A valid line of a record. */
export interface RecordLine {
  number: number;
  kind: string;
  table: LineTable;
  /** The line as in the file. */
  text: string;
  /** Its values in the form in which they are stored. */
  record: RestoredLine;
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

const Header = object({
  organization: object({ name: heading() }),
  records: v.optional(
    v.pipe(
      v.number("invalid_type: Expected a whole number"),
      v.integer("invalid_type: Expected a whole number"),
    ),
    0,
  ),
});

/**
 * Reads a line by the schemas of the API. Returns a record, the header's name and number of
 * records (0 if it has none), or undefined for an empty line. Throws `LineError`, or another
 * error for an invalid header or one of another version, which ends the import.
 */
export function parseLine(
  bytes: Uint8Array,
):
  | Omit<RecordLine, "number">
  | { name: string; records: number }
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
      const { organization: { name }, records } = valid(Header, given);
      return { name, records };
    } catch (error) {
      throw new Error(`The header is invalid: ${(error as Error).message}`);
    }
  }
  if (typeof kind !== "string") throw new LineError("kind must be a string");
  const known = KINDS.get(kind);
  if (!known) throw new LineError(`There is no kind "${kind}"`);
  const { table, schema } = known;
  return { kind, table, text, record: valid(schema, given) };
}

/** The line by its schema. Throws `LineError` with every error. */
function valid<T>(schema: v.GenericSchema<unknown, T>, given: unknown): T {
  const read = v.safeParse(schema, given);
  if (read.success) return read.output;
  throw new LineError(reasonOf(bodyDetails(read.issues)));
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
