import { isEqual } from "../../../../schema/objects.ts";
import type { Book } from "../mapping/mapped.ts";
import { MAPPED_FIELDS } from "../mapping/mapping.ts";
import { MERGED_ARRAYS } from "./merged_arrays.ts";
import type { RecordValues } from "../mapping/reading.ts";

/*
 * Differences between a product and its sender's record that are not edits. A contributor found by
 * ISNI may have another name than the record. The next merge must not take that for an edit, so the
 * difference is stored with the record.
 */

/** The fields in which a product differs from a record, with the product's values. */
export type Differences = Readonly<Record<string, unknown>>;

/**
 * Compares a product with the record just written to it. Returns the fields that differ without an
 * edit, and whether fields with a local edit differ too (`isEdited`).
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
      const knownBase = known?.[name];
      // A field with a local edit keeps the difference from the base.
      if (knownBase !== undefined && edited.has(name)) differing[name] = knownBase;
    }
  }
  const hasAny = Object.keys(differing).length > 0;
  return { differences: hasAny ? differing : null, isEdited };
}
