import * as v from "valibot";
import {
  elementOf,
  type Field,
  type Fields,
  keysOf,
  type Rows,
  type Values,
} from "../../../../schema/fields.ts";
import { isEqual, isObject, objectsIn, remembered } from "../../../../schema/objects.ts";
import { dataElement } from "../rules/facts.ts";
import { child, type Element, element, replaceChildren, valueOf } from "../xml/element.ts";
import { check, type Location } from "./checks.ts";
import { type Codec, type FieldCodec, scalar, unlessEmpty } from "./codec.ts";
import { CODECS } from "./codecs.ts";
import { compositesOf, type EntryCodec } from "./entries.ts";
import { schemaOfEntry } from "./entry_schemas.ts";
import { codes, leaves } from "./lists.ts";
import { leafOf } from "./path.ts";
import { codecAt } from "./path_codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Codecs of the fields of an object in its composite. In: their descriptions, each with a path, or
 * by default the name of its element in snake_case. Out: a codec for each field, and functions that
 * read and write the object. This file knows no single field.
 */

/** The codecs of a field by composite and name: they are made once. */
const OF_FIELDS = remembered((_: Field) => new Map<string, FieldCodec | undefined>());

/** Returns the codec of a field in this composite, or undefined if ONIX has no element for it. */
export function fieldCodec(
  name: string,
  field: Field,
  composite: string,
): FieldCodec | undefined {
  return OF_FIELDS(field).getOrInsertComputed(`${composite}/${name}`, (key) => {
    const path = elementOf(name, field);
    const codec = CODECS[key] ?? (path === null ? undefined : codecByKind(path, field));
    return codec && { ...codec, project: projectionOf(path, field) };
  });
}

/** Returns the codec of a field at a path, by its kind. */
function codecByKind(path: string, field: Field): Codec | undefined {
  switch (field.kind) {
    case "column":
      if (!isPath(path)) return;
      if (field.format === "array") return codes(path);
      return v.is(field.response, [])
        ? leaves(path)
        : codecAt(path, { isWhole: isInteger(field.response) });
    case "list":
      return leaves(path, field);
    case "group":
      return groupCodec(path, field.fields);
    case "values":
    case "rows":
      return compositesOf(path, entryCodec(path, field));
  }
}

function isPath(path: string): boolean {
  return /[/[]/.test(path) || dataElement(path) !== undefined;
}

/** Whether the response is a whole number. A schema is asked by example. */
function isInteger(response: v.GenericSchema): boolean {
  return v.is(response, 1) && !v.is(response, 1.5);
}

/** A composite whose fields are one object. */
function groupCodec(name: string, fields: Fields): Codec {
  return {
    find: (composite) => child(composite, name),
    read(composite, reader) {
      const found = child(composite, name);
      return found && reader.tie(found, readFields(fields, found, reader));
    },
    write(composite, now, before, reader) {
      const found = child(composite, name);
      if (!isObject(now) || projectFields(fields, name, now) === undefined) {
        if (found) replaceChildren(composite, [found], []);
        return;
      }
      const target = found ?? element(name, []);
      if (!found) composite.children.push(target);
      const was = isObject(before) ? before : {};
      const changed = differingFields(fields, name, now, was);
      writeFields(changed, target, now, was, reader);
    },
  };
}

/** Returns the codec of an array's entries in composites with this name. */
export function entryCodec(
  name: string,
  array:
    & Pick<Rows | Values, "fields" | "same" | "rules" | "distinct">
    & Pick<Rows, "apart" | "keepsRest" | "together">
    & Pick<Values, "stored" | "isRequired">,
): EntryCodec {
  const { fields, keepsRest, distinct, isRequired, together = [] } = array;
  return {
    accept: (entry, found, reader) =>
      check(
        schemaOfEntry(array),
        entry,
        (path) => locationIn(fields, found, path),
        reader,
        { fields, keepsRest },
      ) as typeof entry | undefined,
    fieldIn: (found, name) => fieldCodec(name, fields[name]!, found.name)?.find?.(found),
    distinct,
    isRequired,
    read: (found, reader) => readFields(fields, found, reader),
    write(found, now, before, reader) {
      const changed = differingFields(fields, found.name, now, before);
      if (changed.some(([name]) => together.includes(name))) {
        for (const name of together) {
          removeUnread(elementOf(name, fields[name]!)!, found, before[name], reader);
        }
      }
      const shown = codecsIn(fields, found.name).filter(([, { find }]) => find?.(found));
      writeFields(changed, found, now, before, reader);
      // What depends on a changed field has been removed, and the entry may have it all the same.
      const removed = shown.filter(([name, { find, project }]) =>
        together.includes(name) && !find!(found) && project(now[name]) !== undefined
      );
      writeFields(removed, found, now, before, reader);
    },
    project: (entry) => projectFields(fields, name, entry) ?? {},
    ...keysOf(array),
    keepsRest,
  };
}

/** Returns the location of a field in a composite, or of one in a group of it. */
function locationIn(
  fields: Fields,
  element: Element,
  [name, ...inner]: readonly string[],
): Location {
  const field = fields[name!];
  if (!field) return { element };
  const found = fieldCodec(name!, field, element.name)?.find?.(element);
  if (!found) {
    const missing = elementOf(name!, field)?.replace(/[[/].*$/s, "");
    return { element, missing };
  }
  return field.kind === "group" ? locationIn(field.fields, found, inner) : { element: found };
}

/**
 * Removes the composites with this name that are none of the entries. They belong to the previous
 * value.
 */
function removeUnread(
  name: string,
  parent: Element,
  entries: unknown,
  reader: RecordReader,
): void {
  const read = objectsIn(entries).map((entry) => reader.elementOf(entry));
  const unread = parent.children.filter((each) =>
    each.name === name && each.children.length > 0 && !read.includes(each)
  );
  replaceChildren(parent, unread, []);
}

/** The codecs of fields by their composites: they are made once. */
const IN_COMPOSITES = remembered((_: Fields) => new Map<string, [string, FieldCodec][]>());

/** The codecs of the fields that this composite has elements for, by field. */
function codecsIn(fields: Fields, composite: string): [string, FieldCodec][] {
  return IN_COMPOSITES(fields).getOrInsertComputed(
    composite,
    () =>
      Object.entries(fields).flatMap(([name, field]): [string, FieldCodec][] => {
        const codec = fieldCodec(name, field, composite);
        return codec ? [[name, codec]] : [];
      }),
  );
}

/** The values of the fields in a composite. */
function readFields(
  fields: Fields,
  composite: Element,
  reader: RecordReader,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, codec] of codecsIn(fields, composite.name)) {
    const value = codec.read(composite, reader);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** The fields that have changed, with their codecs. */
export function differingFields(
  fields: Fields,
  composite: string,
  now: Record<string, unknown>,
  before: Record<string, unknown>,
): [string, FieldCodec][] {
  return codecsIn(fields, composite).filter(([name, { project }]) =>
    !isEqual(project(now[name]), project(before[name]))
  );
}

function writeFields(
  changed: readonly [string, Codec][],
  composite: Element,
  now: Record<string, unknown>,
  before: Record<string, unknown>,
  reader: RecordReader,
): void {
  for (const [name, codec] of changed) {
    codec.write(composite, now[name], before[name], reader);
  }
}

/**
 * Returns the projection of a field's value that is compared: the part that an element at its path
 * can contain.
 */
export function projectionOf(
  path: string | null,
  field: Field | Pick<Rows, "kind" | "fields">,
): FieldCodec["project"] {
  switch (field.kind) {
    case "group":
      return (value) => isObject(value) ? projectFields(field.fields, path!, value) : undefined;
    case "values":
    case "rows":
      return (value) =>
        unlessEmpty(
          objectsIn(value).map((entry) => projectFields(field.fields, path!, entry) ?? {}),
        );
    default: {
      const leaf = path === null ? "" : leafOf(path);
      const isText = ["text", "flow"].includes(dataElement(leaf)?.kind ?? "");
      return (value) => {
        if (Array.isArray(value)) return unlessEmpty(value);
        return isText && typeof value === "string" ? valueOf(element(leaf, value)) : scalar(value);
      };
    }
  }
}

/** The object with the fields that the composite has elements for, or undefined without any. */
export function projectFields(
  fields: Fields,
  composite: string,
  value: Record<string, unknown>,
): Record<string, unknown> | undefined {
  let projected: Record<string, unknown> | undefined;
  for (const [name, codec] of codecsIn(fields, composite)) {
    const is = codec.project(value[name]);
    if (is === undefined) continue;
    projected ??= {};
    projected[name] = is;
  }
  return projected;
}
