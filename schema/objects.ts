import * as v from "valibot";
import { boundedArray } from "./bounded_array.ts";
import { Day } from "./values.ts";

/** The maximum number of unknown fields reported per object. */
const MAX_UNKNOWN = 20;

/** The maximum number of entries of an array, in a body and stored. */
export const MAX_ENTRIES = 500;

/** An object with these fields. Other fields are dropped. */
export function object<const E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    v.custom<Record<string, unknown>>(
      isObject,
      "invalid_type: Expected an object",
    ),
    v.object(entries),
  );
}

/**
 * An object with only these fields. Unknown fields are errors. The fields in
 * `answered` occur only in responses. Bodies may contain them, and they are dropped,
 * so that clients can send a response back.
 */
export function fields<const E extends v.ObjectEntries>(
  entries: E,
  answered: readonly string[] = [],
) {
  const known = new Set([...Object.keys(entries), ...answered]);
  return v.intersect([
    object(entries),
    v.pipe(
      v.unknown(),
      v.rawCheck(({ dataset, addIssue }) => {
        const input = dataset.value;
        if (!isObject(input)) return;
        const unknown = Object.keys(input).filter((key) => !known.has(key));
        for (const key of unknown.slice(0, MAX_UNKNOWN)) {
          addIssue({ message: "unknown_field: Unknown field", path: at(key) });
        }
      }),
      v.transform(() => ({})),
      v.metadata({
        properties: Object.fromEntries(
          answered.map((name) => [name, { readOnly: true }]),
        ),
        additionalProperties: false,
      }),
    ),
  ]);
}

/** The object, with an error if its `valid_to` is before its `valid_from`. */
export function dated<const S extends v.GenericSchema>(object: S) {
  return v.pipe(
    object,
    v.rawCheck<v.InferOutput<S>>(({ dataset, addIssue }) => {
      const input: unknown = dataset.value;
      if (!isObject(input)) return;
      const { valid_from: from, valid_to: to } = input;
      if (!v.is(Day, from) || !v.is(Day, to) || from <= to) return;
      addIssue({
        message: "invalid_date: Expected a date that is not before valid_from",
        path: at("valid_to"),
      });
    }),
  );
}

type Creating<E> = {
  [F in keyof E]: E[F] extends v.GenericSchema<infer I>
    ? null extends I ? v.OptionalSchema<E[F], undefined> : E[F]
    : never;
};

/** The fields of a new record. A nullable field may be absent. */
export function creating<const E extends v.ObjectEntries>(entries: E) {
  return Object.fromEntries(
    Object.entries(entries).map(([field, schema]) => [
      field,
      v.is(schema, null) ? v.optional(schema) : schema,
    ]),
  ) as Creating<E>;
}

/** The fields of an update. An absent field keeps its value. */
export function changing<const E extends v.ObjectEntries>(entries: E) {
  return v.partial(v.object(entries)).entries;
}

/**
 * A union that validates an entry by the option that `choose` selects, and reports
 * only that option's errors. The entry is undefined only in the conversion to JSON
 * Schema, which needs all options.
 */
export function chosen<T>(
  options: v.GenericSchema<unknown, T>[],
  choose: (entry: unknown) => v.GenericSchema<unknown, T>,
) {
  return v.lazy((entry): v.GenericSchema<unknown, T> =>
    entry === undefined ? v.union(options) : choose(entry)
  );
}

/**
 * An array of at most `MAX_ENTRIES`, unique by `keys`. The entries of a longer array
 * are not validated.
 */
export function list<const S extends v.GenericSchema>(
  entry: S,
  ...keys: string[]
) {
  return v.pipe(
    v.array(v.unknown(), "invalid_type: Expected an array"),
    v.maxLength(MAX_ENTRIES, `too_many: At most ${MAX_ENTRIES} entries`),
    boundedArray(entry),
    v.rawCheck(({ dataset, addIssue }) => {
      const entries: unknown = dataset.value;
      if (keys.length === 0 || !Array.isArray(entries)) return;
      const seen = new Set<string>();
      for (const [index, entry] of entries.entries()) {
        if (!isObject(entry)) continue;
        const values = keys.map((key) => entry[key]);
        if (!values.every((value) => typeof value === "string")) continue;
        const identity = values.join(" ");
        if (seen.has(identity)) {
          addIssue({ message: DUPLICATE, path: at(index, keys[0]!) });
        }
        seen.add(identity);
      }
    }),
  );
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

/**
 * The fields of a valid body that its schema dropped, such as `publisher_name`, or
 * `contributors.contributor_name` in an array.
 */
export function ignoredFields(input: unknown, output: unknown): string[] {
  const names = new Set<string>();
  collect(input, output, "", names);
  return [...names];
}

function collect(
  input: unknown,
  output: unknown,
  at: string,
  names: Set<string>,
): void {
  if (Array.isArray(input) && Array.isArray(output)) {
    input.forEach((entry, i) => collect(entry, output[i], at, names));
  } else if (isObject(input) && isObject(output)) {
    for (const [name, value] of Object.entries(input)) {
      if (!Object.hasOwn(output, name)) names.add(at + name);
      else if (typeof value === "object") {
        collect(value, output[name], `${at}${name}.`, names);
      }
    }
  }
}
