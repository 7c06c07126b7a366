import * as v from "valibot";
import { splitMessage } from "../../../../schema/errors.ts";
import { elementOf, type Fields, type List } from "../../../../schema/fields.ts";
import { array, type Distinct, isObject, MAX_ENTRIES } from "../../../../schema/objects.ts";
import { type Element, hasText } from "../xml/element.ts";
import { matchesSomeRelease } from "../valid/content_model.ts";
import { type Codec, valueAt } from "./codec.ts";
import type { RecordReader } from "./record_reader.ts";

/*
 * Checks values of a record with the schemas of bodies. In: a value and its element. Out: the
 * value as the schema returns it. A value that the schema refuses stays in the record only, and
 * its element gets a warning.
 */

/** The fields whose faults reject the record. */
const REJECTING = ["title", "isbn13", "isbn10"];

/** The element of a value, or the name of the child that it lacks. */
export interface Location {
  element: Element;
  missing?: string | undefined;
}

interface CheckOptions {
  /** The fields that messages may name. */
  fields?: Fields;
  /** Whether a refused field leaves the rest of an entry. */
  keepsRest?: boolean | undefined;
  /** Whether a refused value rejects the record. */
  rejects?: boolean;
}

/**
 * Returns the value as its schema returns it, or undefined if the schema refuses it. `find` returns
 * the location of a field, or of one in a group.
 */
export function check(
  schema: v.GenericSchema,
  value: unknown,
  find: (path: readonly string[]) => Location,
  reader: RecordReader,
  options: CheckOptions = {},
): unknown {
  if (value === undefined || reader.isLenient) return value;
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  for (const issue of issues) {
    const path = pathOfIssue(issue);
    const { element, missing } = find(path);
    // An element that is empty is itself what is missing.
    const empty = valueAt(value, path) === undefined ? element.name : undefined;
    report(issue, { element, missing: missing ?? empty }, reader, options);
  }
  // A value that rejects the record is kept, so that it is not reported as missing too.
  if (options.rejects) return value;
  if (!options.keepsRest || !isObject(value)) return;
  const refused = issues.map((issue) => pathOfIssue(issue)[0] ?? "").filter((name) =>
    name in value
  );
  if (refused.length === 0) return;
  for (const name of refused) {
    const { element, missing } = find([name]);
    if (!missing) reader.release(element);
  }
  // The rest may be refused for another reason, so it is checked again.
  return check(schema, withoutFields(value, refused), find, reader, options);
}

/** The field in which an issue is, and those in it. */
function pathOfIssue({ path }: v.BaseIssue<unknown>): string[] {
  return path?.map(({ key }) => String(key)) ?? [];
}

function withoutFields(value: Record<string, unknown>, names: readonly string[]) {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

function report(
  { message: words, type }: v.BaseIssue<unknown>,
  location: Location,
  reader: RecordReader,
  { fields = {}, rejects }: CheckOptions = {},
): void {
  const { element, missing } = location;
  const { code, message: sentence } = splitMessage(words);
  // A part that ONIX does not require is no fault of the sender, and gets no message.
  const lacksPart = missing !== undefined && (type === "object" || code === "too_few");
  const isComplete = lacksPart && matchesSomeRelease(element, element.children.filter(hasText));
  if (isComplete || isReportedElsewhere(location, reader)) return reader.fail();
  const reported = lacksPart ? "required" : code;
  const message = lacksPart ? `${element.name} has no ${missing}` : inOnix(sentence, fields);
  if (rejects) reader.reject(reported, message, element, { missing });
  else reader.failAt(element, reported, message, { missing });
}

/**
 * Whether another message covers the missing part: its composite is empty, or something in it was
 * lost.
 */
function isReportedElsewhere({ element, missing }: Location, reader: RecordReader): boolean {
  if (missing === undefined) return false;
  const isOfEmpty = missing !== element.name && !hasText(element);
  return isOfEmpty || reader.messages.isLossReported(element);
}

/** Wraps the codec of a field, so that values are dropped which its schema refuses. */
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

/** The limits of an array. */
type ArrayLimits = Pick<List, "max" | "isRequired"> & {
  distinct?: readonly Distinct[] | undefined;
};

/** Returns the entries of an array without repeated ones, and without those beyond its limit. */
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
    const [i, field] = pathOfIssue(issue);
    const one = all[Number(i)];
    if (!one) {
      report(issue, { element: parent, missing: name }, reader);
      continue;
    }
    repeated.add(one);
    const element = field && fieldIn?.(one.found, field) || one.found;
    reader.attempt(() => report(issue, { element }, reader));
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
