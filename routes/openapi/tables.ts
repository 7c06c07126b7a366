import { pascal } from "../../schema/fields.ts";
import {
  nounOf,
  OWN_TABLES,
  pathOfTable,
  RECORDS,
  type RecordTable,
  SHARED_TABLES,
} from "../../schema/records.ts";

/*
 * Writes out the operations that all tables of records share. They stand in the table of operations
 * once, with `{records}` for any table of an organization and `{codes}` for any code list. For
 * example, `GET /{records}/{id}` becomes `GET /publishers/{id}` and others.
 */

/** The tables that a path parameter stands for. */
export const TABLES_IN_PATH: Record<string, readonly RecordTable[]> = {
  records: OWN_TABLES,
  codes: SHARED_TABLES,
};

/** Replaces the words in braces by those of a table. */
export function forTable(text: string, table: RecordTable): string {
  const { type } = RECORDS[table];
  const noun = nounOf(table);
  const path = pathOfTable(table).slice(1);
  const words: Record<string, string> = {
    "records": path,
    "codes": path,
    "Record": type,
    "Code": type,
    "Records": pascal(table),
    "Codes": pascal(table),
    "record": noun,
    "a record": /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`,
    "plural": table.replaceAll("_", " "),
  };
  return text.replace(/\{([\w ]+)\}/g, (word, name) => words[name] ?? word);
}

/** Returns the operations, with those on tables written out for each table. */
export function expandTables<O extends { key: string }>(
  operations: readonly O[],
): O[] {
  return operations.flatMap((operation) => {
    const tables = recordTables(operation);
    if (!tables) return [operation];
    const all = operations.filter((other) => recordTables(other) === tables);
    return operation === all[0]
      ? tables.flatMap((table) => all.map((one) => withWords(one, table)))
      : [];
  });
}

function recordTables({ key }: { key: string }) {
  const [, parameter = ""] = /^\w+ \/\{(\w+)\}/.exec(key) ?? [];
  return TABLES_IN_PATH[parameter];
}

function withWords<O extends object>(operation: O, table: RecordTable): O {
  return Object.fromEntries(
    Object.entries(operation).map(([name, value]) => [
      name,
      typeof value === "string" ? forTable(value, table) : value,
    ]),
  ) as O;
}
