import * as v from "valibot";
import { type ListQuery, ProductParameters } from "../list_query.ts";
import { described, flag, oneOf } from "../values.ts";
import { DATE_ORDERS, type Decimal, DECIMALS } from "./cells.ts";

export const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t" } as const;

const { page: _, limit: __, include: ___, ...FILTERS } = ProductParameters.entries;

/** A name ends at a comma that is not within brackets, which end at their last `]`. */
const COLUMN_NAMES = /(?:[^,[]|\[.*?\](?=\.\w+\s*(?:,|$)|\s*(?:,|$)))+/gs;

/** The names in a list of columns. */
export function columnNames(list: string): string[] {
  return list.match(COLUMN_NAMES)?.map((name) => name.trim()) ?? [];
}

/** The parameters of `GET /csv/products`. */
export const SheetParameters = v.object({
  columns: described(
    "The columns, in their order. A comma within brackets does not separate columns. Without it: the columns that most people need, with a price of each currency and a value of each custom field.",
    v.optional(
      v.pipe(
        v.string(),
        v.metadata({
          type: "array",
          items: { type: "string" },
          examples: [["isbn13", "title", "product_prices[GBP].retail_price"]],
        }),
        v.transform(columnNames),
        v.maxLength(1_000, "too_many: At most 1000 columns"),
      ),
    ),
  ),
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

export type SheetQuery =
  & Omit<ListQuery, "page" | "limit" | "include">
  & {
    columns?: string[] | undefined;
    delimiter: string;
    decimal: Decimal;
  };

export const EMPTY = ["keep", "clear"] as const;
export const STALE_ROWS = ["refuse", "apply"] as const;

/** The parameters of `POST /csv/products`. */
export const SheetImportParameters = v.object({
  dry_run: described(
    "Whether to report on the sheet without writing anything.",
    v.optional(flag(), "false"),
  ),
  create: described(
    "Whether a row creates a product if no product has its ISBN, or if it has no id, code or ISBN.",
    v.optional(flag(), "false"),
  ),
  empty: described(
    "What an empty cell does: it keeps the value of its place, or clears it.",
    v.optional(oneOf(...EMPTY), "keep"),
  ),
  stale: described(
    "What becomes of a row whose product is newer than its `updated_at`: it is `stale` and not written, or applied.",
    v.optional(oneOf(...STALE_ROWS), "refuse"),
  ),
  decimal: described(
    "The decimal sign of amounts. Without it, the one that all amounts of the sheet fit.",
    v.optional(oneOf(...DECIMALS)),
  ),
  dates: described(
    "The order of dates that are not written `YYYY-MM-DD`.",
    v.optional(oneOf(...DATE_ORDERS), "ymd"),
  ),
  create_names: described(
    "Whether contributors, publishers, imprints and collections that nobody has are created.",
    v.optional(flag(), "false"),
  ),
});

export type SheetImportQuery = v.InferOutput<typeof SheetImportParameters>;
