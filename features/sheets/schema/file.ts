import { type ApiError, invalid, splitMessage } from "../../../schema/errors.ts";
import type { Cell } from "./cell.ts";
import type { FileMessage } from "./report.ts";

/*
 * The interface of a file with rows. Import and export know only this; `csv.ts` and `workbook/`
 * implement it.
 */

/** The media type of workbooks. */
export const XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** The most bytes of a row, in every form. */
export const MAX_ROW = 512 * 1024;

/** A row of a sheet. */
export interface Row {
  /** The number of rows before it, with the header and blank ones. */
  index: number;
  /** The line of the file on which it begins, or its number in the workbook. */
  line: number;
  cells: Cell[];
  /** 1, or the number of rows without content that follow each other. */
  count: number;
}

/** A part of a written file: text, or bytes. */
export type FilePart = string | Uint8Array;

/** Writes rows as a file. The first one is the header. They come in groups, between which others run. */
export type RowWriter = (rows: AsyncIterable<Cell[][]>) => AsyncGenerator<FilePart, void>;

/** A file that is read several times. */
export interface SheetFile {
  /** Reads the rows, the header first. Throws `VALIDATION_ERROR` with the line of a fault. */
  rows(): AsyncGenerator<Row>;
  /** The file to read instead if its bytes are not in the charset (`ENCODING`). */
  otherwise?: SheetFile;
  /** Whether its charset is a guess, which a warning shows. */
  isGuessed: boolean;
  /** Whether texts keep the apostrophes with which a CSV export guards them. */
  keepsGuards: boolean;
  /** Messages about the full file. Complete after the rows were read once. */
  messages: readonly FileMessage[];
  /** Writes rows in the same form. */
  write: RowWriter;
}

/** The code of the error of bytes that are not in their charset. */
export const ENCODING = "invalid_encoding";

/** The error of a full sheet, of which nothing is written. `text` is `code: Sentence`. */
export function faultAt(line: number, text: string): ApiError {
  return invalid("The sheet", [{ ...splitMessage(text), line, column: "" }]);
}
