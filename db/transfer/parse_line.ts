import type { Carried } from "./columns.ts";
import { CATALOGUE } from "./kinds.ts";

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

/** The first line of a file. */
export interface CatalogueLine {
  kind: typeof CATALOGUE.kind;
  name: string;
  /** How many records follow, if an export has written the file. */
  records: number;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** In a column, as in bodies. The embedded PostgreSQL does not get to the end of very many. */
const MOST_LEVELS = 32;

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** Makes the function that reads a line of the kinds. It throws `Refusal`; an empty line gives nothing. */
export function lineParser(kinds: ReadonlyMap<string, Carried>) {
  const fields = new Map(
    [...kinds].map(([kind, carried]) => [kind, fieldsOf(carried, ["kind"])]),
  );

  return (
    number: number,
    bytes: Uint8Array,
  ): RecordLine | CatalogueLine | undefined => {
    const text = textOf(bytes);
    if (text === "") return;
    const value = jsonOf(text);
    const { kind } = value;
    if (kind === CATALOGUE.kind) {
      return { kind, name: nameIn(value), records: Number(value.records ?? 0) };
    }
    if (typeof kind !== "string") throw new Refusal("kind must be a string");
    const known = fields.get(kind);
    if (!known) throw new Refusal(`There is no kind "${kind}"`);
    const { id } = value;
    if (typeof id !== "string" || !UUID.test(id)) {
      throw new Refusal("id must be a UUID");
    }
    checkFields(value, known, "");
    return { number, kind, id: id.toLowerCase(), text };
  };
}

/** The fields that an object may have; those with objects of their own have the fields of these. */
type Fields = Map<string, Fields | undefined>;

function fieldsOf(
  { columns, rows }: Carried,
  others: readonly string[] = [],
): Fields {
  return new Map<string, Fields | undefined>([
    ...others.map((name) => [name, undefined] as const),
    ...columns.map(({ name }) => [name, undefined] as const),
    ...rows.map((row) => [row.table, fieldsOf(row)] as const),
  ]);
}

function checkFields(value: object, fields: Fields, at: string): void {
  for (const [name, content] of Object.entries(value)) {
    const below = fields.get(name);
    if (!below) {
      if (fields.has(name)) {
        if (!hasLevels(content, MOST_LEVELS)) continue;
        throw new Refusal(`"${at}${name}" has more than ${MOST_LEVELS} levels`);
      }
      throw new Refusal(`There is no field "${at}${name}"`);
    }
    if (!Array.isArray(content)) {
      throw new Refusal(`"${at}${name}" must be an array`);
    }
    content.forEach((entry, i) => {
      const path = `${at}${name}/${i}`;
      if (!isObject(entry)) throw new Refusal(`"${path}" must be an object`);
      checkFields(entry, below, `${path}/`);
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

function jsonOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal("The line is not JSON");
  }
  if (!isObject(value)) throw new Refusal("The line is not a JSON object");
  return value;
}

/** Throws an error that ends the import where a later release has made the file. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
