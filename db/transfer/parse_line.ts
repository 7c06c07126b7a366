import { Buffer } from "node:buffer";
import { isObject } from "../../schema/objects.ts";
import { type Carried, CATALOGUE } from "./kinds.ts";

/** A line that the import does not take. The message says why. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** A line with a record, as it stands in the file: numbers stay exact where only PostgreSQL reads them. */
export interface RecordLine {
  number: number;
  kind: string;
  id: string;
  text: string;
}

const NEWLINE = 10;

/** Larger than any record: a file without line breaks must not fill the memory. */
const MOST_BYTES = 256 * 1024 * 1024;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** In a column, as in bodies. The embedded PostgreSQL does not get to the end of very many. */
const MOST_LEVELS = 32;

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** Splits a stream into lines, each with its line break. Throws where one is larger than any record. */
export async function* linesIn(
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
    if (length > MOST_BYTES) {
      throw new Error(`Line ${number} is too long to be a record`);
    }
  }
  if (length > 0) yield Buffer.concat(parts);
}

/**
 * Reads a line: a record, the organization's name and, if an export has written
 * the file, how many records follow, or nothing where it is empty. Throws `Refusal`, and an error that ends the import where a later release has
 * made the file.
 */
export function parseLine(
  bytes: Uint8Array,
  kinds: ReadonlyMap<string, Carried>,
): Omit<RecordLine, "number"> | { name: string; records: number } | undefined {
  const text = textOf(bytes);
  if (text === "") return;
  const { kind, ...record } = objectIn(text);
  if (kind === CATALOGUE.kind) {
    return { name: nameIn(record), records: Number(record.records ?? 0) };
  }
  if (typeof kind !== "string") throw new Refusal("kind must be a string");
  const carried = kinds.get(kind);
  if (!carried) throw new Refusal(`There is no kind "${kind}"`);
  const { id } = record;
  if (typeof id !== "string" || !UUID.test(id)) {
    throw new Refusal("id must be a UUID");
  }
  checkFields(record, carried);
  return { kind, id: id.toLowerCase(), text };
}

function checkFields(record: object, { fields, rows }: Carried, at = ""): void {
  for (const [name, content] of Object.entries(record)) {
    const path = at + name;
    if (!fields.has(name)) throw new Refusal(`There is no field "${path}"`);
    const row = rows.find(({ table }) => table === name);
    if (!row) {
      if (!hasLevels(content, MOST_LEVELS)) continue;
      throw new Refusal(`"${path}" has more than ${MOST_LEVELS} levels`);
    }
    if (!Array.isArray(content)) {
      throw new Refusal(`"${path}" must be an array`);
    }
    content.forEach((entry, i) => {
      if (isObject(entry)) return checkFields(entry, row, `${path}/${i}/`);
      throw new Refusal(`"${path}/${i}" must be an object`);
    });
  }
}

/** Whether arrays and objects are nested deeper than this many levels. */
function hasLevels(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 ||
    Object.values(value).some((inner) => hasLevels(inner, levels - 1));
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes).trim();
  } catch {
    throw new Refusal("The line is not UTF-8");
  }
}

function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal("The line is not JSON");
  }
  if (!isObject(value)) throw new Refusal("The line is not a JSON object");
  return value;
}

function nameIn({ version, organization }: Record<string, unknown>): string {
  if (version !== CATALOGUE.version) {
    throw new Error(
      `This release reads version ${CATALOGUE.version} of the format, and the file has ${
        JSON.stringify(version)
      }`,
    );
  }
  const name = isObject(organization) ? organization.name : undefined;
  if (typeof name === "string") return name;
  throw new Refusal("organization.name must be a string");
}
