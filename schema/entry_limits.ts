import * as v from "valibot";
import { isObject, MAX_ENTRIES } from "./objects.ts";

/* Limits the number of entries of a body: of each array, and of all arrays of a tree together. */

/** The maximum number of entries in all arrays of a tree. */
const MAX_ROWS = 20_000;

/** Refuses a tree of arrays with more entries than a body may have. */
export const BoundedTree = v.pipe(
  v.unknown(),
  v.check(
    (tree) => countEntries(tree) <= MAX_ROWS,
    `too_many: At most ${MAX_ROWS} entries in all arrays together`,
  ),
);

function countEntries(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, inner) => sum + countEntries(inner),
    Array.isArray(value) ? value.filter(isObject).length : 0,
  );
}

/**
 * Returns the fault of a body that was combined from valid arrays, if one of them has too many
 * entries.
 */
export function overfullIn(body: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const full = overfullAt(`/${name}`, value);
    if (full !== undefined) return `At most ${MAX_ENTRIES} entries at ${full}`;
    if (countEntries(value) > MAX_ROWS) return `At most ${MAX_ROWS} entries in all at /${name}`;
  }
}

function overfullAt(pointer: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value) && value.length > MAX_ENTRIES) return pointer;
  for (const [name, inner] of Object.entries(value)) {
    const full = overfullAt(`${pointer}/${name}`, inner);
    if (full !== undefined) return full;
  }
}
