import type { Column, Field } from "../../../../schema/fields.ts";
import { RECORDS } from "../../../../schema/records.ts";

/* The tables whose rows ONIX records refer to by name, and the columns that an import writes. */

/** A record of one of the tables. */
export interface LinkRow extends Record<string, unknown> {
  id: string;
  name: string;
}

export const LINK_TABLES = [
  "publishers",
  "imprints",
  "collections",
  "contributors",
] as const;

export type LinkTable = typeof LINK_TABLES[number];

/** The identifiers that find a record before its name is compared. */
export const IDENTIFIERS: Record<LinkTable, readonly string[]> = {
  publishers: [],
  imprints: [],
  collections: [],
  contributors: ["orcid", "isni"],
};

/** The columns of a table, besides the name, that an ONIX record may give a value. */
export const IMPORTED_COLUMNS = columnsOf(() => true);

/** The columns that an import fills where they are null: those without a fallback. */
export const FILLABLE_COLUMNS = columnsOf(({ fallback }) => fallback === undefined);

function columnsOf(
  isOne: (column: Column) => boolean,
): Record<LinkTable, readonly string[]> {
  return valuesByTable((table) =>
    Object.entries<Field>(RECORDS[table].fields).flatMap(([name, field]) =>
      name !== "name" && field.kind === "column" && field.body && isOne(field) ? [name] : []
    )
  );
}

/** Makes an object with a value for each table. */
export function valuesByTable<T>(valueOf: (table: LinkTable, i: number) => T) {
  return Object.fromEntries(
    LINK_TABLES.map((table, i) => [table, valueOf(table, i)]),
  ) as Record<LinkTable, T>;
}
