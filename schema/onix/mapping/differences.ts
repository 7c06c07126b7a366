import { isEqual } from "../../objects.ts";
import type { Book } from "./mapped.ts";
import { MAPPED_FIELDS } from "./mapping.ts";
import { MERGED_ARRAYS } from "./merged_arrays.ts";
import type { RecordValues } from "./reading.ts";

/*
 * What a product says otherwise than its record for another reason than an edit. The next
 * comparison must not take it for one.
 */

/** The fields in which a product differs from a record, with the product's values. */
export type Differences = Readonly<Record<string, unknown>>;

/**
 * The fields in which a product differs from the record just written to it although nobody has
 * edited them, such as the name of a contributor found by ISNI. `isEdited`: it also differs in
 * fields that were edited here.
 */
export function differencesOf(
  book: Book,
  values: RecordValues,
  edited: ReadonlySet<string>,
  known: Differences | null,
): { differences: Differences | null; isEdited: boolean } {
  const differing: Record<string, unknown> = {};
  let isEdited = false;
  for (const [name, field] of MAPPED_FIELDS) {
    const is = field.project(field.valueIn(book));
    if (isEqual(is, field.project(values[name]))) continue;
    if (!edited.has(name) && !(name in MERGED_ARRAYS)) differing[name] = is ?? null;
    else {
      isEdited = true;
      const knownBefore = known?.[name];
      // An edited field keeps the difference that was known before the edit.
      if (knownBefore !== undefined && edited.has(name)) differing[name] = knownBefore;
    }
  }
  const hasAny = Object.keys(differing).length > 0;
  return { differences: hasAny ? differing : null, isEdited };
}
