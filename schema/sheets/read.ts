import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { ApiError, invalid, splitMessage } from "../errors.ts";
import { sameLines } from "./cells.ts";

/*
 * The bytes of a sheet become rows. `csv-parse` reads the quotes: unlike `papaparse`, which is
 * three times as fast, it limits a row that never ends, and finds a quote that is never closed.
 */

const MAX_ROW = 512 * 1024;
const MAX_COLUMNS = 1_000;

/** Returns the bytes of a sheet from the beginning: a sheet is read several times. */
export type SheetBytes = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A row of a sheet. */
export interface Row {
  /** The line of the file on which it begins. */
  line: number;
  cells: string[];
}

/** How the bytes of a sheet are read. */
export interface ByteForm {
  charset: string;
  /** Whether the request or the first bytes declare the charset. */
  isDeclared: boolean;
  delimiter: string;
  /** The number of lines before the header: 1 after `sep=;`. */
  linesBefore: number;
}

/** The first bytes that declare how the others are read. */
const MARKS: readonly [start: RegExp, charset: string][] = [
  [/^\xef\xbb\xbf/, "utf-8"],
  [/^\xff\xfe/, "utf-16le"],
  [/^\xfe\xff/, "utf-16be"],
  [/^(?:PK|\xd0\xcf)[^\w\s,;"]/, "workbook"],
];

/** Finds out how a sheet is read. Throws `UNSUPPORTED_MEDIA_TYPE` and `VALIDATION_ERROR`. */
export async function byteFormOf(source: SheetBytes, given: string | undefined): Promise<ByteForm> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of source()) {
    parts.push(part);
    if ((size += part.length) >= MAX_ROW) break;
  }
  const head = Buffer.concat(parts);
  const mark = MARKS.find(([start]) => start.test(head.toString("latin1", 0, 4)))?.[1];
  if (mark === "workbook") throw unsupportedWorkbook();
  const declared = mark ?? given;
  const charset = declared ?? "utf-8";
  const start = sameLines(decoderFor(charset).decode(head));
  const [sep = "", delimiter = delimiterOf(start)] = /^sep=(.)\n/.exec(start) ?? [];
  return { charset, isDeclared: declared !== undefined, delimiter, linesBefore: sep ? 1 : 0 };
}

export function unsupportedWorkbook(): ApiError {
  return new ApiError(
    "UNSUPPORTED_MEDIA_TYPE",
    'Content-Type must be text/csv: in the spreadsheet program, choose "Save as CSV UTF-8"',
  );
}

function decoderFor(charset: string, fatal = false): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    throw invalidEncoding(charset);
  }
}

/** The code of the error of bytes that are not in their charset. */
export const ENCODING = "invalid_encoding";

function invalidEncoding(charset: string): ApiError {
  return faultAt(1, `${ENCODING}: The bytes are not ${charset}`);
}

/** The text of the bytes, with line feeds alone. */
async function* decoded(chunks: ReturnType<SheetBytes>, charset: string): AsyncGenerator<string> {
  const decoder = decoderFor(charset, true);
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw invalidEncoding(charset);
    }
  };
  let rest = "";
  for await (const chunk of chunks) {
    const text = rest + decode(chunk);
    // A carriage return may belong to the line feed after it.
    rest = text.endsWith("\r") ? "\r" : "";
    yield sameLines(rest ? text.slice(0, -1) : text);
  }
  yield sameLines(rest + decode());
}

/** The delimiter that is most frequent in the header line, outside quotes and brackets. */
function delimiterOf(text: string): string {
  const bare = text.replace(/"(?:[^"]|"")*"/g, "").split("\n", 1)[0]!
    .replace(/\[[^\]]*\]/g, "");
  const count = (sign: string) => bare.split(sign).length;
  return [",", ";", "\t"].reduce((a, b) => count(b) > count(a) ? b : a);
}

/** Reads the rows, the header first. Throws `VALIDATION_ERROR` with the line of a fault. */
export async function* readSheetRows(
  source: SheetBytes,
  { charset, delimiter, linesBefore }: ByteForm,
): AsyncGenerator<Row> {
  let line = linesBefore + 1;
  const options = {
    delimiter,
    record_delimiter: "\n",
    relax_quotes: true,
    relax_column_count: true,
    from_line: linesBefore + 1,
    max_record_size: MAX_ROW,
    // An empty cell has no size.
    cast(cell: string, { index }: { index: number }) {
      if (index < MAX_COLUMNS) return cell;
      throw faultAt(line, `too_many: At most ${MAX_COLUMNS} columns`);
    },
    on_record(cells: string[], { lines }: { lines: number }): Row {
      const row = { line, cells };
      line = lines + 1;
      return row;
    },
  };
  // The types of csv-parse do not allow for the rows that `on_record` returns.
  const parser = parse(options as object);
  try {
    yield* pipeline(
      Readable.from(decoded(source(), charset)),
      parser,
      () => {},
    );
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw faultAt(line, CSV_FAULTS[error.code] ?? `invalid_csv: ${error.message}`);
  }
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "open_quote: A quote in this row is never closed",
  CSV_MAX_RECORD_SIZE: `too_large: A row has at most ${MAX_ROW} bytes`,
};

/** The error of a whole sheet, of which nothing is written. `text` is `code: Sentence`. */
export function faultAt(line: number, text: string): ApiError {
  return invalid("The sheet", [{ ...splitMessage(text), line, column: "" }]);
}

/** Whether a row has no cell with a text. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}
