import type { Column } from "./columns.ts";
import { isIsbn10 } from "./isbn.ts";
import { cellOfList } from "./lists.ts";

/* Cells, as people and spreadsheet programs write them. */

/** The decimal sign of the amounts in a file. */
export type Decimal = "point" | "comma";

/** The order of day and month in dates that are not written `YYYY-MM-DD`. */
export type Dates = "ymd" | "dmy" | "mdy";

/** How the cells of a file are written. */
export interface CellForm {
  decimal?: Decimal | undefined;
  dates: Dates;
}

/** The most characters of a cell in a spreadsheet program, and what stands for more. */
const MAX_CELL = 32_767;
export const TOO_LONG = "#too_long";

/** What a spreadsheet program takes for a formula, with the guards before it. */
const FORMULA = /^'*[=+\-@\t\r]/;
const GUARDED = /^'+[=+\-@\t\r]/;

/** The cell of a value in an export. */
export function cellOf(
  value: unknown,
  { kind, field }: Column,
  decimal: Decimal = "point",
): string {
  if (value === null || value === undefined) return "";
  if (kind === "list") return guarded(cellOfList(field, value));
  if (kind === "isbn") {
    const isbn = String(value);
    // One hyphen keeps it text in every program.
    const at = isbn.length === 13 ? 3 : 1;
    return `${isbn.slice(0, at)}-${isbn.slice(at)}`;
  }
  const text = JSON.isRawJSON(value) ? value.rawJSON : String(value);
  if (kind === "amount") {
    return decimal === "comma" ? text.replace(".", ",") : text;
  }
  return guarded(text);
}

function guarded(text: string): string {
  if (text.length >= MAX_CELL) return TOO_LONG;
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text of a guarded cell. */
export function unguarded(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** Line ends of every kind, as one. */
export function sameLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** What a cell says: a value for a body, or what is wrong, as `code: Sentence`. */
export type Read = { value: unknown; warning?: string } | { fault: string };

/** Reads a cell that is not empty. What it does not understand, the rules of the body refuse. */
export function readCell(
  cell: string,
  { kind, field }: Column,
  { decimal, dates }: CellForm,
): Read {
  switch (kind) {
    case "isbn":
      return readIsbn(cell, field);
    case "amount":
      return readAmount(cell, decimal);
    case "date":
      return readDate(cell.trim(), dates);
    case "boolean": {
      const word = cell.trim().toLowerCase();
      if (["true", "yes", "1"].includes(word)) return { value: true };
      if (["false", "no", "0"].includes(word)) return { value: false };
      return { fault: "invalid_type: Expected true or false" };
    }
    default:
      return { value: unguarded(cell) };
  }
}

const EXPONENT = /^\d(?:[.,]\d*)?E\+?\d+$/i;

/** The ISBN of a cell, without what a spreadsheet program adds. */
export function bareCell(cell: string): string {
  return cell.trim().replace(/^="(.*)"$/s, "$1").replace(/^'/, "")
    .replace(/[.,]0+$/, "").replace(/[\s\u00a0\u2010-\u2015-]/g, "");
}

function readIsbn(cell: string, field: string): Read {
  const isbn = bareCell(cell);
  if (EXPONENT.test(isbn)) {
    return {
      fault:
        "invalid_isbn: The spreadsheet program has rounded this number: format the column as text, and enter the ISBN again",
    };
  }
  if (
    field === "isbn10" && /^\d{8}[\dXx]$/.test(isbn) && isIsbn10(`0${isbn}`)
  ) {
    return {
      value: `0${isbn}`,
      warning:
        "leading_zero: The ISBN has lost its leading 0: it was read with one",
    };
  }
  return { value: isbn };
}

/** An amount without currency signs and blanks. */
function bareAmount(cell: string): string {
  return cell.replace(/[\p{Sc}\s\u00a0\u202f]/gu, "");
}

const POINT = /^-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/;
const COMMA = /^-?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/;

/** The only decimal sign that an amount can have, if there is but one. */
export function decimalOf(cell: string): Decimal | undefined {
  const amount = bareAmount(cell);
  if (!/[.,]/.test(amount)) return;
  const [isPoint, isComma] = [POINT.test(amount), COMMA.test(amount)];
  if (isPoint === isComma) return;
  return isPoint ? "point" : "comma";
}

function readAmount(cell: string, decimal: Decimal | undefined): Read {
  const amount = bareAmount(cell);
  if (!decimal && /^-?\d{1,3},\d{3}$/.test(amount)) {
    return {
      fault:
        "invalid_number: The comma may separate thousands or decimals: say decimal=point or decimal=comma",
    };
  }
  const form = decimal === "comma" ? COMMA : POINT;
  if (!form.test(amount)) {
    return /^-?[\d.,]+$/.test(amount)
      ? {
        fault: decimal === "comma"
          ? "invalid_number: Expected an amount with a decimal comma, such as 12,50"
          : "invalid_number: Expected an amount with a decimal point, such as 12.50: decimal=comma reads a comma",
      }
      : { value: amount };
  }
  return {
    value: decimal === "comma"
      ? amount.replaceAll(".", "").replace(",", ".")
      : amount.replaceAll(",", ""),
  };
}

/** The day before the first day that a spreadsheet program counts: 1900 has a 29 February there. */
const DAY_0 = Date.UTC(1899, 11, 30);

function readDate(cell: string, dates: Dates): Read {
  if (/^\d{5}(?:[.,]\d+)?$/.test(cell)) {
    const day = new Date(DAY_0 + Math.floor(parseFloat(cell)) * 86_400_000)
      .toISOString().slice(0, 10);
    return {
      fault:
        `invalid_date: The spreadsheet program shows a date as a number: ${day} would be meant`,
    };
  }
  const [, one, other, year] = dates === "ymd"
    ? []
    : /^(\d{1,2})[./\- ]+(\d{1,2})[./\- ]+(\d{4})$/.exec(cell) ?? [];
  if (!year) return { value: cell };
  const [day, month] = dates === "dmy" ? [one!, other!] : [other!, one!];
  return { value: `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` };
}
