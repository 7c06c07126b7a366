import * as v from "valibot";
import { objectOf, ruled } from "../../bodies.ts";
import { column, elementOf, type Field, type Fields, type List, type Rule } from "../../fields.ts";
import { array, isObject, MAX_ENTRIES, remembered } from "../../objects.ts";
import { composite } from "../rules/facts.ts";
import { RELEASES } from "../rules/releases.ts";
import { type Element, hasText } from "../xml/element.ts";
import { matches } from "../xml/fit.ts";
import type { Codec } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * What the API accepts of what a record says. In: a value, and the element that says it. Out:
 * the value as the schemas of bodies return it. What those refuse cannot be read: it stays in
 * the record alone, with a warning at its element.
 */

/** Where a value stands, or the name of the element that is missing there. */
export interface Spot {
  element: Element;
  missing?: string | undefined;
}

interface CheckOptions {
  /** The fields that messages may name. */
  fields?: Fields;
  /** Whether what is refused leaves the rest. */
  keepsRest?: boolean | undefined;
  /** Whether the record is rejected if it is refused. */
  isNeeded?: boolean;
}

/**
 * The value as its schema returns it, or undefined for one that it refuses. `find` returns
 * where a field of it stands, or one of a group of it.
 */
export function check(
  schema: v.GenericSchema,
  value: unknown,
  find: (way: readonly string[]) => Spot,
  reader: RecordReader,
  options: CheckOptions = {},
): unknown {
  if (value === undefined || reader.isLenient) return value;
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  // What rejects the record stays a value: it is not missing, too.
  let rest: unknown = options.isNeeded ? value : undefined;
  for (const issue of issues) {
    const way = (issue.path ?? []).map(({ key }) => String(key));
    const { element, missing } = find(way);
    // An element that is empty is itself what is missing.
    const empty = valueAt(value, way) === undefined ? element.name : undefined;
    tell(issue, { element, missing: missing ?? empty }, reader, options);
    const [name = ""] = way;
    // What is left may be refused for another reason, so it is checked again.
    if (options.keepsRest && isObject(value) && name in value) {
      const { [name]: _, ...others } = isObject(rest) ? rest : value;
      rest = others;
      const { element, missing } = find([name]);
      if (!missing) reader.release(element);
    }
  }
  return options.keepsRest && rest !== undefined
    ? check(schema, rest, find, reader, options)
    : rest;
}

function valueAt(value: unknown, way: readonly string[]): unknown {
  return way.reduce((at, key) => isObject(at) ? at[key] : undefined, value);
}

function tell(
  { message: words, type }: v.BaseIssue<unknown>,
  { element, missing }: Spot,
  reader: RecordReader,
  { fields = {}, isNeeded }: CheckOptions,
): void {
  const [, code = "invalid", sentence = words] = /^(\w+): (.*)$/s.exec(words) ??
    [];
  const isAbsent = missing !== undefined &&
    (type === "object" || code === "too_few");
  // Of an empty composite, and of what was lost in it, something else tells.
  const isOfEmpty = missing !== element.name && !hasText(element);
  // What has lost a part was told of that part.
  const isFollowing = missing !== undefined &&
    (isOfEmpty || reader.hasLost(element));
  if (isFollowing || isAbsent && isWholeOfOnix(element)) return reader.fail();
  const told = isAbsent ? "required" : code;
  const message = isAbsent ? `${element.name} has no ${missing}` : inOnix(sentence, fields);
  if (isNeeded) reader.fault(told, message, element, { missing });
  else reader.unreadable(element, told, message, { missing });
}

/** The fields with which a record is rejected if they are wrong. */
const NEEDED = ["title", "isbn13", "isbn10"];

/** The codec of the field of this name, without values that its schema refuses. */
export function checked<C extends Codec>(
  codec: C,
  schema: v.GenericSchema,
  name = "",
): C {
  const isNeeded = NEEDED.includes(name);
  return {
    ...codec,
    read(parent, reader) {
      const element = codec.find?.(parent) ?? parent;
      const value = codec.read(parent, reader);
      const find = () => ({ element });
      const output = check(schema, value, find, reader, { isNeeded });
      const isRefused = value !== undefined && output === undefined;
      if (isRefused) reader.release(element);
      return output;
    },
  };
}

/** The entries of an array without those that it has no room for, or that repeat others. */
export function checkedArray<E>(
  { isRequired, ...limits }: Pick<List, "max" | "isRequired"> & Distincts,
  name: string,
  parent: Element,
  read: readonly { found: Element; entry: E }[],
  reader: RecordReader,
  find?: (found: Element, field: string) => Element | undefined,
): E[] {
  if (reader.isLenient) return read.map(({ entry }) => entry);
  const { max = MAX_ENTRIES } = limits;
  const all = read.slice(0, max);
  const over = read[max];
  if (over) reader.warn("too_many", `At most ${max} entries`, over.found);
  read.slice(max).forEach(({ found }) => reader.release(found));
  if (!isRequired && !limits.distinct?.length) {
    return all.map(({ entry }) => entry);
  }
  const schema = array(v.unknown(), { ...limits, min: isRequired ? 1 : 0 });
  const { issues = [] } = v.safeParse(schema, all.map(({ entry }) => entry));
  const repeated = new Set<unknown>();
  for (const issue of issues) {
    const [i, field] = (issue.path ?? []) as { key: string | number }[];
    if (!i) {
      tell(issue, { element: parent, missing: name }, reader, {});
      continue;
    }
    const { found } = all[Number(i.key)]!;
    repeated.add(all[Number(i.key)]);
    const element = field && find?.(found, String(field.key)) || found;
    reader.attempt(() => tell(issue, { element }, reader, {}));
    reader.release(found);
  }
  return all.filter((one) => !repeated.has(one)).map(({ entry }) => entry);
}

type Distincts = Pick<NonNullable<Parameters<typeof array>[1]>, "distinct">;

/** The schema of an object whose arrays have been checked. */
export const schemaOf = remembered((
  { fields, rules, stored }: {
    fields: Fields;
    rules?: readonly Rule[] | undefined;
    stored?: (entry: Record<string, unknown>) => Record<string, unknown>;
  },
) => {
  const entry = objectOf(withoutArrays(fields), "new", BESIDE);
  const valid = ruled(entry, "new", rules);
  return stored ? v.pipe(valid, v.transform(stored)) : valid;
});

function withoutArrays(fields: Fields): Fields {
  const any = v.unknown();
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]): [string, Field] => {
      switch (field.kind) {
        case "values":
        case "list":
          return [name, column(any)];
        case "rows":
          return [name, column(any, any, { fallback: [] })];
        case "group": {
          const { type: _, ...group } = field;
          return [name, { ...group, fields: withoutArrays(field.fields) }];
        }
        default:
          return [name, field];
      }
    }),
  );
}

/** What entries have beside what their elements say. */
const BESIDE = {
  id: v.optional(v.unknown()),
  collateral_type: v.optional(v.unknown()),
};

/** A message that names elements where it names these fields, and the form of dates in ONIX. */
function inOnix(message: string, fields: Fields): string {
  return message.replace("YYYY-MM-DD", "YYYYMMDD").replace(
    /\b[a-z]+(?:_[a-z]+)+\b/g,
    (name) => {
      const field = fields[name];
      return field && elementOf(name, field) || name;
    },
  );
}

/** Whether a composite has what the standard demands, such as an extent in roman numerals. */
function isWholeOfOnix({ name, children }: Element): boolean {
  const parts = children.filter(hasText);
  return RELEASES.some((release) => {
    const model = composite(release, name)?.model;
    return model !== undefined && matches(model, parts);
  });
}
