import type { Entry } from "../../bodies.ts";
import { elementOf } from "../../fields.ts";
import { canonical } from "../../objects.ts";
import type { Element } from "../xml/element.ts";
import type { Place } from "./conflicts.ts";
import { differingFields, fieldCodec } from "./fields.ts";
import { containerOf, type MappedField } from "./mapped.ts";
import { MAPPING } from "./mapping.ts";
import type { FieldsOfObject } from "./merged_arrays.ts";
import { missingAt, stepsOf } from "./path.ts";
import type { Reading } from "./reading.ts";

/*
 * Where a record says what has changed: the element that a message names.
 */

/** The element of the record that says the new value of a field, or the first new entry of one. */
export function placeOfChange(
  name: string,
  was: unknown,
  value: unknown,
  now: Reading,
): Place {
  const field = MAPPING[name]!;
  const parent = parentOf(now.record, field);
  if (parent.missing) return parent;
  const { element: container } = parent;
  const index = Array.isArray(value) ? indexOfNew(value, was, field) : 0;
  // Nothing is new: something was removed.
  if (index < 0) return { element: container, missing: stepsOf(field.place)[0]!.name };
  const entry: unknown = Array.isArray(value) ? value[index] : undefined;
  const found = entry instanceof Object
    ? now.reader.elementOf(entry)
    : field.find?.(container, index);
  return found ? { element: found } : missingAt(container, field.place);
}

/** The index of the first entry that none of those before says, or -1. */
function indexOfNew(value: readonly unknown[], was: unknown, { project }: MappedField): number {
  const formOf = (entry: unknown) => canonical(project([entry]));
  const known = new Set(Array.isArray(was) ? was.map(formOf) : []);
  return value.findIndex((one) => !known.has(formOf(one)));
}

/** The composite in which a field stands, or where it is missing. */
export function parentOf(record: Element, { block }: MappedField): Place {
  const container = containerOf(record, block);
  return container ? { element: container } : { element: record, missing: block! };
}

/** The element that says the new value of a field of an object, or of the first that differs of a group. */
export function placeOfDifference(
  at: Element,
  { composite, fields }: Pick<FieldsOfObject, "composite" | "fields">,
  name: string,
  after: Entry,
  here: Entry,
): Place {
  const field = fields[name]!;
  const found = fieldCodec(name, field, composite)!.find?.(at);
  if (!found) {
    return at.children.length > 0 ? missingAt(at, elementOf(name, field)!) : { element: at };
  }
  if (field.kind !== "group") return { element: found };
  const group = { composite: found.name, fields: field.fields };
  const [theirs, ours] = [after, here].map((each) => (each[name] ?? {}) as Entry);
  const [differing] = differingFields(group.fields, group.composite, theirs!, ours!);
  return differing
    ? placeOfDifference(found, group, differing[0], theirs!, ours!)
    : { element: found };
}
