import { isEqual } from "../../objects.ts";
import type { Book } from "./mapped.ts";
import { MAPPED_FIELDS } from "./mapping.ts";
import { MERGED } from "./merged_arrays.ts";
import type { RecordValues } from "./reading.ts";

/*
 * What a product says otherwise than its record for another reason than an edit. The next
 * comparison must not take it for one.
 */

/** The fields in which a product differs from a record, with the product's values. */
export type Differences = Readonly<Record<string, unknown>>;

/**
 * The fields in which a product differs from the record that was just written to it although
 * nobody has edited them, such as the name of a contributor that was found by ISNI, and
 * whether others differ, too.
 */
export function differencesOf(
  book: Book,
  values: RecordValues,
  edited: ReadonlySet<string>,
  before: Differences | null,
): { differences: Differences | null; isEdited: boolean } {
  const differing: Record<string, unknown> = {};
  let isEdited = false;
  for (const [name, field] of MAPPED_FIELDS) {
    const is = field.project(field.valueIn(book));
    if (isEqual(is, field.project(values[name]))) continue;
    if (!edited.has(name) && !(name in MERGED)) differing[name] = is ?? null;
    else {
      isEdited = true;
      const known = before?.[name];
      // An edited field keeps the difference that was known before the edit.
      if (known !== undefined && edited.has(name)) differing[name] = known;
    }
  }
  const hasAny = Object.keys(differing).length > 0;
  return { differences: hasAny ? differing : null, isEdited };
}
