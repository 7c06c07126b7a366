import { Buffer } from "node:buffer";
import { excerpt } from "../../../../schema/excerpt.ts";
import { type Cell, isBlank, numberText, textOf, type TypedCell } from "../cell.ts";
import { MAX_COLUMNS } from "../columns.ts";
import { faultAt, MAX_ROW, type Row, type SheetFile } from "../file.ts";
import type { FileMessage } from "../report.ts";
import { type Archive, damaged, openArchive, tooLarge, unsupported } from "./archive.ts";
import { cellOfSerial, dayOrTime } from "./days.ts";
import { type Book, openBook } from "./book.ts";
import { Merges, readMerges } from "./merges.ts";
import { SharedStrings, stringsBytes } from "./strings.ts";
import { writeWorkbook } from "./write.ts";
import { type Attributes, isStringText, readPart, unescaped } from "./xml.ts";
import type { Pace } from "../../../../schema/turns.ts";

/*
 * Reads Excel workbooks (.xlsx, ECMA-376): an archive of XML becomes rows. A sheet is read while it
 * is unpacked. Only the packed bytes, the shared texts and a row are in memory.
 */

export interface WorkbookOptions {
  /** The most bytes that are unpacked. */
  maxUnpacked: number;
  /** Awaited between the pieces of the parts, so that other requests run. */
  pace: Pace;
}

/**
 * Opens a workbook, whose bytes are in blocks of one size. Throws `UNSUPPORTED_MEDIA_TYPE`,
 * `VALIDATION_ERROR` and `PAYLOAD_TOO_LARGE`.
 */
export async function openWorkbook(
  blocks: readonly Uint8Array[],
  { maxUnpacked, pace }: WorkbookOptions,
): Promise<SheetFile> {
  assertZip(blocks);
  const archive = await openArchive(blocks, { maxUnpacked, pace });
  const size = blocks.reduce((sum, { length }) => sum + length, 0);
  const book = await openBook(archive, new SharedStrings(stringsBytes(size)), pace);
  const merges = await readMerges(archive, book.part, pace);
  const messages: FileMessage[] = book.others.length === 0 ? [] : [{
    severity: "warning",
    code: "other_sheets",
    message: excerpt(`Only the sheet "${book.name}" was read, not: ${book.others.join(", ")}`, 500),
  }];
  let isHiddenShown = false;
  return {
    isGuessed: false,
    keepsGuards: true,
    messages,
    write: writeWorkbook,
    async *rows() {
      let total = 0;
      for await (const { hidden, ...row } of readRows(archive, book, merges, pace)) {
        // One text may stand in a million cells.
        total += row.cells.reduce((sum, cell) => sum + textOf(cell).length, 0);
        if (total > maxUnpacked) {
          throw tooLarge(`The sheet has more than ${maxUnpacked} characters`);
        }
        if (hidden && !isHiddenShown) {
          isHiddenShown = true;
          messages.push({
            severity: "warning",
            code: "hidden",
            message: "The sheet has hidden rows or columns: they were read, too",
          });
        }
        yield row;
      }
    },
  };
}

/** The beginnings of files: those of zip, and of the containers of .xls and of encrypted workbooks. */
const ZIP = "504b";
const OLE = "d0cf11e0a1b11ae1";

function assertZip(blocks: readonly Uint8Array[]): void {
  const start = Buffer.concat(blocks.slice(0, 16));
  const mark = start.toString("hex", 0, 8);
  if (mark.startsWith(ZIP)) return;
  if (mark !== OLE) throw unsupported("The file is no Excel workbook");
  const isEncrypted = start.includes(Buffer.from("EncryptedPackage", "utf16le"));
  throw unsupported(
    isEncrypted
      ? "The workbook is encrypted: remove its password"
      : "The file is a workbook of the old form (.xls)",
  );
}

interface SheetRow extends Row {
  /** Whether it, or one of its columns, is hidden. */
  hidden: boolean;
}

/** A row with the cells that a workbook stores. */
type ReadRow = Omit<SheetRow, "index" | "count">;

/**
 * Reads the rows, from the first one that is not empty, the header. Each row has a cell for each
 * column of the header, although workbooks store no empty cells.
 */
async function* readRows(
  archive: Archive,
  book: Book,
  merges: Merges,
  pace: Pace,
): AsyncGenerator<SheetRow> {
  const reader = new RowReader(book, merges.rows());
  let index = 0;
  let width = 0;
  for await (const _ of readPart(archive, book.part, reader)) {
    await pace();
    for (const row of reader.take()) {
      if (index === 0) {
        if (isBlank(row.cells)) continue;
        width = row.cells.length;
      }
      while (row.cells.length < width) row.cells.push("");
      const hidden = row.hidden || reader.hasHidden(width);
      yield { ...row, index: index++, count: 1, hidden };
    }
  }
}

/** Collects the rows of a sheet. */
class RowReader {
  readonly #book: Book;
  readonly #isCovered: (line: number, column: number) => boolean;
  #rows: ReadRow[] = [];
  /** The first hidden column, from 0. */
  #firstHidden = Infinity;
  /** Whether the elements are those of rows. The anchor of a button has rows and columns, too. */
  #isInRows = false;
  #row: { line: number; cells: Cell[]; hidden: boolean; length: number } | undefined;
  #line = 0;
  #column = -1;
  #cell: { attributes: Attributes; text: string; formula: boolean; value: boolean } | undefined;

  constructor(book: Book, isCovered: (line: number, column: number) => boolean) {
    this.#book = book;
    this.#isCovered = isCovered;
  }

  /** Returns the rows that were read since the last time. */
  take(): ReadRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Whether one of so many columns is hidden. */
  hasHidden(width: number): boolean {
    return this.#firstHidden < width;
  }

  begin(path: readonly string[], attributes: Attributes): void {
    if (!this.#isInRows) {
      const element = path.at(-1);
      this.#isInRows = element === "sheetData";
      if (element === "col" && isTrue(attributes.hidden)) {
        this.#firstHidden = Math.min(this.#firstHidden, Number(attributes.min) - 1);
      }
      return;
    }
    switch (path.at(-1)) {
      case "row":
        return this.#beginRow(attributes);
      case "c":
        return this.#beginCell(attributes);
      case "f":
        if (this.#cell) this.#cell.formula = true;
        return;
      case "v":
        if (this.#cell) this.#cell.value = true;
    }
  }

  text(path: readonly string[], text: string): void {
    const cell = this.#cell;
    if (!cell) return;
    if (path.at(-1) === "v" || path.at(-3) === "c" && isStringText(path) || isRichText(path)) {
      cell.text += text;
      // A text may be in any number of runs.
      if (cell.text.length > MAX_ROW) throw tooLarge(`A cell has at most ${MAX_ROW} characters`);
    }
  }

  end(path: readonly string[]): void {
    if (!this.#isInRows) return;
    switch (path.at(-1)) {
      case "sheetData":
        this.#isInRows = false;
        return;
      case "c":
        return this.#endCell();
      case "row":
        if (this.#row) this.#rows.push(this.#row);
        this.#row = undefined;
    }
  }

  #beginRow({ r, hidden }: Attributes): void {
    if (this.#row) throw damaged("A row is in another row");
    const line = r === undefined ? this.#line + 1 : Number(r);
    if (!Number.isInteger(line) || line <= this.#line) {
      throw damaged(`Row ${r?.slice(0, 20)} is not in its order`);
    }
    this.#line = line;
    this.#column = -1;
    this.#row = { line, cells: [], hidden: isTrue(hidden), length: 0 };
  }

  #beginCell(attributes: Attributes): void {
    if (!this.#row) throw damaged("A cell is in no row");
    if (this.#cell) throw damaged("A cell is in another cell");
    const column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
    if (column <= this.#column) {
      throw damaged(`The cell ${attributes.r?.slice(0, 20)} is not in its order`);
    }
    this.#column = column;
    this.#cell = { attributes, text: "", formula: false, value: false };
  }

  #endCell(): void {
    const row = this.#row!;
    const cell = this.#cell!;
    this.#cell = undefined;
    if (this.#isCovered(row.line, this.#column)) return;
    const read = this.#read(cell);
    const { length } = textOf(read);
    if (length === 0) return;
    if (this.#column >= MAX_COLUMNS) {
      throw faultAt(row.line, `too_many: At most ${MAX_COLUMNS} columns`);
    }
    if ((row.length += length) > MAX_ROW) {
      throw faultAt(row.line, `too_large: A row has at most ${MAX_ROW} bytes`);
    }
    while (row.cells.length < this.#column) row.cells.push("");
    row.cells.push(read);
  }

  #read(
    { attributes, text, formula, value }: {
      attributes: Attributes;
      text: string;
      formula: boolean;
      value: boolean;
    },
  ): Cell {
    const { t = "n", s } = attributes;
    if (formula && text === "" && !(t === "str" && value)) return NOT_CALCULATED;
    if (t === "inlineStr" || t === "str") return unescaped(text);
    if (text.trim() === "") return "";
    switch (t) {
      case "s":
        return this.#book.strings.at(Number(text));
      case "b":
        return /^(?:1|true)$/i.test(text.trim()) ? "TRUE" : "FALSE";
      case "e":
        return {
          kind: "error",
          text: `${excerpt(text, 40)} is the error of a formula: correct it`,
        };
      case "d":
        return dayOrTime(text.trim());
    }
    const number = Number(text);
    if (!Number.isFinite(number)) throw damaged(`${text.slice(0, 40)} is no number`);
    switch (this.#book.styles.get(Number(s ?? 0))) {
      case "day":
        return cellOfSerial(number, this.#book.isFrom1904);
      case "percent":
        return { kind: "number", text: `${numberText(100 * number)}%` };
    }
    return { kind: "number", text: numberText(number) };
  }
}

const NOT_CALCULATED: TypedCell = {
  kind: "error",
  text: "The formula has no value: open the workbook in the spreadsheet program, and save it",
};

/** Whether the text is of an inline string in runs: `c/is/r/t`. */
function isRichText(path: readonly string[]): boolean {
  return path.at(-4) === "c" && isStringText(path);
}

function isTrue(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

/** The index of the column in a reference such as `AB12`. */
function columnOf(reference: string): number {
  const [letters] = /^\$?[A-Za-z]{1,3}(?=\$?\d)/.exec(reference) ?? [];
  if (!letters) throw damaged(`${reference.slice(0, 20)} is no cell`);
  let number = 0;
  for (const letter of letters.replace("$", "").toUpperCase()) {
    number = number * 26 + letter.charCodeAt(0) - 64;
  }
  return number - 1;
}
