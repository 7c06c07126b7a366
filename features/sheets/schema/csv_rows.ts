import { Buffer } from "node:buffer";
import { withoutGuard } from "./guard.ts";
import { MAX_COLUMNS } from "./columns.ts";
import { faultAt, MAX_ROW, type Row } from "./file.ts";

/*
 * Divides text in CSV (RFC 4180) into rows and cells, part by part. A cell that begins with a
 * quotation mark ends with one, and has each mark within it twice. Spreadsheet programs also read
 * other marks, as they stand, and so does this:
 *
 *     "a ""b"", c",5" nails,"A" and B        a "b", c     5" nails     "A" and B
 *
 * Rows without content that follow each other are one row with their number: a sheet may have a
 * million, which would take seconds one by one.
 *
 * Not by a library: `csv-parse` makes an error with a stack for each row of another length than the
 * first, so that 60 kB of gzip took a minute of the processor. `papaparse` does not limit a row that
 * never ends.
 */

/** Where the text goes on: in a cell without quotation marks, within them, or after one of these. */
type Place = "bare" | "quoted" | "mark";

const LINE_FEED = 0x0a;
const MARK = 0x22;

export class CsvRows {
  readonly #delimiter: number;
  #place: Place = "bare";
  #cell = "";
  /** Whether the cell has begun with a quotation mark. */
  #isQuoted = false;
  #cells: string[] = [];
  /** The characters of the row, and the line feeds in its cells. */
  #length = 0;
  #feeds = 0;
  #index = 0;
  /** The line on which the row begins. */
  #line: number;

  /** `line` is the number of the first line of the text. */
  constructor(delimiter: string, line: number) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#line = line;
  }

  /** The rows that end in the next part of the text. Throws `VALIDATION_ERROR` with their line. */
  *read(text: string): Generator<Row> {
    for (let at = 0; at < text.length;) {
      switch (this.#place) {
        case "bare": {
          if (this.#isAtStart) {
            const blank = this.#blankRows(text, at);
            if (blank.rows > 0) yield this.#row([""], blank.rows, blank.rows);
            at = blank.end;
            if (at === text.length) return;
          }
          if (this.#cell === "" && text.charCodeAt(at) === MARK) {
            [this.#place, this.#isQuoted] = ["quoted", true];
            at++;
            break;
          }
          const end = this.#endOfBare(text, at);
          this.#append(text.slice(at, end));
          at = end + 1;
          if (end === text.length) return;
          this.#endCell();
          if (text.charCodeAt(end) === LINE_FEED) yield this.#endRow();
          break;
        }
        case "quoted": {
          const mark = text.indexOf('"', at);
          const end = mark < 0 ? text.length : mark;
          this.#appendQuoted(text.slice(at, end));
          at = end + 1;
          if (mark >= 0) this.#place = "mark";
          break;
        }
        case "mark": {
          const next = text.charCodeAt(at);
          if (next === MARK) {
            this.#append('"');
            this.#place = "quoted";
            at++;
            break;
          }
          // Otherwise the marks do not enclose the cell, and are part of it.
          if (next !== this.#delimiter && next !== LINE_FEED) this.#cell = `"${this.#cell}"`;
          this.#place = "bare";
        }
      }
    }
  }

  /** The last row, if no line feed ends it. */
  *end(): Generator<Row> {
    if (this.#place === "quoted") {
      throw faultAt(this.#line, "open_quote: A quote in this row is never closed");
    }
    if (this.#isAtStart) return;
    this.#endCell();
    yield this.#endRow();
  }

  get #isAtStart(): boolean {
    return this.#cell === "" && !this.#isQuoted && this.#cells.length === 0;
  }

  /** The number of rows without content from a place on, and the end of the last one. */
  #blankRows(text: string, at: number): { rows: number; end: number } {
    let [rows, end, cells] = [0, at, 1];
    // The header is read as it is.
    if (this.#index === 0) return { rows, end };
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) [rows, end, cells] = [rows + 1, at + 1, 1];
      else if (code === this.#delimiter) cells++;
      else if (code !== 0x20 && code !== 0x09) break;
      if (cells > MAX_COLUMNS) break;
    }
    return { rows, end };
  }

  /** The place of the delimiter or line feed that ends a cell, or the end of the text. */
  #endOfBare(text: string, at: number): number {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === this.#delimiter || code === LINE_FEED) break;
    }
    return at;
  }

  #append(text: string): void {
    this.#cell += text;
    if ((this.#length += text.length) > MAX_ROW) throw this.#tooLarge();
  }

  #appendQuoted(text: string): void {
    this.#append(text);
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#feeds++;
  }

  #endCell(): void {
    if (this.#cells.length >= MAX_COLUMNS) {
      throw faultAt(this.#line, `too_many: At most ${MAX_COLUMNS} columns`);
    }
    this.#cells.push(withoutGuard(this.#cell));
    [this.#cell, this.#isQuoted, this.#place] = ["", false, "bare"];
  }

  #endRow(): Row {
    const cells = this.#cells;
    // A character has at most three bytes for each unit.
    const isLong = 3 * this.#length > MAX_ROW;
    if (isLong && cells.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0) > MAX_ROW) {
      throw this.#tooLarge();
    }
    const row = this.#row(cells, 1, this.#feeds + 1);
    [this.#cells, this.#length, this.#feeds] = [[], 0, 0];
    return row;
  }

  /** The next row, or several that are blank, on so many lines. */
  #row(cells: string[], count: number, lines: number): Row {
    const row = { index: this.#index, line: this.#line, cells, count };
    this.#index += count;
    this.#line += lines;
    return row;
  }

  #tooLarge() {
    return faultAt(this.#line, `too_large: A row has at most ${MAX_ROW} bytes`);
  }
}
