import type { Entry } from "../../bodies.ts";
import { elementOf, type Field } from "../../fields.ts";
import { canonical, isEqual } from "../../objects.ts";
import type { Element } from "../xml/element.ts";
import type { Place } from "./conflicts.ts";
import { codecOf } from "./fields.ts";
import { containerOf, type Mapped } from "./mapped.ts";
import { MAPPING, type Reading } from "./mapping.ts";
import { missingAt, stepsOf } from "./path.ts";
import type { FieldCodec } from "./codec.ts";

/*
 * Where a record says what has changed: the element that a message names.
 */

/** The element of the record that says the new value of a field, or the first new entry of one. */
export function placeOf(
  name: string,
  was: unknown,
  value: unknown,
  now: Reading,
): Place {
  const field = MAPPING[name]!;
  const parent = parentOf(now.record, field);
  if (parent.missing) return parent;
  const { element: container } = parent;
  const known = new Set(Array.isArray(was) ? was.map(formIn) : []);
  const changed = Array.isArray(value) ? value.findIndex((one) => !known.has(formIn(one))) : 0;
  const entry = Array.isArray(value) ? value[changed] : undefined;
  const found = changed < 0
    ? undefined
    : entry instanceof Object
    ? now.reader.elementOf(entry)
    : field.find?.(container, changed);
  if (found) return { element: found };
  return changed < 0
    ? { element: container, missing: stepsOf(field.place)[0]!.name }
    : missingAt(container, field.place);

  function formIn(entry: unknown): string {
    return canonical(field.project([entry]));
  }
}

/** The composite in which a field stands, or where it is missing. */
export function parentOf(record: Element, { block }: Mapped): Place {
  const container = containerOf(record, block);
  return container ? { element: container } : { element: record, missing: block! };
}

/** A field with the way in which it stands in its composite. */
export interface Part {
  name: string;
  field: Field;
  codec: FieldCodec;
}

export function partOf(name: string, field: Field, composite: string): Part {
  return { name, field, codec: codecOf(name, field, composite)! };
}

/** The element that says the new value of a field, or the first that differs of an object. */
export function placeIn(
  at: Element,
  { name, field, codec }: Part,
  after: Entry,
  here: Entry,
): Place {
  const found = codec.find?.(at);
  const place = elementOf(name, field)!;
  if (!found) {
    return at.children.length > 0 ? missingAt(at, place) : { element: at };
  }
  if (field.kind !== "group") return { element: found };
  const [theirs, ours] = [after, here].map((each) => (each[name] ?? {}) as Entry);
  const inner = Object.entries(field.fields)
    .map(([name, inner]) => partOf(name, inner, found.name))
    .find(({ name, codec }) =>
      codec &&
      !isEqual(codec.project(theirs![name]), codec.project(ours![name]))
    );
  return inner ? placeIn(found, inner, theirs!, ours!) : { element: found };
}
