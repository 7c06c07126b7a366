import { stringify } from "csv-stringify/sync";
import type { Entry } from "../../schema/bodies.ts";
import type { ListQuery } from "../../schema/list_query.ts";
import { parseExact } from "../../schema/numbers.ts";
import { cellOf } from "../../schema/sheets/cells.ts";
import { type Column, valueAt } from "../../schema/sheets/columns.ts";
import { DELIMITERS, type SheetQuery } from "../../schema/sheets/query.ts";
import type { Queries } from "../database.ts";
import { selectProducts } from "../products/read.ts";
import { listIds } from "../products/list.ts";
import { exportColumns } from "./columns.ts";

/** The products that are read at once. */
const PAGE = 200;

/** The length of an id in text, with the comma after it. */
const ID_LENGTH = 37;

/** What `csv-stringify` writes between cells and rows. */
export function writeRows(rows: string[][], delimiter: string): string {
  return stringify(rows, {
    delimiter,
    record_delimiter: "\r\n",
    // A blank at an end is kept by every program if it is quoted.
    quoted_match: /[\r\n]|^\s|\s$/,
  });
}

/** The mark by which spreadsheet programs know UTF-8. */
export const BYTE_ORDER_MARK = "\ufeff";

/**
 * Writes the products that a query finds, page by page. The ids are read first: a client may
 * take its time, and no transaction waits for it. A product that is deleted meanwhile has no
 * row. `queries` begins a new time limit for each page.
 */
export async function exportSheet(
  queries: () => Queries,
  { columns: names, delimiter, decimal, ...query }: SheetQuery,
): Promise<AsyncGenerator<string>> {
  const columns = await exportColumns(queries(), names);
  const ids = await listIds(queries(), query as ListQuery);
  return pagesOf(queries, ids, columns, {
    delimiter: DELIMITERS[delimiter as keyof typeof DELIMITERS],
    decimal,
  });
}

async function* pagesOf(
  queries: () => Queries,
  ids: string,
  columns: readonly Column[],
  { delimiter, decimal }: { delimiter: string; decimal: "point" | "comma" },
): AsyncGenerator<string> {
  const write = (rows: string[][]) => writeRows(rows, delimiter);
  yield BYTE_ORDER_MARK + write([columns.map(({ name }) => name)]);
  for (let from = 0; from < ids.length; from += PAGE * ID_LENGTH) {
    const page = ids.slice(from, from + PAGE * ID_LENGTH - 1).split(",");
    const found = await queries().scan(selectProducts(page));
    const products = new Map(found.map(({ id, product }) => [id, product]));
    yield write(page.flatMap((id) => {
      const text = products.get(id);
      if (text === undefined) return [];
      const product = parseExact(text) as Entry;
      return [
        columns.map((column) =>
          cellOf(valueAt(product, column), column, decimal)
        ),
      ];
    }));
  }
}
