import { CsvError, type Info, parse } from "csv-parse";
import { ApiError, invalid } from "../errors.ts";
import { sameLines } from "./cells.ts";

/*
 * The bytes of a sheet become rows. `csv-parse` reads the quotes: unlike `papaparse`, which is
 * three times as fast, it limits a row that never ends, and finds a quote that is never closed.
 */

const MAX_ROW = 512 * 1024;
const MAX_COLUMNS = 1_000;

/** A row of a sheet. */
export interface Row {
  /** The line of the file on which it begins. */
  line: number;
  cells: string[];
}

export type Delimiter = "," | ";" | "\t";

/** How the bytes of a sheet are read. */
export interface ByteForm {
  charset: string;
  delimiter: Delimiter;
  /** The lines before the header: 1 after `sep=;`. */
  skipped: number;
  /** A word that only Windows-1252 explains, where the bytes are no UTF-8. */
  changedWord?: string;
}

const MARKS: readonly [string, readonly number[]][] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** Finds out how the bytes of a sheet are read. Throws `UNSUPPORTED_MEDIA_TYPE` and `VALIDATION_ERROR`. */
export async function formOf(
  chunks: readonly Uint8Array[],
  given: string | undefined,
  pace: () => Promise<void>,
): Promise<ByteForm> {
  const [first = new Uint8Array()] = chunks;
  if (first[0] === 0x50 && first[1] === 0x4b && first[2] === 3) {
    throw isWorkbook();
  }
  const mark = MARKS.find(([, bytes]) =>
    bytes.every((byte, i) => first[i] === byte)
  )?.[0];
  const charset = mark ?? given ??
    (await isDecodable(chunks, "utf-8", pace) ? "utf-8" : "windows-1252");
  if (
    charset !== "windows-1252" && !await isDecodable(chunks, charset, pace)
  ) {
    throw invalid("The sheet", [{
      line: 1,
      column: "",
      code: "invalid_encoding",
      message: `The bytes are not ${charset}`,
    }]);
  }
  let start = "";
  for (const text of decoded(chunks, charset)) {
    start += text;
    if (start.length > MAX_ROW) break;
  }
  const [, separator] = /^sep=(.)\n/.exec(start) ?? [];
  const header = start.slice(separator ? 6 : 0);
  const isGuess = !mark && !given && charset === "windows-1252";
  return {
    charset,
    delimiter: (separator as Delimiter) ?? delimiterOf(header),
    skipped: separator ? 1 : 0,
    ...isGuess && { changedWord: changedWordOf(chunks) },
  };
}

export function isWorkbook(): ApiError {
  return new ApiError(
    "UNSUPPORTED_MEDIA_TYPE",
    'Content-Type must be text/csv: in the spreadsheet program, choose "Save as CSV UTF-8"',
  );
}

async function isDecodable(
  chunks: readonly Uint8Array[],
  charset: string,
  pace: () => Promise<void>,
): Promise<boolean> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true });
    for (const chunk of chunks) {
      decoder.decode(chunk, { stream: true });
      await pace();
    }
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return false;
    throw error;
  }
}

function changedWordOf(chunks: readonly Uint8Array[]): string {
  for (const text of decoded(chunks, "windows-1252")) {
    const [word] = /[\w\u0080-\uffff]*[\u0080-\uffff][\w\u0080-\uffff]*/.exec(
      text,
    ) ?? [];
    if (word) return word.slice(0, 50);
  }
  return "";
}

/** The text of the bytes, with line feeds alone. */
function* decoded(
  chunks: readonly Uint8Array[],
  charset: string,
): Generator<string> {
  const decoder = new TextDecoder(charset);
  let carriage = "";
  for (const chunk of chunks) {
    const text = carriage + decoder.decode(chunk, { stream: true });
    carriage = text.endsWith("\r") ? "\r" : "";
    yield sameLines(carriage ? text.slice(0, -1) : text);
  }
  yield sameLines(carriage + decoder.decode());
}

/** The delimiter that is in the header line most often, outside of quotes and brackets. */
function delimiterOf(text: string): Delimiter {
  const bare = text.replace(/"(?:[^"]|"")*"/g, "").split("\n", 1)[0]!
    .replace(/\[[^\]]*\]/g, "");
  const counts = ([",", ";", "\t"] as const)
    .map((sign) => [bare.split(sign).length, sign] as const);
  return counts.reduce((a, b) => b[0] > a[0] ? b : a)[1];
}

/** Reads the rows, the header first. Throws `VALIDATION_ERROR` with the line of a fault. */
export async function* readRows(
  chunks: readonly Uint8Array[],
  { charset, delimiter, skipped }: ByteForm,
): AsyncGenerator<Row[]> {
  const options = {
    delimiter,
    record_delimiter: "\n",
    relax_quotes: true,
    relax_column_count: true,
    from_line: skipped + 1,
    max_record_size: MAX_ROW,
    info: true,
    readableHighWaterMark: 100_000,
    // An empty cell has no size.
    cast(value: string, { index, lines }: { index: number; lines: number }) {
      if (index < MAX_COLUMNS) return value;
      throw faultAt(lines, `too_many: At most ${MAX_COLUMNS} columns`);
    },
  };
  const parser = parse(options);
  let next = skipped + 1;
  let failure: unknown;
  parser.on("error", (error) => failure ??= error);

  function rows(): Row[] {
    const rows: Row[] = [];
    let read: { record: string[]; info: Info } | null;
    while ((read = parser.read())) {
      rows.push({ line: next, cells: read.record });
      next = read.info.lines + 1;
    }
    return rows;
  }

  function check(): void {
    if (!failure) return;
    if (failure instanceof ApiError) throw failure;
    if (!(failure instanceof CsvError)) throw failure;
    throw failure.code === "CSV_QUOTE_NOT_CLOSED"
      ? faultAt(next, "open_quote: A quote in this row is never closed")
      : failure.code === "CSV_MAX_RECORD_SIZE"
      ? faultAt(next, `too_large: A row has at most ${MAX_ROW} bytes`)
      : faultAt(next, `invalid_csv: ${failure.message}`);
  }

  try {
    for (const text of decoded(chunks, charset)) {
      parser.write(text);
      yield rows();
      // What fails is said in the next turn.
      await undefined;
      check();
    }
    const ended = new Promise((resolve) => {
      parser.on("end", resolve);
      parser.on("error", resolve);
      parser.on("close", resolve);
    });
    parser.end();
    yield rows();
    parser.resume();
    await ended;
    check();
  } finally {
    parser.destroy();
  }
}

/** The error of a sheet of which nothing is written. */
export function faultAt(
  line: number,
  text: string,
  column = "",
): ApiError {
  const [, code = "", message = ""] = /^(\w+): (.*)$/s.exec(text) ?? [];
  return invalid("The sheet", [{ line, column, code, message }]);
}

/** Whether a row has no cell with a text. */
export function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell.trim() === "");
}
