import * as v from "valibot";
import {
  elementOf,
  type Field,
  type Fields,
  keyOf,
  type Rows,
  type Values,
} from "../../fields.ts";
import {
  canonical,
  isEqual,
  isObject,
  MAX_ENTRIES,
  objectsIn,
  remembered,
} from "../../objects.ts";
import {
  child,
  childrenOf,
  type Element,
  element,
  replaceChildren,
  setChild,
  valueOf,
} from "../xml/element.ts";
import { dataElement } from "../rules/facts.ts";
import { codecAt, readLeaf } from "./path.ts";
import type { Codec, RecordReader } from "./record_reader.ts";
import { CODECS } from "./codecs.ts";

/*
 * The fields of an object in its composite. In: their descriptions, each with a path, or the
 * name of its element in snake_case. Out: codecs for them, and what reads and writes a
 * whole object. Nothing here knows a field.
 */

const IN_COMPOSITES = remembered((_: Fields) =>
  new Map<string, [string, Codec][]>()
);

/** The codecs of the fields in this composite, by field. */
function codecsIn(fields: Fields, composite: string): [string, Codec][] {
  return IN_COMPOSITES(fields).getOrInsertComputed(
    composite,
    () =>
      Object.entries(fields).flatMap(([name, field]) => {
        const codec = codecOf(name, field, composite);
        return codec ? [[name, codec] as [string, Codec]] : [];
      }),
  );
}

const OF_FIELDS = remembered((_: Field) =>
  new Map<string, Codec | undefined>()
);

/** How a field stands in this composite, or undefined if ONIX has no element for it. */
export function codecOf(
  name: string,
  field: Field,
  composite: string,
): Codec | undefined {
  return OF_FIELDS(field).getOrInsertComputed(
    `${composite}/${name}`,
    () => newCodec(name, field, composite),
  );
}

function newCodec(
  name: string,
  field: Field,
  composite: string,
): Codec | undefined {
  const own = CODECS[`${composite}/${name}`];
  if (own) return own;
  const inner = elementOf(name, field);
  if (inner === null) return;
  switch (field.kind) {
    case "column":
      if (!isPlace(inner)) return;
      if (field.format === "array") return codes(inner);
      return v.is(field.response, [])
        ? leaves(inner)
        : codecAt(inner, { isWhole: isWhole(field.response) });
    case "list":
      return leaves(inner);
    case "group":
      return groupCodec(inner, field.fields);
    case "values":
    case "rows":
      return compositesOf(inner, codecOfEntry(inner, field));
  }
}

function isPlace(place: string): boolean {
  return /[/[]/.test(place) || dataElement(place) !== undefined;
}

function isWhole(response: v.GenericSchema): boolean {
  return v.is(response, 1) && !v.is(response, 1.5);
}

/** A data element that holds several codes. */
function codes(name: string): Codec {
  const { kind } = dataElement(name)!;
  return {
    find: (composite) => child(composite, name),
    read(composite, reader) {
      const found = child(composite, name);
      const value = valueOf(found);
      if (!found || value === undefined) return [];
      reader.claim(found);
      return [...new Set(value.split(" "))].filter((code) =>
        reader.isCode(code, found, kind)
      );
    },
    write(composite, now) {
      const text = (now as string[] | undefined ?? []).join(" ");
      setChild(composite, name, text === "" ? undefined : text);
    },
    project: (value) => (value as string[] | null)?.length ? value : undefined,
  };
}

/** A data element that is repeated. */
function leaves(name: string): Codec {
  const { kind } = dataElement(name)!;
  return {
    find: (composite, index = 0) => childrenOf(composite, name)[index],
    read(composite, reader) {
      // One more than the API accepts is enough to know that there are too many.
      const all = childrenOf(composite, name).slice(0, MAX_ENTRIES + 1);
      return all.flatMap((found) => {
        const { result } = reader.attempt(() => readLeaf(found, kind, reader));
        if (typeof result !== "string") return [];
        reader.claim(found);
        return result;
      });
    },
    write(composite, now, before) {
      const old = childrenOf(composite, name);
      const was = before as string[] | undefined ?? [];
      const spare = new Map(
        old.flatMap((each) => {
          const value = valueOf(each);
          return value !== undefined && was.includes(value)
            ? [[value, each] as const]
            : [];
        }),
      );
      const wanted = (now as string[] | undefined ?? []).map((value) =>
        spare.get(value) ?? element(name, value)
      );
      const known = [...spare.values()];
      replaceChildren(composite, known, wanted);
    },
    project: (value) => (value as string[] | null)?.length ? value : undefined,
  };
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
      writeFields(fields, target, now, isObject(before) ? before : {}, reader);
    },
    project: (value) =>
      isObject(value) ? projectFields(fields, name, value) : undefined,
  };
}

/** How the entries of an array stand in composites with this name. */
export function codecOfEntry(
  name: string,
  array: Pick<Rows | Values, "fields" | "same"> & Pick<Rows, "keepsRest">,
): EntryCodec {
  const { fields, keepsRest } = array;
  return {
    read: (found, reader) => readFields(fields, found, reader),
    write: (found, now, before, reader) =>
      writeFields(fields, found, now, before, reader),
    project: (entry) => projectFields(fields, name, entry) ?? {},
    key: keyOf(array),
    keepsRest,
  };
}

/** An object that stands in a composite of its own. */
export interface EntryCodec {
  read(
    found: Element,
    reader: RecordReader,
  ): Record<string, unknown> | undefined;
  write(
    found: Element,
    now: Record<string, unknown>,
    before: Record<string, unknown>,
    reader: RecordReader,
  ): void;
  project(entry: Record<string, unknown>): Record<string, unknown>;
  /** The fields by which entries are told apart. */
  key: readonly string[];
  /** Whether an entry keeps its other fields if one of them cannot be read. */
  keepsRest?: boolean | undefined;
  /** Whether another field holds what is in a composite. */
  isElsewhere?: (found: Element) => boolean;
}

/** The array of the objects that stand in the composites with this name. */
export function compositesOf(name: string, codec: EntryCodec): Codec {
  const { key } = codec;
  return {
    find: (composite, index = 0) => childrenOf(composite, name)[index],
    read(composite, reader) {
      // One more than the API accepts is enough to know that there are too many.
      const all = childrenOf(composite, name).filter((found) =>
        !codec.isElsewhere?.(found)
      );
      return all.slice(0, MAX_ENTRIES + 1).flatMap((found) => {
        const { result: entry, isWhole } = reader.attempt(() =>
          codec.read(found, reader)
        );
        if (entry && (isWhole || codec.keepsRest)) {
          return reader.tie(found, entry);
        }
        reader.release(found);
        return [];
      });
    },
    write(composite, now, before, reader) {
      const was = objectsIn(before).map((entry) => ({
        entry,
        projected: codec.project(entry),
        element: reader.elementOf(entry)!,
      }));
      const left = new Set(was);
      const wanted: (Element | undefined)[] = [];
      const is = objectsIn(now).map((entry) => ({
        entry,
        projected: codec.project(entry),
      }));
      const match = (same: (one: typeof is[number]) => unknown) => {
        is.forEach((one, i) => {
          const id = same(one);
          if (wanted[i] || id === undefined) return;
          const { entry, projected } = one;
          for (const old of left) {
            if (same(old) !== id) continue;
            left.delete(old);
            wanted[i] = old.element;
            if (!isEqual(projected, old.projected)) {
              codec.write(old.element, entry, old.entry, reader);
            }
            return;
          }
        });
      };
      match(({ entry }) => entry.id);
      match(({ projected }) => canonical(projected));
      if (key.length > 0) {
        match(({ projected }) => canonical(key.map((name) => projected[name])));
      }
      const all = is.map(({ entry }, i) => {
        const known = wanted[i];
        if (known) return known;
        const made = element(name, []);
        codec.write(made, entry, {}, reader);
        return made;
      });
      replaceChildren(composite, was.map(({ element }) => element), all);
    },
    project: (value) => {
      const all = objectsIn(value).map((entry) => codec.project(entry));
      return all.length > 0 ? all : undefined;
    },
  };
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

/** Writes the fields that have changed. */
function writeFields(
  fields: Fields,
  composite: Element,
  now: Record<string, unknown>,
  before: Record<string, unknown>,
  reader: RecordReader,
): void {
  for (const [name, codec] of codecsIn(fields, composite.name)) {
    const is = codec.project(now[name]);
    if (isEqual(is, codec.project(before[name]))) continue;
    codec.write(composite, now[name], before[name], reader);
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
