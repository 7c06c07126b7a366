import type { Entry } from "../../bodies.ts";
import type { Field, Fields } from "../../fields.ts";
import { isEqual } from "../../objects.ts";
import type { Element } from "../xml/element.ts";
import type { TellConflict, Way } from "./conflicts.ts";
import { fieldCodec } from "./fields.ts";
import type { FieldsOfObject } from "./merged_arrays.ts";
import { placeOfDifference } from "./places.ts";
import { valueInWords } from "./words.ts";

/*
 * The values of an object that was edited here, after a record. In: the object as the sender
 * said it last, as they say it now, and as it is here. Out: the values that the sender has
 * changed. Fields that are one value, or that a rule joins, are those of one side.
 */

/** An object as the sender said it last, as they say it now, and as it is here. */
export interface Sides {
  before: Entry;
  after: Entry;
  here: Entry;
  /** Its element in the new record, and the entries that it is in. */
  at: Element;
  within: Way;
}

/** The fields that are one value, if the sender has changed it and no edit stays. */
export function changedIn(
  names: readonly string[],
  object: FieldsOfObject,
  { before, after, here, at, within }: Sides,
  tellConflict: TellConflict,
): Entry {
  const { fields, composite } = object;
  const differing = (a: Entry, b: Entry) =>
    names.filter((name) => {
      const { project } = fieldCodec(name, fields[name]!, composite)!;
      return !isEqual(project(a[name]), project(b[name]));
    });
  if (differing(before, after).length === 0) return {};
  const isEdited = differing(here, before).length > 0;
  const disputed = isEdited ? differing(here, after) : [];
  const isKept = disputed.length > 0 && tellConflict(
    { ...placeOfDifference(at, object, disputed[0]!, after, here), within },
    valuesInWords(disputed, after),
    valuesInWords(disputed, here),
  );
  return isKept ? {} : valuesAfter(names, fields, after);
}

/**
 * Where the merged fields break a rule that each side alone keeps, all fields that the rule joins
 * are taken from one side.
 */
export function keptTogether(
  merged: Entry,
  { fields, rules }: FieldsOfObject,
  { after, here, at, within }: Sides,
  tellConflict: TellConflict,
): Entry {
  const kept: Entry = {};
  for (const { fields: names, check } of rules) {
    if (check({ ...merged, ...kept }) === undefined) continue;
    const isKept = tellConflict(
      { element: at, within },
      valuesInWords(names, after),
      valuesInWords(names, here),
    );
    Object.assign(
      kept,
      isKept
        ? Object.fromEntries(names.map((name) => [name, here[name]]))
        : valuesAfter(names, fields, after),
    );
  }
  return kept;
}

function valuesInWords(names: readonly string[], entry: Entry): string {
  return names.map((name) => valueInWords(entry[name])).filter(Boolean)
    .join(" ");
}

/** The values that a record says, or what a row has without them. */
function valuesAfter(
  names: readonly string[],
  fields: Fields,
  after: Entry,
): Entry {
  return Object.fromEntries(names.map((name) => {
    const value = after[name];
    return [name, value === undefined ? valueWithout(fields[name]!) : value];
  }));
}

/** What a row has for a field that no record says. */
function valueWithout(field: Field): unknown {
  switch (field.kind) {
    case "rows":
      return [];
    case "column":
      return field.fallback ?? null;
    default:
      return null;
  }
}
