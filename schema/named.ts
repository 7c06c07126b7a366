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

/** The fields that can stand for a reference, by the field with its id. Codes come first: they count. */
export type Names = ReadonlyMap<
  string,
  readonly { field: string; column: "code" | "name" }[]
>;

/** The same body, in which names and codes have taken the places of absent ids. */
export function withNames(
  body: Record<string, unknown>,
  names: Names,
): Record<string, unknown> {
  let named = body;
  for (const [reference, fields] of names) {
    const given = givenName(body, reference, fields);
    if (!given) continue;
    const { field, column } = given;
    const value = new Named(field, column, String(body[field]));
    if (named === body) named = { ...body };
    named[reference] = value;
  }
  return named;
}

/** The name or code that stands for an absent id. One that is null does not. */
function givenName(
  body: Record<string, unknown>,
  reference: string,
  fields: readonly { field: string; column: "code" | "name" }[],
) {
  if (reference in body) return;
  for (const given of fields) {
    if (body[given.field] !== undefined && body[given.field] !== null) {
      return given;
    }
  }
}

/** The errors of names and codes that stand for ids, by field. */
export function wrongNames(
  body: Record<string, unknown>,
  names: Names,
): { field: string; message: string }[] {
  const wrong: { field: string; message: string }[] = [];
  for (const [reference, fields] of names) {
    const field = givenName(body, reference, fields)?.field;
    const [issue] = field && v.safeParse(Name, body[field]).issues || [];
    if (issue) wrong.push({ field: field!, message: issue.message });
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
