import { isShared, type RecordTable } from "../schema/records.ts";
import { json, raw, sql, type Statement } from "./connections/sql.ts";

/*
 * Records are found by name in one way, whoever asks: a body with names for ids, a record of
 * ONIX, a row of a sheet, `?name=`. An index finds them by what searches compare, which ignores
 * case and accents, and what it finds is compared as a name.
 */

/** A name as names are compared: NFC, with each run of white space as one space. SQL has the same. */
export function comparedName(name: string): string {
  return name.normalize("NFC").replace(/\s+/g, " ").trim();
}

/** Records by their names, those of one name in the order in which they were added. */
export class RecordsByName<R extends { name: string }> {
  readonly #records = new Map<string, R[]>();

  constructor(records: readonly R[]) {
    for (const record of records) this.add(record);
  }

  add(record: R): void {
    this.#records.getOrInsert(comparedName(record.name), []).push(record);
  }

  named(name: string): readonly R[] {
    return this.#records.get(comparedName(name)) ?? [];
  }
}

/** The condition that record `r` may have one of these names. `RecordsByName` tells whether it has. */
export function mayBeNamed(
  table: RecordTable,
  names: readonly string[],
): Statement {
  // The partial index requires the first condition, and a list in its order a single key.
  const isIndexed = raw(isShared(table) ? "" : "r.name_key >= '' and");
  const isKey = names.length === 1 ? sql`= left(key_of_name(${names[0]}), 200)` : sql`= any(array(
      select left(key_of_name(x.name), 200)
      from jsonb_array_elements_text(${json([...new Set(names)])}) x (name)
    ))`;
  return sql`${isIndexed} left(${nameKey(table)}, 200) ${isKey}`;
}

/** What searches compare of the name of record `r`. An organization's own records store it. */
export function nameKey(table: RecordTable): Statement {
  return raw(isShared(table) ? "key_of_name(r.name)" : "r.name_key");
}
