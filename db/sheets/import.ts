import { invalid } from "../../schema/errors.ts";
import { isbnNumbers } from "../../schema/isbn.ts";
import { bareCell, decimalOf } from "../../schema/sheets/cells.ts";
import {
  type Column,
  type Header,
  MATCHES,
  readHeader,
} from "../../schema/sheets/columns.ts";
import { type Cells, matchOf } from "../../schema/sheets/draft.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import {
  type ByteForm,
  faultAt,
  formOf,
  isBlank,
  readRows,
  type Row,
} from "../../schema/sheets/read.ts";
import {
  type RowOutcome,
  type SheetMessage,
  type SheetReport,
  SheetTally,
} from "../../schema/sheets/report.ts";
import type { Queries } from "../database.ts";
import { readKnown } from "./columns.ts";
import { BYTE_ORDER_MARK, writeRows } from "./export.ts";
import { importRows, type SheetRow } from "./group.ts";

/** The rows of a group, which is written in one transaction. */
const GROUP = 100;

/** The most rows of a sheet: each is remembered, to find two of one product. */
const MAX_ROWS = 500_000;

export interface SheetOptions extends SheetImportQuery {
  charset?: string | undefined;
  /** Awaited between the steps of the work, so that other requests run. May throw. */
  pace: () => Promise<void>;
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of rows so far. */
  progress?: (rows: number) => void;
}

/** A sheet whose header, quotes and amounts are read through. */
interface Sheet extends Header {
  form: ByteForm;
  decimal: "point" | "comma" | undefined;
  skipped: number;
  /** The line of the other row of a product, by line: both are refused. */
  rivals: Map<number, number>;
  /** The lines that repeat an earlier one. */
  repeats: Set<number>;
  /** The number of columns, those without a place too. */
  width: number;
}

/** An import that has ended before the end of its sheet. Its cause is the reason. */
export class SheetEnded extends Error {
  override readonly name = "SheetEnded";
  readonly report: SheetReport;

  constructor(report: SheetReport, cause: unknown) {
    super("The import has ended before the end of its sheet", { cause });
    this.report = report;
  }
}

/** What became of a sheet: the report, and the refused and stale rows as a sheet to be mended. */
export interface ImportedSheet {
  report: SheetReport;
  refused(): AsyncGenerator<string>;
}

/**
 * Writes the rows of a sheet in groups, each row by itself. The whole sheet is read through
 * before the first row is written. Throws `SheetEnded` if the rest cannot be written.
 */
export async function importSheet(
  queries: () => Queries,
  chunks: readonly Uint8Array[],
  options: SheetOptions,
): Promise<ImportedSheet> {
  const { pace, admit, progress, dry_run: dryRun } = options;
  const sheet = await readThrough(queries, chunks, options);
  const { form, columns, repeats, ignored, decimal } = sheet;
  const tally = new SheetTally(dryRun, ignored, sheet.skipped);
  /** What is wrong with each row that is not written. */
  const errors = new Map<number, string>();
  const written = new Map<string, number>();
  let word = form.changedWord;
  let rows = 0;

  function add(outcome: RowOutcome): void {
    tally.add(outcome);
    if (outcome.outcome === "refused" || outcome.outcome === "stale") {
      errors.set(
        outcome.line,
        outcome.messages.map(({ column, message }) =>
          column ? `${column}: ${message}` : message
        ).join("; ").slice(0, 1_000),
      );
    }
  }

  async function write(group: SheetRow[]): Promise<void> {
    using _permit = await admit?.();
    const outcomes = await importRows(queries, group, {
      ...options,
      decimal,
      written,
    });
    outcomes.forEach(add);
    progress?.(rows += group.length);
  }

  try {
    let group: SheetRow[] = [];
    for await (const row of dataRows(chunks, form)) {
      await pace();
      const { line } = row;
      if (repeats.has(line)) {
        add(outcomeOf(line, "unchanged"));
        continue;
      }
      const fault = faultOf(row, sheet);
      if (fault) {
        add(outcomeOf(line, "refused", fault));
        continue;
      }
      const messages: SheetMessage[] = [];
      if (word && row.cells.some((cell) => /[^\0-\x7f]/.test(cell))) {
        messages.push({
          severity: "warning",
          column: null,
          code: "windows_1252",
          message:
            `The sheet is no UTF-8: it was read as Windows-1252, such as "${word}"`,
          value: word,
        });
        word = undefined;
      }
      group.push({ line, cells: cellsOf(row, columns), messages });
      if (group.length < GROUP) continue;
      await write(group);
      group = [];
    }
    if (group.length > 0) await write(group);
  } catch (error) {
    throw new SheetEnded(tally.report(), error);
  }
  return {
    report: tally.report(),
    refused: () => mendable(chunks, form, errors),
  };
}

function outcomeOf(
  line: number,
  outcome: RowOutcome["outcome"],
  ...messages: SheetMessage[]
): RowOutcome {
  return { line, id: null, isbn13: null, outcome, changes: [], messages };
}

/** Why a row is refused before its product is looked for. */
function faultOf(
  { line, cells }: Row,
  { rivals, width }: Sheet,
): SheetMessage | undefined {
  const fault = (code: string, message: string): SheetMessage => ({
    severity: "error",
    column: null,
    code,
    message,
    value: null,
  });
  if (cells.slice(width).some((cell) => cell.trim() !== "")) {
    return fault(
      "too_many",
      `The row has ${cells.length} cells, and the sheet ${width} columns`,
    );
  }
  const rival = rivals.get(line);
  if (rival === undefined) return;
  return fault(
    "duplicate",
    `Line ${rival} has another row of the same product: keep one of them`,
  );
}

function cellsOf({ cells }: Row, columns: Header["columns"]): Cells {
  const given = new Map<Column, string>();
  for (const [index, column] of columns) {
    if (index < cells.length) given.set(column, cells[index]!);
  }
  return given;
}

/** The rows below the header that are not blank. */
async function* dataRows(
  chunks: readonly Uint8Array[],
  form: ByteForm,
): AsyncGenerator<Row> {
  let isHeader = true;
  for await (const rows of readRows(chunks, form)) {
    for (const row of rows) {
      if (!isHeader && !isBlank(row)) yield row;
      isHeader = false;
    }
  }
}

/** Reads a sheet through. Throws `VALIDATION_ERROR` for what concerns all of it. */
async function readThrough(
  queries: () => Queries,
  chunks: readonly Uint8Array[],
  { charset, pace, ...options }: SheetOptions,
): Promise<Sheet> {
  const form = await formOf(chunks, charset, pace);
  const known = await readKnown(queries());
  let header: Header | undefined;
  let width = 0;
  let [skipped, count] = [0, 0];
  const rivals = new Map<number, number>();
  const repeats = new Set<number>();
  const first = new Map<string, { line: number; digest: string }>();
  const decimals = new Map<"point" | "comma", number>();
  for await (const rows of readRows(chunks, form)) {
    for (const row of rows) {
      await pace();
      if (!header) {
        header = checkHeader(row, readHeader(row.cells, known));
        width = row.cells.length;
        continue;
      }
      // Blank lines take their time, too.
      if (++count > MAX_ROWS) {
        throw faultAt(
          row.line,
          `too_many: A sheet has at most ${MAX_ROWS} rows: divide it`,
        );
      }
      if (isBlank(row)) {
        skipped++;
        continue;
      }
      const cells = cellsOf(row, header.columns);
      if (!options.decimal) {
        for (const [{ kind }, cell] of cells) {
          const sign = kind === "amount" ? decimalOf(cell) : undefined;
          if (sign && !decimals.has(sign)) decimals.set(sign, row.line);
        }
      }
      remember(row, cells);
    }
  }
  if (!header) {
    throw faultAt(
      1,
      "required: The sheet is empty: its first line names the columns",
    );
  }
  if (decimals.size > 1) {
    throw faultAt(
      Math.max(...decimals.values()),
      `invalid_number: Line ${
        decimals.get("point")
      } has a decimal point, line ${
        decimals.get("comma")
      } a decimal comma: write all amounts in one form, or say decimal`,
    );
  }
  const [decimal = options.decimal] = decimals.keys();
  return { ...header, form, decimal, skipped, rivals, repeats, width };

  function remember({ line, cells: all }: Row, cells: Cells): void {
    const found = matchOf(cells);
    if (!found) return;
    const { match, cell } = found;
    const bare = bareCell(cell);
    const key = match === "isbn13" || match === "isbn10"
      ? `isbn ${
        isbnNumbers({
          [match]: match === "isbn10"
            ? bare.padStart(10, "0").toUpperCase()
            : bare,
        })[0]
      }`
      : `${match} ${cell.trim().toLowerCase()}`;
    const digest = digestOf(all);
    const other = first.get(key);
    if (!other) first.set(key, { line, digest });
    else if (other.digest === digest) repeats.add(line);
    else {
      rivals.set(line, other.line);
      if (!rivals.has(other.line)) rivals.set(other.line, line);
    }
  }
}

/** A number of 106 bits that rows of other cells do not share by chance (FNV-1a, twice). */
function digestOf(cells: readonly string[]): string {
  let [one, other] = [0x811c9dc5, 0x1000193];
  for (const cell of cells) {
    for (let i = 0; i <= cell.length; i++) {
      const code = i < cell.length ? cell.charCodeAt(i) : 0x1f;
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 13);
    }
  }
  return `${one}.${other}.${cells.join("").length}`;
}

function checkHeader(
  { line }: Row,
  { faults, ...header }: ReturnType<typeof readHeader>,
): Header {
  if (faults.length > 0) {
    throw invalid(
      "The header",
      faults.map(({ column, text }) => {
        const [, code = "", message = ""] = /^(\w+): (.*)$/s.exec(text)!;
        return { line, column, code, message };
      }),
    );
  }
  const names = [...header.columns.values()].map(({ name }) => name);
  if (!MATCHES.some((match) => names.includes(match))) {
    throw faultAt(
      line,
      `required: A sheet has a column that finds the product: ${
        MATCHES.join(", ")
      }`,
    );
  }
  return header;
}

/** The rows that are not written, with what is wrong with them, as they were. */
async function* mendable(
  chunks: readonly Uint8Array[],
  form: ByteForm,
  errors: ReadonlyMap<number, string>,
): AsyncGenerator<string> {
  let isHeader = true;
  /** The column that an earlier import has added. */
  let old = -1;
  for await (const rows of readRows(chunks, form)) {
    const told = rows.flatMap(({ line, cells }) => {
      const error = isHeader ? "error" : errors.get(line);
      if (isHeader) {
        old = cells.findIndex((cell) => cell.trim().toLowerCase() === "error");
      }
      const isFirst = isHeader;
      isHeader = false;
      if (error === undefined) return [];
      const rest = cells.filter((_, i) => i !== old);
      return [[isFirst ? error : safe(error), ...rest]];
    });
    const isBegin = told[0]?.[0] === "error";
    if (told.length > 0) {
      yield (isBegin ? BYTE_ORDER_MARK : "") + writeRows(told, form.delimiter);
    }
  }
}

/** A message that no spreadsheet program takes for a formula. */
function safe(message: string): string {
  return /^[=+\-@]/.test(message) ? `'${message}` : message;
}
