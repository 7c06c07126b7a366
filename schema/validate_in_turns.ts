import * as v from "valibot";
import { arraysIn, type Form, givenEntryOf } from "./bodies.ts";
import { catchDefect } from "./defects.ts";
import { MAX_ERRORS } from "./errors.ts";
import type { ArrayField, Fields } from "./fields.ts";
import { isObject, MAX_ENTRIES, validEntries } from "./objects.ts";
import type { InTurns } from "./turns.ts";

/*
 * Validates the entries of a long body one after the other, so that other requests run in between:
 * 10,000 prices take 100 ms. The innermost entries are validated first. The results are cached, and
 * the validation of the full body then takes them from there (`validEntries`).
 *
 *     yield* validateEntries(UpdateProduct, body);
 *     v.safeParse(UpdateProduct, body);
 *
 * An invalid entry is not cached: the validation of the full body finds its errors again.
 */

/** Validates the entries of all arrays in a body of this schema, if it is that of products. */
export function* validateEntries(schema: v.GenericSchema, body: unknown): InTurns<void> {
  const { form, arrays } = arraysIn(schema, body);
  for (const [array, value] of arrays) yield* validateArray(array, value, form);
}

function* validateArray(array: ArrayField, entries: unknown, form: Form): InTurns<void> {
  if (array.kind === "list" || !Array.isArray(entries) || entries.length > MAX_ENTRIES) return;
  const schema = givenEntryOf(array, form);
  const valid = validEntries(schema);
  let errors = 0;
  for (const entry of entries) {
    if (!isObject(entry) || valid.has(entry)) continue;
    yield* validateBelow(array.fields, entry);
    yield;
    const result = catchDefect(() => v.safeParse(schema, entry), () => undefined);
    if (result?.success) valid.set(entry, result.output);
    else errors += result?.issues.length ?? 1;
    // The validation of the full body ends here, too.
    if (errors > MAX_ERRORS) return;
  }
}

/** Validates the entries of the arrays in an entry with these fields. */
function* validateBelow(fields: Fields, entry: Record<string, unknown>): InTurns<void> {
  for (const [name, field] of Object.entries(fields)) {
    const value = entry[name];
    if (field.kind === "group") {
      if (isObject(value)) yield* validateBelow(field.fields, value);
    } else if (field.kind === "rows" || field.kind === "values") {
      yield* validateArray(field, value, "new");
    }
  }
}
