import { stringify } from "csv-stringify/sync";
import { invalid, splitMessage } from "../../schema/errors.ts";
import type { ListQuery } from "../../schema/list_query.ts";
import { writeCell } from "../../schema/sheets/cells.ts";
import {
  columnOf,
  defaultColumns,
  type SheetColumn,
  valueOfColumn,
} from "../../schema/sheets/columns.ts";
import { DELIMITERS, type SheetQuery } from "../../schema/sheets/query.ts";
import { isOneOf, organization, sql } from "../connections/sql.ts";
import type { Queries } from "../database.ts";
import { parseProduct, type ProductJson } from "../products/document.ts";
import { selectProducts } from "../products/read.ts";
import { groupsOf, type SizedProduct, sizeOfStored } from "../products/read_many.ts";
import { listIds } from "../products/selected.ts";
import { readAhead } from "../read_ahead.ts";

/* The products of the catalogue as a sheet. */

/**
 * The length of 500 ids, each of 36 characters and a comma: the sizes of so many products are read
 * at once. All ids stay one text, which takes a fraction of the memory of an array.
 */
const IDS_LENGTH = 500 * 37;

/** The rows that are written before other requests run. */
const ROWS_AT_ONCE = 100;

/**
 * Writes the products that a query finds, group by group. The ids are read first: a client may
 * take its time, and no transaction waits for it. A product that is deleted meanwhile has no
 * row. `queries` begins a new time limit for each group. Throws `VALIDATION_ERROR` for an
 * unknown column.
 */
export async function exportSheet(
  queries: () => SheetReader,
  { columns: names, delimiter: name, decimal, ...query }: SheetQuery,
): Promise<AsyncGenerator<string>> {
  const columns = await findColumns(queries(), names);
  const ids = await listIds(queries(), query as ListQuery);
  const delimiter = DELIMITERS[name as keyof typeof DELIMITERS];

  /** The products, in groups that bound the memory. */
  async function* groups(): AsyncGenerator<ProductJson[], void> {
    for (let from = 0; from < ids.length; from += IDS_LENGTH) {
      const page = ids.slice(from, from + IDS_LENGTH - 1).split(",");
      const sized = await queries().scan(sql<SizedProduct>`
        select p.id, ${sizeOfStored} as bytes from products p
        where p.organization_id = ${organization} and p.id ${isOneOf(page)}
      `);
      for (const group of groupsOf(inOrderOf(sized, page))) {
        yield inOrderOf(await queries().scan(selectProducts(group)), group);
      }
    }
  }

  function rowOf({ product: text }: ProductJson): string[] {
    const product = parseProduct(text);
    return columns.map((column) => writeCell(valueOfColumn(product, column), column, decimal));
  }

  async function* parts(): AsyncGenerator<string> {
    const header = columns.map(({ name }) => name);
    yield BYTE_ORDER_MARK + csvOf([header], delimiter);
    for await (const group of readAhead(groups())) {
      for (let from = 0; from < group.length; from += ROWS_AT_ONCE) {
        yield csvOf(group.slice(from, from + ROWS_AT_ONCE).map(rowOf), delimiter);
      }
    }
  }

  return parts();
}

/** The products in the order of the ids. */
function inOrderOf<P extends { id: string }>(products: readonly P[], ids: readonly string[]): P[] {
  const byId = new Map(products.map((product) => [product.id, product]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** What reads the products of an export. */
type SheetReader = Pick<Queries, "lookUp" | "scan">;

async function findColumns(
  database: SheetReader,
  names: readonly string[] | undefined,
): Promise<SheetColumn[]> {
  const customFields = await readCustomFields(database);
  const columns = (names ??
    defaultColumns(await readCurrencies(database), customFields))
    .map((name) => columnOf(name, customFields));
  const faults = columns.filter((column) => typeof column === "string");
  if (faults.length === 0) return columns as SheetColumn[];
  throw invalid(
    "The query",
    faults.map((text) => ({ ...splitMessage(text), parameter: "columns" })),
  );
}

/** The names of the organization's custom fields, each of which can be a column. */
export async function readCustomFields(
  database: Pick<SheetReader, "lookUp">,
): Promise<string[]> {
  const fields = await database.lookUp(sql<{ name: string }>`
    select distinct f.name from custom_fields f
    where f.organization_id = ${organization}
    order by f.name
  `);
  return fields.map(({ name }) => name);
}

async function readCurrencies(database: SheetReader): Promise<string[]> {
  const rows = await database.scan(sql<{ currency_code: string }>`
    select distinct r.currency_code from product_prices r
    where r.organization_id = ${organization}
    order by r.currency_code
  `);
  return rows.map(({ currency_code }) => currency_code);
}

/** The rows as CSV (RFC 4180). */
export function csvOf(rows: string[][], delimiter: string): string {
  return stringify(rows, {
    delimiter,
    record_delimiter: "\r\n",
    // A blank at an end is kept by every program if it is quoted.
    quoted_match: /[\r\n]|^\s|\s$/,
  });
}

/** The mark by which spreadsheet programs know UTF-8. */
export const BYTE_ORDER_MARK = "\ufeff";
