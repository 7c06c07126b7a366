import * as v from "valibot";
import { Day } from "./values.ts";

/** Unknown fields reported for one object. */
const MAX_UNKNOWN = 20;

/** An object with these fields. Others are dropped. */
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
 * An object with these fields and no others. Unknown fields are errors. The fields
 * in `answered` occur only in responses: they are accepted and dropped, so that
 * clients can send a response back.
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
        if (!dataset.typed || !isObject(dataset.value)) return;
        const input = dataset.value;
        const unknown = Object.keys(input).filter((key) => !known.has(key));
        for (const key of unknown.slice(0, MAX_UNKNOWN)) {
          addIssue({
            message: "unknown_field: Unknown field",
            path: at(key),
          });
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

/** The object, if its `valid_to` is not before its `valid_from`. */
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

/** The fields of a new record: one that can be null can be absent. */
export function creating<const E extends v.ObjectEntries>(entries: E) {
  return Object.fromEntries(
    Object.entries(entries).map(([field, schema]) => [
      field,
      v.is(schema, null) ? v.optional(schema) : schema,
    ]),
  ) as Creating<E>;
}

/** The fields of a change: an absent one keeps its value. */
export function changing<const E extends v.ObjectEntries>(entries: E) {
  return v.partial(v.object(entries)).entries;
}

/**
 * The option that `choose` selects for the entry: only its errors are reported.
 * The entry is undefined only in the conversion to JSON Schema, which needs all
 * options.
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
 * An array of at most 500 entries, which are unique by their values of `keys`. The
 * entries of a longer array are not validated.
 */
export function list<const S extends v.GenericSchema>(
  entry: S,
  ...keys: string[]
) {
  return v.pipe(
    v.array(v.unknown(), "invalid_type: Expected an array"),
    v.maxLength(500, "too_many: At most 500 entries"),
    v.array(entry),
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

/** The path to an error: its keys are all that is read of it. */
export function at(...keys: (string | number)[]) {
  return keys.map((key) => ({ key })) as [v.IssuePathItem];
}

/** Whether the value is a JSON object. A raw number is not, although it is an object in JavaScript. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) && !JSON.isRawJSON(value);
}
