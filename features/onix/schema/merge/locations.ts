import type { Entry } from "../../../../schema/bodies.ts";
import { elementOf } from "../../../../schema/fields.ts";
import { canonical } from "../../../../schema/objects.ts";
import type { Element } from "../xml/element.ts";
import type { LocationOfConflict } from "./conflicts.ts";
import { differingFields, fieldCodec } from "../codecs/fields.ts";
import { containerOf, type MappedField } from "../mapping/mapped.ts";
import { MAPPING } from "../mapping/mapping.ts";
import type { FieldsOfObject } from "./merged_arrays.ts";
import { missingAt, segmentsOf } from "../codecs/path.ts";
import type { Reading } from "../mapping/reading.ts";

/* Finds the element of the incoming record that a conflict is about, for its line and path in the report. */

/** Finds the element with a field's incoming value, or with the first new entry of an array. */
export function locationOfChange(
  name: string,
  base: unknown,
  incoming: unknown,
  { record, reader }: Reading,
): LocationOfConflict {
  const field = MAPPING[name]!;
  const parent = parentOf(record, field);
  if (parent.missing) return parent;
  const { element: container } = parent;
  const index = Array.isArray(incoming) ? indexOfNew(incoming, base, field) : 0;
  // No entry is new, so one was removed.
  if (index < 0) return { element: container, missing: segmentsOf(field.path)[0]!.name };
  const entry: unknown = Array.isArray(incoming) ? incoming[index] : undefined;
  const found = entry instanceof Object ? reader.elementOf(entry) : field.find?.(container, index);
  return found ? { element: found } : missingAt(container, field.path);
}

/** Returns the index of the first entry that the base lacks, or -1. */
function indexOfNew(
  incoming: readonly unknown[],
  base: unknown,
  { project }: MappedField,
): number {
  const formOf = (entry: unknown) => canonical(project([entry]));
  const known = new Set(Array.isArray(base) ? base.map(formOf) : []);
  return incoming.findIndex((entry) => !known.has(formOf(entry)));
}

/** Finds the composite that contains a field, or the one that is missing. */
export function parentOf(record: Element, { block }: MappedField): LocationOfConflict {
  const container = containerOf(record, block);
  return container ? { element: container } : { element: record, missing: block! };
}

/** Finds the element with a field's incoming value; in a group, that of the first field that differs. */
export function locationOfDifference(
  element: Element,
  { composite, fields }: Pick<FieldsOfObject, "composite" | "fields">,
  name: string,
  incoming: Entry,
  local: Entry,
): LocationOfConflict {
  const field = fields[name]!;
  const found = fieldCodec(name, field, composite)!.find?.(element);
  if (!found) {
    return element.children.length > 0 ? missingAt(element, elementOf(name, field)!) : { element };
  }
  if (field.kind !== "group") return { element: found };
  const group = { composite: found.name, fields: field.fields };
  const [incomingGroup, localGroup] = [incoming, local].map((each) => (each[name] ?? {}) as Entry);
  const [differing] = differingFields(group.fields, group.composite, incomingGroup!, localGroup!);
  return differing
    ? locationOfDifference(found, group, differing[0], incomingGroup!, localGroup!)
    : { element: found };
}
