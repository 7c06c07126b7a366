import * as v from "valibot";
import { elementOf, type Field, type Fields } from "../../fields.ts";
import { isObject } from "../../objects.ts";
import {
  child,
  childrenOf,
  type Element,
  element,
  valueOf,
} from "../xml/element.ts";
import { dataElement } from "../rules/facts.ts";
import { shortest, withPoint } from "../rules/kinds.ts";
import {
  canonical,
  type Part,
  replaceChildren,
  scalar,
  setChild,
  textOf,
} from "./part.ts";
import type { Reading } from "./reading.ts";
import { SPECIAL } from "./special.ts";
import { withoutTags } from "../rules/xhtml.ts";

/*
 * What maps straight: a field has the name of its element in snake_case, or names it in
 * its description. Nothing here knows a field.
 */

const IN_COMPOSITES = new WeakMap<Fields, Map<string, [string, Part][]>>();

/** The parts of the fields in this composite, by field. */
function partsIn(fields: Fields, composite: string): [string, Part][] {
  const all = IN_COMPOSITES.get(fields) ?? new Map<string, [string, Part][]>();
  IN_COMPOSITES.set(fields, all);
  const known = all.get(composite);
  if (known) return known;
  const parts = Object.entries(fields).flatMap(
    ([name, field]): [string, Part][] => {
      const part = partOf(name, field, composite);
      return part ? [[name, part]] : [];
    },
  );
  all.set(composite, parts);
  return parts;
}

/** How a field stands in this composite, or undefined if ONIX has no element for it. */
export function partOf(
  name: string,
  field: Field,
  composite: string,
): Part | undefined {
  const special = SPECIAL[`${composite}/${name}`];
  if (special) return special;
  const inner = elementOf(name, field);
  if (inner === null) return;
  switch (field.kind) {
    case "column":
      if (!dataElement(inner)) return;
      if (field.format === "array") return codes(inner);
      return v.is(field.response, []) ? leaves(inner) : leaf(inner);
    case "list":
      return leaves(inner);
    case "group":
      return group(inner, field.fields);
    case "values":
    case "rows":
      return entries(inner, field.fields, KEYS[name] ?? []);
  }
}

/** By which fields an entry is told apart from others in its array. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  product_identifiers: ["product_id_type", "id_type_name"],
  languages: ["language_role", "language_code"],
  subjects: [
    "subject_scheme_identifier",
    "subject_scheme_name",
    "subject_code",
  ],
  extents: ["extent_type", "extent_unit"],
  measures: ["measure_type", "measure_unit_code"],
  audiences: ["audience_code_type", "audience_code_type_name"],
  audience_ranges: ["audience_range_qualifier"],
  publishing_dates: ["publishing_date_role"],
  related_products: ["product_identifiers"],
  related_works: ["work_relation_code", "work_identifiers"],
  work_identifiers: ["work_id_type", "id_type_name"],
  supporting_resources: ["resource_content_type", "resource_mode"],
  resource_features: ["resource_feature_type"],
  resource_versions: ["resource_form"],
  resource_version_features: ["resource_version_feature_type"],
  product_territories: ["market_reference", "markets"],
  markets: ["territory"],
  market_dates: ["market_date_role"],
  supply_details: ["supplier"],
  supply_dates: ["supply_date_role"],
  prices: ["price_type", "currency_code", "territory", "price_qualifier"],
  taxes: ["tax_type"],
};

/** A data element. */
export function leaf(name: string): Part {
  const { kind } = dataElement(name)!;
  return {
    read(composite, reading) {
      const found = child(composite, name);
      if (!found) return kind === "flag" ? false : undefined;
      const value = leafValue(found, kind);
      if (value !== undefined) reading.use(found);
      if (typeof value !== "string" || value === found.text) return value;
      if (found.text.includes(",") && !value.includes(",")) {
        reading.warnOfComma(found);
      }
      return value;
    },
    write(composite, now) {
      setChild(composite, name, textOf(now));
    },
    project: scalar,
  };
}

/** The value of a data element in the type that a field has. */
export function leafValue(
  found: Element,
  kind: string,
): string | number | boolean | undefined {
  if (kind === "flag") return true;
  const text = found.markup && kind !== "flow"
    ? withoutTags(found.text).trim()
    : valueOf(found);
  if (text === undefined || text === "") return;
  const number = withPoint(text);
  if (/^(?:n\+?|int)$/.test(kind)) {
    return /^\+?\d{1,15}(?:\.0*)?$/.test(number) ? Number(number) : text;
  }
  return /^(?:d\+?|dec|percent)$/.test(kind) ? shortest(number) : text;
}

/** A data element that holds several codes. */
function codes(name: string): Part {
  return {
    read(composite, reading) {
      const found = child(composite, name);
      const value = valueOf(found);
      if (found && value) reading.use(found);
      return value?.split(" ") ?? [];
    },
    write(composite, now) {
      const text = (now as string[] | undefined ?? []).join(" ");
      setChild(composite, name, text === "" ? undefined : text);
    },
    project: (value) => (value as string[] | null)?.length ? value : undefined,
  };
}

/** A data element that is repeated. */
function leaves(name: string): Part {
  return {
    read(composite, reading) {
      return childrenOf(composite, name).flatMap((found) => {
        const value = valueOf(found);
        if (value !== undefined) reading.use(found);
        return value ?? [];
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
function group(name: string, fields: Fields): Part {
  return {
    read(composite, reading) {
      const found = child(composite, name);
      return found && readFields(fields, found, reading);
    },
    write(composite, now, before, reading) {
      const found = child(composite, name);
      if (!isObject(now) || projectFields(fields, name, now) === undefined) {
        if (found) replaceChildren(composite, [found], []);
        return;
      }
      const target = found ?? element(name, []);
      if (!found) composite.children.push(target);
      writeFields(fields, target, now, isObject(before) ? before : {}, reading);
    },
    project: (value) =>
      isObject(value) ? projectFields(fields, name, value) : undefined,
  };
}

/** A composite that is repeated: an array of objects. */
function entries(
  name: string,
  fields: Fields,
  key: readonly string[],
): Part {
  return entriesOf(name, {
    read: (found, reading) => readFields(fields, found, reading),
    write: (found, now, before, reading) =>
      writeFields(fields, found, now, before, reading),
    project: (entry) => projectFields(fields, name, entry) ?? {},
    key,
  });
}

/** An object that stands in a composite of its own. */
export interface EntryPart {
  read(found: Element, reading: Reading): Record<string, unknown> | undefined;
  write(
    found: Element,
    now: Record<string, unknown>,
    before: Record<string, unknown>,
    reading: Reading,
  ): void;
  project(entry: Record<string, unknown>): Record<string, unknown>;
  /** The fields by which entries are told apart. */
  key: readonly string[];
}

/** The array of the objects that stand in the composites with this name. */
export function entriesOf(name: string, part: EntryPart): Part {
  const { key } = part;
  return {
    read(composite, reading) {
      return childrenOf(composite, name).flatMap((found) => {
        const entry = part.read(found, reading);
        return entry ? reading.from(found, entry) : [];
      });
    },
    write(composite, now, before, reading) {
      const was = objects(before).map((entry) => ({
        entry,
        projected: part.project(entry),
        element: reading.sourceOf(entry)!,
      }));
      const left = new Set(was);
      const wanted: (Element | undefined)[] = [];
      const is = objects(now).map((entry) => ({
        entry,
        projected: part.project(entry),
      }));
      const match = (same: (entry: Record<string, unknown>) => string) => {
        is.forEach(({ entry, projected }, i) => {
          if (wanted[i]) return;
          const id = same(projected);
          for (const old of left) {
            if (same(old.projected) !== id) continue;
            left.delete(old);
            wanted[i] = old.element;
            if (canonical(projected) !== canonical(old.projected)) {
              part.write(old.element, entry, old.entry, reading);
            }
            return;
          }
        });
      };
      match(canonical);
      if (key.length > 0) {
        match((entry) => canonical(key.map((field) => entry[field])));
      }
      const all = is.map(({ entry }, i) => {
        const known = wanted[i];
        if (known) return known;
        const made = element(name, []);
        part.write(made, entry, {}, reading);
        return made;
      });
      replaceChildren(composite, was.map(({ element }) => element), all);
    },
    project: (value) => {
      const all = objects(value).map((entry) => part.project(entry));
      return all.length > 0 ? all : undefined;
    },
  };
}

function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The values of the fields in a composite. */
export function readFields(
  fields: Fields,
  composite: Element,
  reading: Reading,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, part] of partsIn(fields, composite.name)) {
    const value = part.read(composite, reading);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** Writes the fields that have changed. */
export function writeFields(
  fields: Fields,
  composite: Element,
  now: Record<string, unknown>,
  before: Record<string, unknown>,
  reading: Reading,
): void {
  for (const [name, part] of partsIn(fields, composite.name)) {
    const is = part.project(now[name]);
    if (canonical(is) === canonical(part.project(before[name]))) continue;
    part.write(composite, now[name], before[name], reading);
  }
}

/** The object with the fields that the composite has elements for, or undefined without any. */
export function projectFields(
  fields: Fields,
  composite: string,
  value: Record<string, unknown>,
): Record<string, unknown> | undefined {
  let projected: Record<string, unknown> | undefined;
  for (const [name, part] of partsIn(fields, composite)) {
    const is = part.project(value[name]);
    if (is === undefined) continue;
    projected ??= {};
    projected[name] = is;
  }
  return projected;
}
