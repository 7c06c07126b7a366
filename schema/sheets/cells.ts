import * as v from "valibot";
import type { Entry } from "../bodies.ts";
import { Isbn10 } from "../values.ts";
import type { SheetColumn } from "./columns.ts";
import { readList, writeList } from "./lists.ts";

/* Cells, as people and spreadsheet programs write them. */

/** The decimal sign of the amounts in a file. */
export const DECIMALS = ["point", "comma"] as const;
export type Decimal = typeof DECIMALS[number];

/** The order of day and month in dates that are not written `YYYY-MM-DD`. */
export const DATE_ORDERS = ["ymd", "dmy", "mdy"] as const;
export type DateOrder = typeof DATE_ORDERS[number];

/** How the cells of a file are written. */
export interface CellForm {
  decimal?: Decimal | undefined;
  dates: DateOrder;
}

/** The most characters of a cell in a spreadsheet program, and what stands for more. */
const MAX_CELL = 32_767;
export const TOO_LONG = "#too_long";

/** What a spreadsheet program takes for a formula, with the guards before it. */
const FORMULA = /^'*[=+\-@\t\r]/;

/** The text as a cell that no spreadsheet program takes for a formula. */
export function safeCell(text: string): string {
  if (text.length >= MAX_CELL) return TOO_LONG;
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text of a safe cell. */
export function textOfSafe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** Writes a value as the cell of an export. */
export function writeCell(value: unknown, { kind, field }: SheetColumn, decimal?: Decimal): string {
  if (value === null) return "";
  if (kind === "list") return safeCell(writeList(field, value));
  const text = JSON.isRawJSON(value) ? value.rawJSON : String(value);
  // One hyphen keeps an ISBN text in every program.
  if (kind === "isbn") {
    return text.replace(/^(?:\d{3}(?=.{10}$)|\d(?=.{9}$))/, "$&-");
  }
  if (kind !== "amount") return safeCell(text);
  return decimal === "comma" ? text.replace(".", ",") : text;
}

/** A text that a spreadsheet program takes for a number. */
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Whether the cell is what an export writes, in any form of amounts and line ends, or what is left
 * after a spreadsheet program has taken it for a number: `4` of `04`.
 */
export function isCellOf(value: unknown, cell: string, column: SheetColumn): boolean {
  if (column.kind === "isbn") return isbnOfCell(cell) === (value ?? "");
  const [same, own] = [sameLines(cell), sameLines(writeCell(value, column))];
  return same === own || NUMBER.test(own) && same === String(Number(own)) ||
    column.kind === "amount" && same === writeCell(value, column, "comma");
}

/** Line ends of every kind, as one. */
export function sameLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** What a cell says: a value for a body, or what is wrong with the cell, as `code: Sentence`. */
export type Read = { value: unknown; warning?: string } | { fault: string };

/**
 * Reads a cell that is not empty, where the product has the value `before`. A value that is not
 * understood here is refused by the rules of the body.
 */
export function readCell(
  cell: string,
  { kind, field, inner }: SheetColumn,
  { decimal, dates }: CellForm,
  before: unknown = null,
): Read {
  switch (kind) {
    case "isbn":
      return readIsbn(cell, field);
    case "amount":
      return readAmount(cell, decimal);
    case "date":
      return readDate(cell.trim(), dates);
    case "list":
      return { value: readList(field, textOfSafe(cell), before as Entry[] ?? []) };
    case "code":
      return readCode(cell);
    case "boolean":
      return readBoolean(cell);
  }
  return inner === "field_value" ? readCustomValue(cell, before) : { value: textOfSafe(cell) };
}

/** Reads a code. A spreadsheet program takes the zero off: no code has one digit. */
function readCode(cell: string): Read {
  const word = cell.trim();
  return { value: /^\d$/.test(word) ? `0${word}` : textOfSafe(cell) };
}

function readBoolean(cell: string): Read {
  const word = cell.trim().toLowerCase();
  if (["true", "yes", "1"].includes(word)) return { value: true };
  if (["false", "no", "0"].includes(word)) return { value: false };
  return { fault: "invalid_type: Expected true or false" };
}

/** Reads the value of a custom field, which keeps its type. */
function readCustomValue(cell: string, before: unknown): Read {
  if (typeof before === "boolean") return readBoolean(cell);
  const word = cell.trim().toLowerCase();
  const isNumber = typeof before === "number" && String(Number(word)) === word;
  return { value: isNumber ? Number(word) : textOfSafe(cell) };
}

/** The ISBN of a cell, without what a spreadsheet program adds. */
export function isbnOfCell(cell: string): string {
  return cell.trim().replace(/^="(.*)"$/s, "$1").replace(/^'/, "")
    .replace(/[.,]0+$/, "").replace(/[\s\u00a0\u2010-\u2015-]/g, "");
}

function readIsbn(cell: string, field: string): Read {
  const isbn = isbnOfCell(cell);
  if (/^\d(?:[.,]\d*)?E\+?\d+$/i.test(isbn)) {
    return {
      fault:
        "invalid_isbn: The spreadsheet program has rounded this number: format the column as text, and enter the ISBN again",
    };
  }
  const value = isbn.padStart(10, "0");
  if (field !== "isbn10" || !/^.{7,9}$/.test(isbn) || !v.is(Isbn10, value)) {
    return { value: isbn };
  }
  return {
    value,
    warning: "leading_zero: The ISBN has lost its leading zeros: it was read with them",
  };
}

/** An amount without currency signs and blanks. */
function bareAmount(cell: string): string {
  return cell.replace(/[\p{Sc}\s\u00a0\u202f]/gu, "");
}

const FORMS = {
  point: /^-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/,
  comma: /^-?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?$/,
};

/** The only decimal sign that an amount can have, if there is but one. */
export function decimalOf(cell: string): Decimal | undefined {
  const amount = bareAmount(cell);
  const [isPoint, isComma] = [FORMS.point.test(amount), FORMS.comma.test(amount)];
  if (isPoint !== isComma) return isPoint ? "point" : "comma";
}

function readAmount(cell: string, decimal: Decimal | undefined): Read {
  const amount = bareAmount(cell);
  if (!decimal && /^-?\d{1,3},\d{3}$/.test(amount)) {
    return {
      fault:
        "invalid_number: The comma may separate thousands or decimals: send decimal=point or decimal=comma",
    };
  }
  const form = decimal ?? "point";
  if (FORMS[form].test(amount)) {
    const [thousands, sign] = form === "comma" ? [".", ","] : [",", "."];
    return { value: amount.replaceAll(thousands, "").replace(sign, ".") };
  }
  if (!/^-?[\d.,]+$/.test(amount)) return { value: amount };
  const example = form === "comma" ? "12,50" : "12.50: decimal=comma reads a comma";
  return {
    fault: `invalid_number: Expected an amount with a decimal ${form}, such as ${example}`,
  };
}

/** The day before the first day that a spreadsheet program counts: 1900 has a 29 February there. */
const DAY_0 = Date.UTC(1899, 11, 30);

function readDate(cell: string, dates: DateOrder): Read {
  if (/^\d{5}(?:[.,]\d+)?$/.test(cell)) {
    const day = new Date(DAY_0 + parseInt(cell) * 86_400_000)
      .toISOString().slice(0, 10);
    return {
      fault:
        `invalid_date: The spreadsheet program shows a date as a number: ${day} would be meant`,
    };
  }
  const [, one, other, year] = /^(\d{1,2})[./\- ]+(\d{1,2})[./\- ]+(\d{4})$/.exec(cell) ?? [];
  if (!year || dates === "ymd") return { value: cell };
  const [day, month] = dates === "dmy" ? [one!, other!] : [other!, one!];
  return { value: `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` };
}
