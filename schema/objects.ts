import * as v from "valibot";
import { catchDefect, DEFECT_TEXT } from "./defects.ts";
import { MAX_ERRORS } from "./errors.ts";
// Declares `JSON.isRawJSON`.
import type {} from "./numbers.ts";
import { type Names, withNames, wrongNames } from "./named.ts";
import { didYouMean, speller } from "./spelling.ts";

/* Schemas of objects and arrays whose errors are bounded: unknown fields, duplicates, limits. */

/** The maximum number of entries of an array, in a body and stored. */
export const MAX_ENTRIES = 500;

/** The message that a value must be an object, with an example. */
function anObject(example?: string) {
  return v.custom<Record<string, unknown>>(
    isObject,
    `invalid_type: Expected an object${example ? ` such as ${example}` : ""}`,
  );
}

/** An object with these fields. Other fields are dropped. */
export function object<const E extends v.ObjectEntries>(entries: E) {
  return v.pipe(anObject(), v.object(entries));
}

/**
 * An object with only these fields. Other fields are errors. The response-only fields in `ignored`
 * are dropped, so that clients can send a response back. Those in `names` may stand for an absent
 * id. The error of a value that is no object shows `example`.
 */
export function closedObject<const E extends v.ObjectEntries>(
  entries: E,
  ignored: Readonly<Record<string, string | undefined>> = {},
  { names = new Map(), example }: { names?: Names; example?: string } = {},
) {
  const written = Object.keys(entries);
  const near = speller(written);
  const known = new Set([...written, ...Object.keys(ignored)]);
  const standing = new Set(
    Array.from(names.values(), ({ given }) => given.map(({ field }) => field))
      .flat(),
  );
  return v.intersect([
    names.size === 0 ? v.pipe(anObject(example), v.object(entries)) : v.pipe(
      anObject(example),
      v.transform((body) => withNames(body, names)),
      v.object(entries),
    ),
    v.pipe(
      v.unknown(),
      v.rawCheck(({ dataset, addIssue }) => {
        const input = dataset.value;
        if (!isObject(input)) return;
        const unknown = Object.keys(input).filter((key) => !known.has(key));
        // One more, so that the message shows that there are more.
        for (const key of unknown.slice(0, MAX_ERRORS + 1)) {
          const suggestion = didYouMean(near(key));
          addIssue({
            message: `unknown_field: Unknown field${suggestion}`,
            path: at(key),
          });
        }
        if (names.size === 0) return;
        for (const { field, message } of wrongNames(input, names)) {
          addIssue({ message, path: at(field) });
        }
      }),
      v.transform(() => ({})),
      v.metadata({
        properties: Object.fromEntries(
          Object.entries(ignored).map(([name, description]) => [
            name,
            standing.has(name)
              ? { type: ["string", "null"], description }
              : { readOnly: true, description },
          ]),
        ),
        named: [...names.keys()],
        additionalProperties: false,
      }),
    ),
  ]);
}

/**
 * A union that validates an entry by the option that `choose` selects, and reports only that
 * option's errors. The conversion to JSON Schema, which needs all options, passes undefined.
 */
export function chosen<T>(
  options: v.GenericSchema<unknown, T>[],
  choose: (entry: unknown) => v.GenericSchema<unknown, T>,
) {
  return v.lazy((entry): v.GenericSchema<unknown, T> =>
    entry === undefined ? v.union(options) : choose(entry)
  );
}

/** The keys that no two entries of an array may share. */
export interface Distinct {
  /**
   * The fields that make the key. A duplicate is reported at the first. Empty if entries are single
   * values.
   */
  fields: readonly string[];
  /** Returns the key of an entry, which its duplicates share, or undefined if it has none. */
  keyOf: (entry: Record<string, unknown>) => string | undefined;
}

/** Equal single values. */
export const SAME: Distinct = {
  fields: [],
  keyOf: (value: unknown) => typeof value === "string" ? value : undefined,
};

interface ListLimits {
  min?: number | undefined;
  max?: number | undefined;
  distinct?: readonly Distinct[];
}

/**
 * An array of at most `MAX_ENTRIES`, or within other limits. The entries of a longer
 * array are not validated.
 */
export function array<const S extends v.GenericSchema>(
  entry: S,
  { min = 0, max = MAX_ENTRIES, distinct = [] }: ListLimits = {},
) {
  const bounded = v.pipe(
    v.array(v.unknown(), "invalid_type: Expected an array"),
    v.maxLength(max, `too_many: At most ${max} entries`),
  );
  return v.pipe(
    min === 0 ? bounded : v.pipe(bounded, v.minLength(min, `too_few: At least ${min} entry`)),
    boundedArray(entry),
    unique(...distinct),
  );
}

/** An array of at most `MAX_ENTRIES`, unique by `keys`. */
export function list<const S extends v.GenericSchema>(
  entry: S,
  ...keys: string[]
) {
  const [key, ...others] = keys;
  return array(entry, { distinct: key ? [distinctBy(key, ...others)] : [] });
}

/** No two entries may have the same values in these fields, of which the first is a string. */
export function distinctBy(field: string, ...others: string[]): Distinct {
  const fields = [field, ...others];
  return {
    fields,
    keyOf: (entry) =>
      typeof entry[field] === "string"
        ? JSON.stringify(fields.map((name) => entry[name] ?? null))
        : undefined,
  };
}

/** Refuses an entry that has the key of an earlier entry. */
export function unique<T>(...distinct: readonly Distinct[]) {
  return v.rawCheck<T>(({ dataset, addIssue }) => {
    const entries: unknown = dataset.value;
    if (!Array.isArray(entries)) return;
    const issues = Map.groupBy(
      dataset.issues ?? [],
      ({ path }) => path?.[0].key,
    );
    for (const { fields, keyOf } of distinct) {
      const report = (message: string, index: number) =>
        addIssue({ message, path: at(index, ...fields.slice(0, 1)) });
      const keys = entries.map((entry, i) =>
        catchDefect(
          () => checkWithRule(entry, fields, refusedFields(issues.get(i), 1), keyOf),
          () => void report(DEFECT_TEXT, i),
        )
      );
      for (const index of repeated(keys)) report(DUPLICATE, index);
    }
  });
}

/** The indexes of the keys that occur earlier. */
export function repeated(keys: readonly (string | undefined)[]): number[] {
  const seen = new Set<string>();
  return keys.flatMap((key, index) => {
    if (key === undefined) return [];
    const isRepeated = seen.has(key);
    seen.add(key);
    return isRepeated ? index : [];
  });
}

const NONE: ReadonlySet<unknown> = new Set();

/**
 * Returns the fields of an entry that have issues. Undefined stands for the entry itself. `depth`
 * is the index of the field in the path of an issue.
 */
export function refusedFields(
  issues: readonly v.BaseIssue<unknown>[] | undefined,
  depth = 0,
): ReadonlySet<unknown> {
  return issues ? new Set(issues.map(({ path }) => path?.[depth]?.key)) : NONE;
}

/**
 * Checks an entry by a rule on these fields. Returns undefined without a check if one of the fields is
 * invalid. A rule therefore sees only valid values, as they were sent or as they are stored.
 */
export function checkWithRule<T>(
  entry: unknown,
  fields: readonly string[],
  refused: ReadonlySet<unknown>,
  rule: (entry: Record<string, unknown>) => T | undefined,
): T | undefined {
  if (refused.has(undefined) || fields.some((name) => refused.has(name))) {
    return;
  }
  if (fields.length === 0) return rule(entry as Record<string, unknown>);
  if (!isObject(entry)) return;
  const read: Record<string, unknown> = {};
  for (const name of fields) if (name in entry) read[name] = entry[name];
  return rule(read);
}

/** The values of valid entries, by the schema and the entry (`validEntries`). */
const validBySchema = new WeakMap<v.GenericSchema, WeakMap<object, unknown>>();

/**
 * A cache of valid entries, with their values as the schema returns them. An array of this schema
 * does not validate them again: `validate_in_turns.ts` fills it.
 */
export function validEntries(schema: v.GenericSchema): WeakMap<object, unknown> {
  return validBySchema.getOrInsertComputed(schema, () => new WeakMap());
}

/**
 * `v.array` without the validation of more entries after `MAX_ERRORS`: an error takes
 * fifty times as long as a valid value, and a body has room for 100,000.
 */
function boundedArray<const S extends v.GenericSchema>(
  entry: S,
): v.ArraySchema<S, undefined> {
  // A schema runs to its end before it runs again.
  let errors = 0;
  const valid = validEntries(entry);
  const counted = v.array({
    ...entry,
    "~run"(value, config) {
      if (errors > MAX_ERRORS) return { typed: true, value: value.value };
      const known = valid.get(value.value as object);
      if (known !== undefined) return { typed: true, value: known };
      const result = entry["~run"](value, config);
      errors += result.issues?.length ?? 0;
      return result;
    },
  } as S);
  return {
    ...counted,
    item: entry,
    "~run"(dataset, config) {
      errors = 0;
      return counted["~run"](dataset, config);
    },
  };
}

export const DUPLICATE = "duplicate: An earlier entry has the same value";

/** The path to an issue. `errors.ts` reads only its keys. */
export function at(...keys: (string | number)[]) {
  return keys.map((key) => ({ key })) as [v.IssuePathItem];
}

/** Whether the value is a JSON object. A raw number is not, although it is an object in JavaScript. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Caches a function by its argument, because the OpenAPI document names schemas by identity. */
export function remembered<D extends object, T>(make: (described: D) => T) {
  const made = new WeakMap<D, T>();
  return (described: D): T => made.getOrInsertComputed(described, make);
}

/** The objects of an array, or none of another value. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Whether two projected values are equal, whatever the order of the fields of their objects. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length &&
      a.every((each, i) => isEqual(each, b[i]));
  }
  if (JSON.isRawJSON(a)) return JSON.isRawJSON(b) && a.rawJSON === b.rawJSON;
  if (!isObject(a) || !isObject(b)) return false;
  for (const key in a) if (!isEqual(a[key], b[key])) return false;
  for (const key in b) {
    if (a[key] === undefined && b[key] !== undefined) return false;
  }
  return true;
}

/** A key for maps of projected values: equal values have equal keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
