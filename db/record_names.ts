import { comparedName } from "../schema/named.ts";
import { isShared, type RecordTable } from "../schema/records.ts";
import { json, raw, sql, type Statement } from "./connections/sql.ts";

/*
 * Finds records by name. Bodies with names for ids, records of ONIX, rows of sheets and `?name=`
 * all use it. An index finds candidates by the key that searches compare, which ignores case and
 * accents. The candidates are then compared as names.
 *
 * For example, "penguin" finds the candidate "Penguin", which is another name, and so no match.
 */

/** Records by their names. Several of one name are in the order in which they were added. */
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

/**
 * The condition that record `r` may have one of these names. `RecordsByName` decides whether it
 * has.
 */
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

/** The key of the name of record `r` that searches compare. An organization's own records store it. */
export function nameKey(table: RecordTable): Statement {
  return raw(isShared(table) ? "key_of_name(r.name)" : "r.name_key");
}
