import type { Entry } from "../../../../schema/bodies.ts";
import type { Field, Fields } from "../../../../schema/fields.ts";
import { isEqual } from "../../../../schema/objects.ts";
import type { Element } from "../xml/element.ts";
import type { EntryPath, ReportConflict, Side } from "./conflicts.ts";
import { fieldCodec } from "../codecs/fields.ts";
import type { FieldsOfObject } from "./merged_arrays.ts";
import { locationOfDifference } from "./locations.ts";
import { changesOf, type ThreeWay } from "./three_way.ts";
import { valueInWords } from "./words.ts";

/*
 * Merges the values of an object. In: its base, incoming and local values. Out: the values that the
 * sender has changed. Fields that are one value, such as an amount and its currency, and fields that
 * together would break a rule, are all taken from one side.
 */

/** An object on the three sides. */
export interface ObjectSides extends ThreeWay<Entry> {
  /** Its element in the incoming record, and the entries around it. */
  element: Element;
  within: EntryPath;
}

/** Which side wins conflicts, and how they are reported. */
export interface ConflictRule {
  winner: Side;
  reportConflict: ReportConflict;
}

/** Returns the incoming values of fields that are one value, if the sender has changed it and wins. */
export function incomingValuesToWrite(
  names: readonly string[],
  object: FieldsOfObject,
  { base, incoming, local, element, within }: ObjectSides,
  { winner, reportConflict }: ConflictRule,
): Entry {
  const { fields, composite } = object;
  const projectionsIn = (entry: Entry) =>
    names.map((name) => fieldCodec(name, fields[name]!, composite)!.project(entry[name]));
  const projections = {
    base: projectionsIn(base),
    incoming: projectionsIn(incoming),
    local: projectionsIn(local),
  };
  const { isIncomingChanged, isConflict } = changesOf(projections);
  if (!isIncomingChanged) return {};
  if (isConflict) {
    const differing = names.filter((_, i) =>
      !isEqual(projections.local[i], projections.incoming[i])
    );
    const location = locationOfDifference(element, object, differing[0]!, incoming, local);
    reportConflict(
      { ...location, within },
      valuesInWords(differing, incoming),
      valuesInWords(differing, local),
    );
    if (winner === "local") return {};
  }
  return incomingValues(names, fields, incoming);
}

/**
 * Returns fields that break a rule after the merge, all from the side that wins. For example, one
 * side has moved the start of a period and the other its end, so that it ends before it begins.
 */
export function fieldsOfBrokenRules(
  merged: Entry,
  { fields, rules }: FieldsOfObject,
  { incoming, local, element, within }: ObjectSides,
  { winner, reportConflict }: ConflictRule,
): Entry {
  const kept: Entry = {};
  for (const { fields: names, check } of rules) {
    if (check({ ...merged, ...kept }) === undefined) continue;
    reportConflict(
      { element, within },
      valuesInWords(names, incoming),
      valuesInWords(names, local),
    );
    Object.assign(
      kept,
      winner === "local"
        ? Object.fromEntries(names.map((name) => [name, local[name]]))
        : incomingValues(names, fields, incoming),
    );
  }
  return kept;
}

function valuesInWords(names: readonly string[], entry: Entry): string {
  return names.map((name) => valueInWords(entry[name])).filter(Boolean)
    .join(" ");
}

/** Returns the incoming values, with the default for each that the record lacks. */
function incomingValues(
  names: readonly string[],
  fields: Fields,
  incoming: Entry,
): Entry {
  return Object.fromEntries(names.map((name) => {
    const value = incoming[name];
    return [name, value === undefined ? defaultOf(fields[name]!) : value];
  }));
}

/** Returns the default of a field in a row. */
function defaultOf(field: Field): unknown {
  switch (field.kind) {
    case "rows":
      return [];
    case "column":
      return field.fallback ?? null;
    default:
      return null;
  }
}
