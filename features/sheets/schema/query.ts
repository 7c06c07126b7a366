import * as v from "valibot";
import { type ListQuery, ProductParameters } from "../../../schema/list_query.ts";
import { described, oneOf, optionalFlag } from "../../../schema/values.ts";
import { MAX_COLUMNS } from "./columns.ts";
import { DATE_ORDERS, type Decimal, DECIMALS } from "./cells.ts";

/*
 * The parameters of sheets. For example, `columns=isbn13,custom_fields[Shelf, new].field_value`
 * names two columns.
 */

export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;

const { page: _, limit: __, include: ___, ...FILTERS } = ProductParameters.entries;

/** The end of a name with brackets: `].retail_price`. */
const BRACKET_END = /\](?:\.\w+)?\s*$/;

/**
 * Splits a list of columns. A comma within brackets separates nothing, and brackets end at the last
 * `]` of a name: `custom_fields[Shelf, new].field_value,title` has two.
 */
export function columnNames(list: string): string[] {
  const parts = list.split(",");
  const isEnd = parts.map((part) => BRACKET_END.test(part));
  const lastEnd = isEnd.lastIndexOf(true);
  const names: string[] = [];
  for (let first = 0; first < parts.length;) {
    // A bracket that is never closed encloses no comma.
    const isOpen = parts[first]!.includes("[") && first < lastEnd;
    const last = isOpen ? isEnd.indexOf(true, first) : first;
    const name = parts.slice(first, last + 1).join(",");
    if (name) names.push(name.trim());
    first = last + 1;
  }
  return names;
}

/** A list of columns. */
function columns(example: string[]) {
  return v.optional(
    v.pipe(
      v.string(),
      v.metadata({ type: "array", items: { type: "string" }, examples: [example] }),
      v.transform(columnNames),
      v.minLength(1, "required: Name the columns"),
      v.maxLength(MAX_COLUMNS, `too_many: At most ${MAX_COLUMNS} columns`),
    ),
  );
}

/** The parameters of `GET /xlsx/products`. */
export const WorkbookParameters = v.object({
  columns: described(
    "The columns, in their order. A comma within brackets does not separate columns. Default: the columns that most people need, with a price of each currency, at most 20 prices of suppliers, and a value of each custom field: at most 1,000.",
    columns(["isbn13", "title", "product_prices[GBP].retail_price"]),
  ),
  ...FILTERS,
});

/** The query of an export. */
export type WorkbookQuery =
  & Omit<ListQuery, "page" | "limit" | "include">
  & { columns?: string[] | undefined };

/** The parameters of `GET /csv/products`. */
export const SheetParameters = v.object({
  columns: WorkbookParameters.entries.columns,
  delimiter: described(
    "What separates the cells.",
    v.optional(oneOf(...Object.keys(DELIMITERS)), "comma"),
  ),
  decimal: described(
    "The decimal sign of amounts.",
    v.optional(oneOf(...DECIMALS), "point"),
  ),
  ...FILTERS,
});

export type SheetQuery = WorkbookQuery & { delimiter: string; decimal: Decimal };

export const EMPTY = ["keep", "clear"] as const;
const STALE_ROWS = ["refuse", "apply"] as const;

export const HEADERS = ["present", "absent"] as const;

/** The parameters of `POST /xlsx/products`. */
export const WorkbookImportParameters = v.object({
  columns: described(
    "The columns of the file, in its order, in place of those that its header names. A column `#` is not read.",
    columns(["isbn13", "title", "#", "product_prices[GBP].retail_price"]),
  ),
  header: described(
    "Whether the first row is a header, or, with `columns`, a product.",
    v.optional(oneOf(...HEADERS), "present"),
  ),
  dry_run: optionalFlag(
    "Whether to report on the sheet without writing anything.",
  ),
  create: optionalFlag(
    "Whether a row creates a product if no product has its ISBN, or if the row has no id, code or ISBN.",
  ),
  empty: described(
    "What an empty cell does: it keeps the value of its place, or clears it.",
    v.optional(oneOf(...EMPTY), "keep"),
  ),
  stale: described(
    "What the import does with a row whose product is newer than its `updated_at`: it refuses the row as `stale`, or applies it.",
    v.optional(oneOf(...STALE_ROWS), "refuse"),
  ),
  dates: described(
    "The order of dates that are not written `YYYY-MM-DD`.",
    v.optional(oneOf(...DATE_ORDERS), "ymd"),
  ),
  create_names: optionalFlag(
    "Whether the import creates unknown contributors, publishers, imprints and collections.",
  ),
});

/** The parameters of `POST /csv/products`. */
export const SheetImportParameters = v.object({
  ...WorkbookImportParameters.entries,
  decimal: described(
    "The decimal sign of amounts. Default: the one that fits all amounts of the sheet.",
    v.optional(oneOf(...DECIMALS)),
  ),
});

/** The options of an import. Numbers of a workbook have no decimal sign. */
export type SheetImportQuery =
  & v.InferOutput<typeof WorkbookImportParameters>
  & Partial<v.InferOutput<typeof SheetImportParameters>>;
