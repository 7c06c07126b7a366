import * as v from "valibot";
import { splitMessage } from "../../errors.ts";
import { elementOf, type Fields, type List } from "../../fields.ts";
import { array, type Distinct, isObject, MAX_ENTRIES } from "../../objects.ts";
import { type Element, hasText } from "../xml/element.ts";
import { matchesSomeRelease } from "../xml/fit.ts";
import { type Codec, valueAt } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * What the API accepts of what a record says. In: a value, and the element that says it. Out:
 * the value as the schemas of bodies return it. What those refuse cannot be read: it stays in
 * the record alone, with a warning at its element.
 */

/** The fields whose faults reject the record. */
const REJECTING = ["title", "isbn13", "isbn10"];

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
  /** Whether a refused value rejects the record. */
  rejects?: boolean;
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
  for (const issue of issues) {
    const way = wayOf(issue);
    const { element, missing } = find(way);
    // An element that is empty is itself what is missing.
    const empty = valueAt(value, way) === undefined ? element.name : undefined;
    tell(issue, { element, missing: missing ?? empty }, reader, options);
  }
  // What rejects the record stays a value: it is not missing, too.
  if (options.rejects) return value;
  if (!options.keepsRest || !isObject(value)) return;
  const refused = issues.map((issue) => wayOf(issue)[0] ?? "").filter((name) => name in value);
  if (refused.length === 0) return;
  for (const name of refused) {
    const { element, missing } = find([name]);
    if (!missing) reader.release(element);
  }
  // What is left may be refused for another reason, so it is checked again.
  return check(schema, withoutFields(value, refused), find, reader, options);
}

/** The field in which an issue is, and those in it. */
function wayOf({ path }: v.BaseIssue<unknown>): string[] {
  return path?.map(({ key }) => String(key)) ?? [];
}

function withoutFields(value: Record<string, unknown>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function tell(
  { message: words, type }: v.BaseIssue<unknown>,
  spot: Spot,
  reader: RecordReader,
  { fields = {}, rejects }: CheckOptions = {},
): void {
  const { element, missing } = spot;
  const { code, message: sentence } = splitMessage(words);
  // What ONIX does not demand is no fault of the sender, and gets no message.
  const lacksPart = missing !== undefined && (type === "object" || code === "too_few");
  const isWholeOfOnix = lacksPart && matchesSomeRelease(element, element.children.filter(hasText));
  if (isWholeOfOnix || isToldElsewhere(spot, reader)) return reader.fail();
  const told = lacksPart ? "required" : code;
  const message = lacksPart ? `${element.name} has no ${missing}` : inOnix(sentence, fields);
  if (rejects) reader.reject(told, message, element, { missing });
  else reader.failAt(element, told, message, { missing });
}

/** Whether another message covers what is missing: that its composite is empty, or that something in it was lost. */
function isToldElsewhere({ element, missing }: Spot, reader: RecordReader): boolean {
  if (missing === undefined) return false;
  const isOfEmpty = missing !== element.name && !hasText(element);
  return isOfEmpty || reader.messages.isLossTold(element);
}

/** The codec of the field of this name, without values that its schema refuses. */
export function checked<C extends Codec>(
  codec: C,
  schema: v.GenericSchema,
  name = "",
): C {
  const rejects = REJECTING.includes(name);
  return {
    ...codec,
    read(parent, reader) {
      const element = codec.find?.(parent) ?? parent;
      const value = codec.read(parent, reader);
      const find = () => ({ element });
      const output = check(schema, value, find, reader, { rejects });
      const isRefused = value !== undefined && output === undefined;
      if (isRefused) reader.release(element);
      return output;
    },
  };
}

/** What an array may have. */
type ArrayLimits = Pick<List, "max" | "isRequired"> & {
  distinct?: readonly Distinct[] | undefined;
};

/** The entries of an array without those that it has no room for, or that repeat others. */
export function checkedArray<E>(
  { max = MAX_ENTRIES, distinct = [], isRequired = false }: ArrayLimits,
  name: string,
  parent: Element,
  read: readonly { found: Element; entry: E }[],
  reader: RecordReader,
  fieldIn?: (found: Element, field: string) => Element | undefined,
): E[] {
  if (reader.isLenient) return read.map(({ entry }) => entry);
  const all = read.slice(0, max);
  const over = read.slice(max);
  if (over[0]) reader.warn("too_many", `At most ${max} entries`, over[0].found);
  for (const { found } of over) reader.release(found);
  if (!isRequired && distinct.length === 0) return all.map(({ entry }) => entry);
  const schema = array(v.unknown(), { max, distinct, min: isRequired ? 1 : 0 });
  const { issues = [] } = v.safeParse(schema, all.map(({ entry }) => entry));
  const repeated = new Set<unknown>();
  for (const issue of issues) {
    const [i, field] = wayOf(issue);
    const one = all[Number(i)];
    if (!one) {
      tell(issue, { element: parent, missing: name }, reader);
      continue;
    }
    repeated.add(one);
    const element = field && fieldIn?.(one.found, field) || one.found;
    reader.attempt(() => tell(issue, { element }, reader));
    reader.release(one.found);
  }
  return all.filter((one) => !repeated.has(one)).map(({ entry }) => entry);
}

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
