import { Buffer } from "node:buffer";
import { ApiError, withHint } from "../../../schema/errors.ts";
import { type Cell, textOf } from "./cell.ts";
import { type Decimal, MAX_CELL, sameLines, TOO_LONG } from "./cells.ts";
import { CsvRows } from "./csv_rows.ts";
import { ENCODING, faultAt, MAX_ROW, type Row, type RowWriter, type SheetFile } from "./file.ts";
import { guarded } from "./guard.ts";
import { stringify } from "csv-stringify/sync";

/*
 * Sheets in CSV: bytes become rows (`csv_rows.ts`), and rows become text.
 */

/** Returns the bytes of a sheet from the beginning: a sheet is read several times. */
export type SheetBytes = () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The encoding and the delimiter of a sheet. */
interface ByteForm {
  charset: string;
  /** Whether the request or the first bytes declare the charset. */
  isDeclared: boolean;
  delimiter: string;
  /** The number of lines before the header: 1 after `sep=;`. */
  linesBefore: number;
}

/** The first bytes that declare an encoding. */
const MARKS: readonly [start: RegExp, charset: string][] = [
  [/^\xef\xbb\xbf/, "utf-8"],
  [/^\xff\xfe/, "utf-16le"],
  [/^\xfe\xff/, "utf-16be"],
  [/^(?:PK|\xd0\xcf)[^\w\s,;"]/, "workbook"],
];

/**
 * Opens a sheet in CSV. Bytes that are not UTF-8 are read as Windows-1252, unless they or `charset`
 * declare another one. Throws `UNSUPPORTED_MEDIA_TYPE` and `VALIDATION_ERROR`.
 */
export async function openCsv(source: SheetBytes, charset: string | undefined): Promise<SheetFile> {
  const form = await byteFormOf(source, charset);
  const file = (form: ByteForm, isGuessed: boolean): SheetFile => ({
    rows: () => readSheetRows(source, form),
    isGuessed,
    keepsGuards: false,
    messages: [],
    write: csvWriter({ delimiter: form.delimiter, decimal: "point" }),
  });
  return {
    ...file(form, false),
    ...!form.isDeclared && { otherwise: file({ ...form, charset: "windows-1252" }, true) },
  };
}

/** Detects the encoding and the delimiter of a sheet. */
async function byteFormOf(source: SheetBytes, given: string | undefined): Promise<ByteForm> {
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
    withHint(
      "Content-Type must be text/csv",
      'send an .xlsx workbook to /xlsx/products, and save another one as .xlsx or as "CSV UTF-8" in the spreadsheet program',
    ),
  );
}

function decoderFor(charset: string, fatal = false): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal });
  } catch {
    throw invalidEncoding(charset);
  }
}

function invalidEncoding(charset: string): ApiError {
  return faultAt(1, `${ENCODING}: The bytes are not ${charset}`);
}

/** The bytes that are read at once: a cell that is kept keeps the text of these. */
const PART_BYTES = 4_096;

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
    for (let from = 0; from < chunk.length; from += PART_BYTES) {
      const text = rest + decode(chunk.subarray(from, from + PART_BYTES));
      // A carriage return may belong to the line feed after it.
      rest = text.endsWith("\r") ? "\r" : "";
      yield sameLines(rest ? text.slice(0, -1) : text);
    }
  }
  yield sameLines(rest + decode());
}

/** The delimiter that is most frequent in the header line, outside quotes and brackets. */
function delimiterOf(text: string): string {
  const bare = outsideBrackets(text.replace(/"[^"]*"/g, "").split("\n", 1)[0]!);
  const count = (sign: string) => bare.split(sign).length;
  return [",", ";", "\t"].reduce((a, b) => count(b) > count(a) ? b : a);
}

/** The text without what is in brackets. A regular expression would look for each `]` again and again. */
function outsideBrackets(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const open = text.indexOf("[", from);
    const close = open < 0 ? -1 : text.indexOf("]", open);
    parts.push(text.slice(from, close < 0 ? undefined : open));
    if (close < 0) return parts.join("");
    from = close + 1;
  }
}

/** Reads the rows, the header first. Throws `VALIDATION_ERROR` with the line of a fault. */
async function* readSheetRows(
  source: SheetBytes,
  { charset, delimiter, linesBefore }: ByteForm,
): AsyncGenerator<Row> {
  const rows = new CsvRows(delimiter, linesBefore + 1);
  let isBefore = linesBefore > 0;
  for await (const part of decoded(source(), charset)) {
    const start = isBefore ? part.indexOf("\n") + 1 : 0;
    if (isBefore && start === 0) continue;
    isBefore = false;
    for (const row of rows.read(part.slice(start))) yield row;
  }
  for (const row of rows.end()) yield row;
}

/** The form of written CSV. */
export interface CsvForm {
  delimiter: string;
  decimal: Decimal;
}

/** The mark by which spreadsheet programs know UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

export function csvWriter(form: CsvForm): RowWriter {
  return async function* (groups) {
    let mark = BYTE_ORDER_MARK;
    for await (const rows of groups) {
      yield mark + stringify(rows.map((cells) => cells.map((cell) => csvCell(cell, form))), {
        delimiter: form.delimiter,
        record_delimiter: "\r\n",
        // A blank at an end is kept by every program if it is quoted, and so are other delimiters.
        quoted_match: /[\r\n,;\t]|^\s|\s$/,
      });
      mark = "";
    }
  };
}

function csvCell(cell: Cell, { decimal }: CsvForm): string {
  const text = textOf(cell);
  if (typeof cell === "string") {
    const safe = guarded(text);
    return safe.length > MAX_CELL ? TOO_LONG : safe;
  }
  // One hyphen keeps an ISBN text in every program.
  if (cell.kind === "isbn") return text.replace(/^(?:\d{3}(?=.{10}$)|\d(?=.{9}$))/, "$&-");
  return cell.kind === "number" && decimal === "comma" ? text.replace(".", ",") : text;
}
