import * as v from "valibot";
import type { Entry } from "../../../schema/bodies.ts";
import { MAX_ENTRIES } from "../../../schema/objects.ts";
import { Isbn10 } from "../../../schema/values.ts";
import { type Cell, numberText, textOf } from "./cell.ts";
import type { SheetColumn } from "./columns.ts";
import { guarded, withoutGuard } from "./guard.ts";
import { readList, writeList } from "./lists.ts";

/*
 * Reads and writes cells in the forms of people and spreadsheet programs. For example, `£1,234.50`
 * is the amount 1234.50, and `31/01/2027` the day 2027-01-31 with `dates=dmy`.
 */

/** The decimal sign of the amounts in a file. */
export const DECIMALS = ["point", "comma"] as const;
export type Decimal = typeof DECIMALS[number];

/** The order of day and month in dates that are not written `YYYY-MM-DD`. */
export const DATE_ORDERS = ["ymd", "dmy", "mdy"] as const;
export type DateOrder = typeof DATE_ORDERS[number];

/** The conventions of the cells in a file. */
export interface CellForm {
  decimal?: Decimal | undefined;
  dates: DateOrder;
  /** Whether texts keep the apostrophes with which a CSV export guards them. */
  keepsGuards?: boolean;
}

/**
 * The maximum number of characters of a cell in a spreadsheet program, and the text in place of a
 * longer one.
 */
export const MAX_CELL = 32_767;
export const TOO_LONG = "#too_long";

/** Writes a value as the cell of an export. */
export function writeCell(value: unknown, { kind, field }: SheetColumn): Cell {
  if (value === null) return "";
  if (kind === "list") return writeList(field, value);
  if (JSON.isRawJSON(value)) return { kind: "number", text: value.rawJSON };
  if (typeof value === "number" || typeof value === "boolean") {
    return { kind: typeof value as "number" | "boolean", text: String(value) };
  }
  return kind === "isbn" ? { kind, text: String(value) } : String(value);
}

/** A text that a spreadsheet program takes for a number, in any country. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** The longest text that is compared as a number. */
const MAX_NUMBER = 40;

/**
 * What a spreadsheet program may show of a text that it takes for a number: `4` of `04`, `1234` and
 * `1.234` of the text `1,234`. It keeps 15 digits.
 */
function numbersOf(text: string, isText: boolean): number[] {
  if (text.length > MAX_NUMBER) return [];
  return [
    ...NUMBER.test(text) ? [text] : [],
    // A sign may separate thousands. That of an amount never does.
    ...isText && FORMS.point.test(text) ? [text.replaceAll(",", "")] : [],
    ...isText && FORMS.comma.test(text) ? [text.replaceAll(".", "").replace(",", ".")] : [],
  ].map((number) => Number(Number(number).toPrecision(15)));
}

/** Whether the cell is a number that a spreadsheet program has made of what an export writes. */
function isNumberOf(written: Cell, cell: string): boolean {
  return numbersOf(textOf(written), typeof written === "string").some((number) => {
    const shown = numberText(number);
    return cell === shown || cell === shown.replace(".", ",") ||
      /^-?\d(?:[.,]\d+)?E[+-]\d+$/.test(cell) && Number(cell.replace(",", ".")) === number;
  });
}

/**
 * Whether the cell is as an export writes it, in any form of amounts and line ends, or as a
 * spreadsheet program changes it when it takes it for a number: `4` for `04`.
 */
export function isCellOf(
  value: unknown,
  cell: Cell,
  column: SheetColumn,
  { keepsGuards }: Pick<CellForm, "keepsGuards"> = {},
): boolean {
  const text = textOf(cell);
  if (column.kind === "isbn") return isbnOfCell(text) === (value ?? "");
  const written = writeCell(value, column);
  const [same, own] = [sameLines(text), sameLines(textOf(written))];
  return same === own || isNumberOf(written, same) ||
    typeof written !== "string" && same === own.replace(".", ",") ||
    // Either form of file, saved as the other one.
    same === (keepsGuards ? guarded(own) : withoutGuard(own));
}

/** Line ends of every kind, as one. */
export function sameLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** The result of reading a cell: a value for a body, or the fault as `code: Sentence`. */
export type Read = { value: unknown; warning?: string } | { fault: string };

/** The texts that a formula without a value shows. */
const ERROR_WORD = /^#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!)$/i;

/**
 * Reads a cell that is not empty. `before` is the value of the product. A value that is not
 * recognized is left to the validation of the body.
 */
export function readCell(
  cell: Cell,
  column: SheetColumn,
  form: CellForm,
  before: unknown = null,
): Read {
  const { kind } = column;
  const text = textOf(cell);
  if (typeof cell === "string") {
    return ERROR_WORD.test(text.trim())
      ? { fault: `error_cell: ${text.trim()} is the error of a formula: correct it` }
      : readTextCell(text, column, form, before);
  }
  switch (cell.kind) {
    case "error":
      return { fault: `error_cell: ${text}` };
    case "time":
      return { fault: `invalid_date: ${text} has a time: enter the day alone` };
    case "day":
      if (kind === "date") return { value: text };
      return {
        fault:
          `unexpected_date: The cell is the day ${text}: format it as text, and enter it again`,
      };
    default:
      return readTextCell(text, column, { ...form, decimal: "point" }, before);
  }
}

function readTextCell(
  cell: string,
  { kind, field, inner, key }: SheetColumn,
  { decimal, dates }: CellForm,
  before: unknown,
): Read {
  switch (kind) {
    case "isbn":
      return readIsbn(cell, field);
    case "amount":
      // Programs write the percents of a rate.
      return currencyFault(cell, key) ??
        readAmount(inner === "tax_rate" ? withoutPercent(cell) : cell, decimal);
    case "whole":
      return readWhole(cell, decimal);
    case "date":
      return readDate(cell.trim(), dates);
    case "list":
      return readEntries(cell, field, before as Entry[] ?? []);
    case "code":
      return readCode(cell);
    case "boolean":
      return readBoolean(cell);
  }
  return inner === "field_value" ? readCustomValue(cell, before, decimal) : readText(cell);
}

function readEntries(cell: string, field: string, before: readonly Entry[]): Read {
  const value = readList(field, cell, before);
  return value ? { value } : { fault: `too_many: At most ${MAX_ENTRIES} entries` };
}

/** Reads a text. Blanks around it are invisible, so the report shows them. */
function readText(value: string): Read {
  const warning = "blanks: The text is stored with the blanks before or after it";
  return /^\s|\s$/.test(value) ? { value, warning } : { value };
}

/** Reads a code. A spreadsheet program removes its leading zero, and others write `20.0`. */
function readCode(cell: string): Read {
  const word = withoutZeros(cell.trim());
  // No code has one digit.
  return { value: /^\d$/.test(word) ? `0${word}` : word };
}

/** What spreadsheet programs write in other languages than English, and what people write. */
const TRUE = "true yes 1 wahr ja vrai oui verdadero sí si vero sì verdadeiro sim waar".split(" ");
const FALSE = "false no 0 falsch nein faux non falso não onwaar nee".split(" ");

function readBoolean(cell: string): Read {
  const word = cell.trim().toLowerCase();
  if (TRUE.includes(word)) return { value: true };
  if (FALSE.includes(word)) return { value: false };
  return { fault: "invalid_type: Expected true or false" };
}

/** A decimal number that JSON and JavaScript represent exactly. */
const EXACT = /^-?(?:0|[1-9]\d{0,9})(?:\.\d{1,5})?$/;

/** Reads the value of a custom field, which keeps its type. */
function readCustomValue(cell: string, before: unknown, decimal: Decimal | undefined): Read {
  if (typeof before === "boolean") return readBoolean(cell);
  if (typeof before !== "number") return readText(cell);
  const read = readAmount(cell, decimal);
  if ("fault" in read && AMBIGUOUS.test(bareAmount(cell))) return read;
  const isNumber = "value" in read && EXACT.test(`${read.value}`);
  return isNumber ? { value: Number(read.value) } : readText(cell);
}

/** The ISBN of a cell, without what a spreadsheet program adds. */
function isbnOfCell(cell: string): string {
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

function withoutPercent(cell: string): string {
  return cell.replace(/%\s*$/, "");
}

const FORMS = {
  point: /^-?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/,
  comma: /^-?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/,
};

/** An amount whose sign may separate thousands or decimals. */
const AMBIGUOUS = /^-?[1-9]\d{0,2}([.,])\d{3}$/;

/** Returns the decimal sign of an amount, if only one is possible. */
export function decimalOf(cell: string): Decimal | undefined {
  const amount = bareAmount(withoutPercent(cell));
  const [isPoint, isComma] = [FORMS.point.test(amount), FORMS.comma.test(amount)];
  if (isPoint !== isComma) return isPoint ? "point" : "comma";
}

function readAmount(cell: string, decimal: Decimal | undefined): Read {
  const amount = bareAmount(cell);
  const [, sign] = decimal ? [] : AMBIGUOUS.exec(amount) ?? [];
  if (sign) {
    const name = sign === "," ? "comma" : "point";
    return {
      fault:
        `invalid_number: The ${name} may separate thousands or decimals: send decimal=point or decimal=comma`,
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

/** Reads a whole number, also as programs write it: `48.0`, `1,234`. */
function readWhole(cell: string, decimal: Decimal | undefined): Read {
  const read = readAmount(cell, decimal);
  return "value" in read ? { value: withoutZeros(`${read.value}`) } : read;
}

/** A whole number without the zeros after its point. */
function withoutZeros(number: string): string {
  return /^\d+\.0+$/.test(number) ? number.split(".", 1)[0]! : number;
}

/** The fault of an amount with the sign of another currency than that of its column. */
function currencyFault(cell: string, key: SheetColumn["key"]): { fault: string } | undefined {
  const currency = typeof key === "object" ? key.currency_code : undefined;
  if (typeof currency !== "string") return;
  const [sign] = /\p{Sc}/u.exec(cell) ?? [];
  if (!sign || signsOf(currency).includes(sign)) return;
  return {
    fault: `invalid_currency: ${sign} is not a sign of ${currency}, the currency of the column`,
  };
}

/** The signs of a currency, such as `$` of the Australian dollar. */
function signsOf(currency: string): string {
  const style = { style: "currency", currency, currencyDisplay: "narrowSymbol" } as const;
  return SIGNS.getOrInsertComputed(currency, () => new Intl.NumberFormat("en", style).format(0));
}

const SIGNS = new Map<string, string>();

/** The day before the first day that a spreadsheet program counts: 1900 has a 29 February there. */
const DAY_0 = Date.UTC(1899, 11, 30);

function readDate(cell: string, dates: DateOrder): Read {
  const bare = withoutZeros(cell);
  if (/^\d{5}(?:[.,]\d{1,20})?$/.test(cell)) {
    const day = new Date(DAY_0 + parseInt(cell) * 86_400_000)
      .toISOString().slice(0, 10);
    return {
      fault:
        `invalid_date: The spreadsheet program shows a date as a number: ${day} would be meant`,
    };
  }
  const plain = plainDay(cell);
  if (plain) return { value: plain };
  const [, one, other, year] = /^(\d{1,2})[./\- ]{1,3}(\d{1,2})[./\- ]{1,3}(\d{4})$/.exec(cell) ??
    [];
  if (!year || dates === "ymd") return { value: /^\d{4}$/.test(bare) ? bare : cell };
  const [day, month] = dates === "dmy" ? [one!, other!] : [other!, one!];
  return { value: dayText(year, month, day) };
}

/** The unambiguous forms of days. */
const PLAIN_DAYS = [
  /^(?<year>\d{4})([/.])(?<month>\d{1,2})\2(?<day>\d{1,2})$/,
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)$/,
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[ T]00:00(?::00(?:\.0{1,9})?)?$/,
  /^(?<day>\d{1,2})(?:st|nd|rd|th)?[-./ ]{1,2}(?<word>[A-Za-z]{3,9})[-./, ]{1,2}(?<year>\d{4})$/,
  /^(?<word>[A-Za-z]{3,9})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?,? (?<year>\d{4})$/,
];

const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );

/** The day that a cell shows in one of `PLAIN_DAYS`. */
function plainDay(cell: string): string | undefined {
  for (const form of PLAIN_DAYS) {
    const { year, month, word, day } = form.exec(cell)?.groups ?? {};
    if (!year || !day) continue;
    const number = word ? monthOf(word) : month;
    if (number) return dayText(year, number, day);
  }
}

/** The number of a month by its English name, or the beginning of that. */
function monthOf(word: string): string | undefined {
  const start = word.toLowerCase();
  const index = MONTHS.findIndex((month) =>
    month.startsWith(start) || start === "sept" && month === "september"
  );
  return index < 0 ? undefined : String(index + 1);
}

function dayText(year: string, month: string, day: string): string {
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}
