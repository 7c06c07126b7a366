import { Buffer } from "node:buffer";
import { isObject } from "../../schema/objects.ts";
import { isUuid } from "../../schema/values.ts";
import { CATALOGUE, type TableFormat } from "./kinds.ts";

/** An invalid line. The message is the reason. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/**
 * The accepted forms of values, by the type of their column. PostgreSQL would round
 * other amounts, and the API could not return other days and times.
 */
const FORMS: Readonly<Record<string, { form: RegExp; expected: string }>> = {
  numeric: {
    form: /^-?\d+(?:\.\d{1,4}0*)?$/,
    expected: "a number with at most 4 digits after the point",
  },
  date: { form: /^\d{4}-\d\d-\d\d$/, expected: "a day such as 2027-01-31" },
  "timestamp with time zone": {
    form: /^\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-][\d:]+)$/,
    expected: "a time such as 2027-01-31T12:00:00Z",
  },
};

/** A record. PostgreSQL parses its text, so numbers stay exact. */
export interface RecordLine {
  number: number;
  kind: string;
  id: string;
  /** The line as in the file. */
  text: string;
}

const NEWLINE = 10;

/** More than any record has. Bounds the memory for a file without line breaks. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The limit for the JSON of a column, as for bodies. The embedded PostgreSQL cannot
 * read very deep JSON.
 */
const MAX_DEPTH = 32;

/** Numbers of up to 15 digits are exact in JavaScript. */
const LONG_NUMBER = /[\d.]{16}/;

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

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
    if (length > MAX_BYTES) {
      throw new Error(`Line ${number} is too long to be a record`);
    }
  }
  if (length > 0) yield Buffer.concat(parts);
}

/**
 * Parses a line. Returns a record, the header's name and number of records (0 if it
 * has none), or undefined for an empty line. Throws `LineError`, or another error
 * for a file of an unsupported version, which ends the import.
 */
export function parseLine(
  bytes: Uint8Array,
  formats: ReadonlyMap<string, TableFormat>,
): Omit<RecordLine, "number"> | { name: string; records: number } | undefined {
  const text = textOf(bytes);
  if (text === "") return;
  const { kind, ...record } = objectIn(text);
  if (kind === CATALOGUE.kind) {
    return { name: nameIn(record), records: recordsIn(record) };
  }
  if (typeof kind !== "string") throw new LineError("kind must be a string");
  const format = formats.get(kind);
  if (!format) throw new LineError(`There is no kind "${kind}"`);
  const { id } = record;
  if (!isUuid(id)) {
    throw new LineError("id must be a UUID");
  }
  checkFields(record, format);
  return { kind, id: id.toLowerCase(), text };
}

function checkFields(
  record: object,
  { columns, fields, rows }: TableFormat,
  at = "",
): void {
  for (const [name, content] of Object.entries(record)) {
    const path = at + name;
    if (!fields.has(name)) throw new LineError(`There is no field "${path}"`);
    const row = rows.find(({ table }) => table === name);
    if (!row) {
      const { type } = columns.find((column) => column.name === name)!;
      checkValue(content, type, path);
      continue;
    }
    if (!Array.isArray(content)) {
      throw new LineError(`"${path}" must be an array`);
    }
    content.forEach((entry, i) => {
      if (isObject(entry)) return checkFields(entry, row, `${path}/${i}/`);
      throw new LineError(`"${path}/${i}" must be an object`);
    });
  }
}

function checkValue(content: unknown, type: string, path: string): void {
  const { form, expected } = FORMS[type] ?? {};
  if (form && content !== null && !form.test(String(content))) {
    throw new LineError(`"${path}" must be ${expected}`);
  }
  if (isDeeperThan(MAX_DEPTH, content)) {
    throw new LineError(`"${path}" has more than ${MAX_DEPTH} levels`);
  }
}

/** Whether arrays and objects are nested more than this many levels deep. */
function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 ||
    Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes).trim();
  } catch {
    throw new LineError("The line is not UTF-8");
  }
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text, LONG_NUMBER.test(text) ? exact : undefined);
  } catch {
    throw new LineError("The line is not JSON");
  }
  if (!isObject(value)) throw new LineError("The line is not a JSON object");
  return value;
}

/** Keeps the text of a number that JavaScript may round. */
function exact(
  _name: string,
  value: unknown,
  context?: { source?: string },
): unknown {
  const source = context?.source ?? "";
  return typeof value === "number" && source.length > 15 ? source : value;
}

function recordsIn({ records = 0 }: Record<string, unknown>): number {
  if (Number.isInteger(records)) return records as number;
  throw new LineError("records must be a whole number");
}

function nameIn({ version, organization }: Record<string, unknown>): string {
  if (version !== CATALOGUE.version) {
    const found = JSON.stringify(version);
    throw new Error(
      `This release reads version ${CATALOGUE.version} of the format, and the file has ${found}`,
    );
  }
  const name = isObject(organization) ? organization.name : undefined;
  if (typeof name === "string") return name;
  throw new LineError("organization.name must be a string");
}
