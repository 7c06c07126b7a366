import {
  type Column,
  columnOf,
  defaultColumns,
  type Known,
  UnknownColumn,
} from "../../schema/sheets/columns.ts";
import { invalid } from "../../schema/errors.ts";
import { detailAt } from "../../schema/errors.ts";
import { organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";

/** What the organization calls its own, for the names of columns. */
export async function readKnown(
  database: Pick<Queries, "lookUp">,
): Promise<Known> {
  const fields = await database.lookUp(sql<{ name: string }>`
    select f.name from custom_fields f
    where f.organization_id = ${organization}
    order by f.name, f.id
  `);
  return { customFields: [...new Set(fields.map(({ name }) => name))] };
}

/** The columns of an export. Throws `VALIDATION_ERROR` for an unknown one. */
export async function exportColumns(
  database: Pick<Queries, "lookUp" | "scan">,
  names: readonly string[] | undefined,
): Promise<Column[]> {
  const known = await readKnown(database);
  const given = names ?? defaultColumns(await readCurrencies(database), known);
  const columns: Column[] = [];
  const faults: string[] = [];
  for (const name of given) {
    try {
      columns.push(columnOf(name, known));
    } catch (error) {
      if (!(error instanceof UnknownColumn)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length === 0) return columns;
  throw invalid(
    "The query",
    faults.map((text) => {
      const { code, message } = detailAt("", text);
      return { parameter: "columns", code, message };
    }),
  );
}

async function readCurrencies(
  database: Pick<Queries, "scan">,
): Promise<string[]> {
  const rows = await database.scan(sql<{ currency_code: string }>`
    select distinct r.currency_code from product_prices r
    where r.organization_id = ${organization}
    order by r.currency_code
  `);
  return rows.map(({ currency_code }) => currency_code);
}
