import * as v from "valibot";
import { text } from "./values.ts";

/*
 * Names and codes in bodies that stand for the id of a record: `publisher_name` where a body
 * has no `publisher_id`.
 */

/** A name or code in the place of an id. */
export class Named {
  /** The field of the body. */
  readonly field: string;
  /** What it is of the record. */
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
  /** Whether an entry must have the id, or what stands for it. */
  isRequired: boolean;
  /** The fields that can stand for it. Codes come first: they count. */
  given: readonly { field: string; column: "code" | "name" }[];
}

/**
 * The same body, in which names and codes have taken the places of absent ids. One that is
 * null clears the reference.
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

/** The field of a body that says an id: its own, or that of a name or code in its place. */
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
