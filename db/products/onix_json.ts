import { raw, type Statement } from "../connections/sql.ts";

/** The territory columns of a market or sales right. */
export const TERRITORY_COLUMNS = [
  "countries_included",
  "countries_excluded",
  "regions_included",
  "regions_excluded",
];

/** The label of the column's code in this ONIX list. */
export function onixLabel(list: number, column: string): Statement {
  return raw(
    `(select c.label from onix_codes c where c.list = ${list} and c.code = ${column})`,
  );
}

/** The countries and regions of row `alias`, as a JSON object. */
export function territoryOf(alias: string): Statement {
  const arrays = TERRITORY_COLUMNS.map((column) =>
    `coalesce(${alias}.${column}, '{}') as ${column}`
  );
  return raw(
    `(select row_to_json(territory) from (select ${arrays}) territory)`,
  );
}
