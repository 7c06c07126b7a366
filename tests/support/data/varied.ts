import * as v from "valibot";
import { elementOf, type Field, type Fields } from "../../../schema/fields.ts";

/*
 * Changes of one field, made from the description of an object: every field that ONIX says,
 * at every depth, gets other values that a body may have.
 */

// deno-lint-ignore no-explicit-any
export type Any = any;

/** A field at its place, and other values for it. */
export interface Variation {
  /** Such as `product_territories/0/supply_details/0/order_time`. */
  path: string;
  /** The name of the first field of the path. */
  root: string;
  field: Field;
  /** One or two values that differ from the present one. */
  values: unknown[];
}

/** The variations of an object with these fields. `isValid` says whether a whole changed object is. */
export function variationsOf(
  fields: Fields,
  object: Record<string, unknown>,
  isValid: (changed: Record<string, unknown>) => boolean,
): Variation[] {
  return leavesIn(fields, object, []).map(([steps, field]) => {
    const present = JSON.stringify(at(object, steps));
    const values: unknown[] = [];
    for (const value of candidatesFor(field)) {
      if (JSON.stringify(value) === present) continue;
      const changed = structuredClone(object);
      set(changed, steps, value);
      if (isValid(changed)) values.push(value);
      if (values.length === 2) break;
    }
    return { path: steps.join("/"), root: String(steps[0]), field, values };
  });
}

/** A copy of the object with another value at the path. */
export function varied<T extends object>(
  object: T,
  { path }: Pick<Variation, "path">,
  value: unknown,
): T {
  const copy = structuredClone(object);
  set(copy as Any, path.split("/"), value);
  return copy;
}

type Steps = (string | number)[];

/** Every field that ONIX says, those of arrays in their first entries. */
function leavesIn(
  fields: Fields,
  object: Any,
  above: Steps,
): [Steps, Field][] {
  return Object.entries(fields).flatMap(([name, field]): [Steps, Field][] => {
    const steps = [...above, name];
    const value = object?.[name];
    if (elementOf(name, field) === null) return [];
    const isArray = field.kind === "values" || field.kind === "rows";
    if (isArray && !value?.length) return [];
    switch (field.kind) {
      case "column":
        return field.body && !field.refers ? [[steps, field]] : [];
      case "list":
        return [[steps, field]];
      case "group":
        return value ? leavesIn(field.fields, value, steps) : [];
      case "values":
        return leavesIn(field.fields, value?.[0], [...steps, 0]);
      case "rows":
        if (field.types) {
          return (value as Any[]).flatMap((entry, i) =>
            leavesIn(
              field.types![entry.collateral_type]!.fields,
              entry,
              [...steps, i],
            )
          );
        }
        return leavesIn(field.fields, value?.[0], [...steps, 0]);
      default:
        return [];
    }
  });
}

/** Values of every kind, of which a field takes a few. */
const VALUES = [
  true,
  false,
  "9780141439587",
  "9781861972712",
  "0306406152",
  "080442957X",
  "2026-08-09",
  "2026-09-10",
  "1998",
  "1999",
  41,
  43,
  "https://one.example/a",
  "https://two.example/b",
  "Alpha",
  "Beta",
  "22",
  "33",
];

function* candidatesFor(field: Field): Generator<unknown> {
  const isList = field.kind === "list";
  const schema = isList ? field.item : field.kind === "column" ? field.body! : v.never();
  const isArray = isList || v.is(schema, []);
  for (const value of optionsOf(schema) ?? VALUES) {
    const candidate = isArray ? [value] : value;
    if (v.is(schema, isList ? value : candidate)) yield candidate;
  }
}

/** The values of a choice. */
function optionsOf(schema: Any): unknown[] | undefined {
  if (Array.isArray(schema?.options) && schema.type === "picklist") {
    return schema.options;
  }
  const inner = [...schema?.pipe?.filter((one: Any) => one !== schema) ?? []];
  for (const one of [...inner, schema?.item, schema?.wrapped]) {
    const options = one && optionsOf(one);
    if (options) return options;
  }
}

function at(object: Any, steps: Steps): unknown {
  return steps.reduce((value, step) => value?.[step], object);
}

function set(object: Any, steps: Steps, value: unknown): void {
  const last = steps.at(-1)!;
  (at(object, steps.slice(0, -1)) as Any)[last] = value;
}
