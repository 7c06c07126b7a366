import * as v from "valibot";
import { text } from "./values.ts";

/*
 * Lets names and codes in bodies stand for the ids of records: `publisher_name` in a body without
 * `publisher_id`.
 */

/** Invisible characters: soft hyphens, zero-width and directional signs, byte order marks. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/** Removes invisible characters from a name. */
export function visibleName(name: string): string {
  return name.replace(INVISIBLE, "");
}

/**
 * Returns the form in which names are compared: NFC, without invisible characters, and with each
 * run of white space as one space. The SQL function `compared_name` returns the same.
 */
export function comparedName(name: string): string {
  return visibleName(name).normalize("NFC").replace(/\s+/g, " ").trim();
}

/** A name or code in the place of an id. */
export class Named {
  /** The field of the body. */
  readonly field: string;
  /** The column of the record with this value. */
  readonly column: "code" | "name";
  readonly value: string;

  constructor(field: string, column: "code" | "name", value: string) {
    this.field = field;
    this.column = column;
    this.value = value;
  }
}

/** The names and codes of records, by the field with the id. */
export type Names = ReadonlyMap<string, NamesOf>;

export interface NamesOf {
  /** Whether an entry must have the id, or a name or code in its place. */
  isRequired: boolean;
  /** The fields that can stand for the id. Codes come first: they take precedence. */
  given: readonly { field: string; column: "code" | "name" }[];
}

/**
 * Puts names and codes in the places of absent ids. A name that is null clears the reference. For
 * example, `{publisher_name: "A"}` becomes `{publisher_id: Named}`.
 */
export function withNames(
  body: Record<string, unknown>,
  names: Names,
): Record<string, unknown> {
  let named = body;
  for (const [reference, of] of names) {
    const given = givenName(body, reference, of);
    if (!given) continue;
    const { field, column } = given;
    const isCleared = body[field] === null && !of.isRequired;
    const value = new Named(field, column, String(body[field]));
    if (named === body) named = { ...body };
    named[reference] = isCleared ? null : value;
  }
  return named;
}

/** The name or code that stands for an absent id: the first that is not null, if there is one. */
function givenName(
  body: Record<string, unknown>,
  reference: string,
  { given }: NamesOf,
) {
  if (reference in body) return;
  const sent = given.filter(({ field }) => body[field] !== undefined);
  return sent.find(({ field }) => body[field] !== null) ?? sent[0];
}

/** The errors of names and codes that stand for ids, by field. */
export function wrongNames(
  body: Record<string, unknown>,
  names: Names,
): { field: string; message: string }[] {
  const wrong: { field: string; message: string }[] = [];
  for (const [reference, of] of names) {
    const field = givenName(body, reference, of)?.field;
    if (!field || body[field] === null && !of.isRequired) continue;
    const [issue] = v.safeParse(Name, body[field]).issues ?? [];
    if (issue) wrong.push({ field, message: issue.message });
  }
  return wrong;
}

const Name = text();

/** The field of a body that gave an id: the field of the id, or that of the name or code in its place. */
export function sentField(
  body: Record<string, unknown>,
  reference: string,
): string {
  const id = body[reference];
  return id instanceof Named ? id.field : reference;
}

/** The schema of an id, which a name or a code may stand for. */
export function idOrName<const S extends v.GenericSchema>(id: S): S {
  const run: S["~run"] = (dataset, config) =>
    dataset.value instanceof Named
      ? { typed: true, value: dataset.value as never }
      : id["~run"](dataset, config);
  return { ...id, "~run": run };
}
