import { type Prose, text } from "./text.ts";

/** The prose of the operations of Sheets. */
export const SHEETS = {
  exportSheet: {
    tag: "Sheets",
    summary: "Get the catalogue as a sheet",
    description: text(
      "Exports every product that matches the filters of `GET /products`, without pages, as CSV (RFC 4180) in UTF-8 with a byte order mark.",
      "A column is a place in the JSON of a product: a field by its name (`title`), an entry of an array by its key in brackets (`product_prices[GBP].retail_price`, `collateral[03].text`, `custom_fields[Shelf].field_value`) or by its position from 1 (`contributors[2].contributor_name`, `product_form_features[1].product_form_feature_descriptions[2]`).",
      "`contributors`, `product_collections` and `subjects` also fit into one cell, with semicolons between entries.",
      "`supply_prices[GBP 02].price_amount` is the one price of that currency and type in the supply of the product, without a qualifier and valid today.",
      "`supply_prices[GBP 02 GB].price_amount` is that of a country.",
      "If there are several, the cell is `#several`.",
      "An ISBN has one hyphen.",
      "A text that a spreadsheet program would take for a formula has an apostrophe before it.",
      "So has a text in which a program of another country would begin a formula after a semicolon (`a;'=1`).",
      "A text over 32,767 characters is `#too_long`.",
    ),
    returns: "The sheet.",
  },
  importSheet: {
    tag: "Sheets",
    summary: "Import a sheet",
    description: text(
      "Sets the places that the columns name, and nothing else.",
      "A row finds its product by the first of `id`, `product_code`, `isbn13` and `isbn10` that it has.",
      "A cell that is as an export would write it changes nothing, so an unchanged sheet writes nothing.",
      "A cell of a supply price changes its amount, and removes the taxes that state an amount; it creates no price.",
      "A row that repeats a price whose last day has passed is `stale`.",
      "The service first validates the header, bytes, quotes and amounts of the full sheet.",
      "A fault there is 400, and nothing is written.",
      "Rows are then written in groups of a hundred, and each succeeds or fails by itself.",
      "A sheet has at most 1,048,576 rows, as in spreadsheet programs, of at most 512 KiB and 1,000 columns.",
      "With `Accept: text/csv` the response contains the refused and stale rows, with a first column `error`: correct them and send them again.",
    ),
    returns: "The outcome of the rows, also if some were refused.",
  },
  exportWorkbook: {
    tag: "Sheets",
    summary: "Get the catalogue as a workbook",
    description: text(
      "The same as `GET /csv/products`, as an Excel workbook (.xlsx).",
      "It has one sheet, Products, with a header that is frozen, bold and filterable.",
      "ISBNs, codes, days and texts are text cells, so that no program rounds them or takes them for dates.",
      "They need no apostrophes.",
      "Amounts and whole numbers are numbers.",
      "A text over 32,767 characters is `#too_long`.",
    ),
    returns: "The workbook.",
  },
  importWorkbook: {
    tag: "Sheets",
    summary: "Import a workbook",
    description: text(
      "The same as `POST /csv/products`, for an Excel workbook (.xlsx) of any program.",
      "It reads the sheet named Products, or else the first visible one; `messages` names the others.",
      "The header is the first row that is not empty.",
      "A formula counts as its last value, and merged cells as their first cell.",
      "Hidden rows and columns are read.",
      "A number is rounded to 15 digits, as programs show it.",
      "A row is refused for the error of a formula, a date in a column of texts, or a day with a time.",
      "The body has the size limit of a sheet, and unpacks to at most eight times as much.",
      "`.xls`, `.xlsb`, `.ods` and encrypted workbooks are 415.",
      "With the `Accept` of a workbook the response contains the refused and stale rows, with a first column `error`.",
    ),
    returns: "The outcome of the rows, also if some were refused.",
  },
} satisfies Record<string, Prose>;
