import { type Cell, isBlank, textOf } from "../schema/cell.ts";
import type { FilePart, SheetFile } from "../schema/file.ts";
import type { SheetImportQuery } from "../schema/query.ts";
import {
  type RowErrors,
  type SheetMessage,
  type SheetReport,
  SheetTally,
} from "../schema/report.ts";
import { messageAt } from "../schema/convert_row.ts";
import type { Queries } from "../../../db/database.ts";
import { ImportEnded } from "../../../db/import_ended.ts";
import {
  bodyRows,
  firstRow,
  type Sheet,
  type SheetReadOptions,
  validateSheet,
} from "./validate_sheet.ts";
import { importRows } from "./group.ts";
import { SheetRow } from "./sheet_row.ts";
import type { OtherRow } from "./duplicate_rows.ts";

/*
 * Imports a sheet:
 *
 *     validateSheet  validate_sheet.ts   reads all rows once: header, form, rows of the same product
 *     importRows     group.ts            finds the products of a hundred rows, plans and writes them
 *     SheetRow.end   sheet_row.ts        sets the outcome of a row, for the report and the refused sheet
 */

/** The most rows of a group, which is written in one transaction. */
const GROUP_ROWS = 100;

/** The text at which a group ends, in characters. */
const GROUP_LENGTH = 200_000;

/**
 * The semicolons at which a group ends: each may stand before the name of a new contributor. A new
 * one costs up to a millisecond, and the transaction has a time limit.
 */
const GROUP_NAMES = 2_500;

export interface SheetOptions extends SheetImportQuery, SheetReadOptions {
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of rows so far. */
  progress?: (rows: number) => void;
}

/** The result of an import: the report, and a file of the refused and stale rows. */
export interface ImportedSheet {
  report: SheetReport;
  refused(): AsyncGenerator<FilePart>;
}

/**
 * Writes the rows of a sheet in groups, after the full sheet has passed validation. A refused row
 * does not keep others from being written. Throws `ImportEnded` if the rest cannot be written.
 */
export async function importSheet(
  queries: () => Queries,
  source: SheetFile,
  options: SheetOptions,
): Promise<ImportedSheet> {
  const { pace, admit, progress } = options;
  const sheet = await validateSheet(queries, source, options);
  const { file, decimal, ignored, skipped } = sheet;
  const { keepsGuards, messages } = file;
  const tally = new SheetTally({
    dry_run: options.dry_run,
    ignored_columns: ignored,
    skipped,
    messages: [...messages],
  });
  let group: SheetRow[] = [];
  let [length, names] = [0, 0];

  async function write(): Promise<void> {
    while (group.length > 0) {
      using _permit = await admit?.();
      await importRows(queries, group, { ...options, decimal, keepsGuards });
      for (const { index, outcome } of group) if (outcome) tally.add(index, outcome);
      group = group.filter(({ outcome }) => !outcome);
      progress?.(tally.rows);
    }
    [length, names] = [0, 0];
  }

  try {
    let isWarningDue = file.isGuessed;
    for await (const one of bodyRows(sheet)) {
      await pace();
      if (isBlank(one.cells)) continue;
      const row = new SheetRow(one, sheet);
      const guessed = isWarningDue && one.cells.map(textOf).find((cell) => NOT_ASCII.test(cell));
      if (guessed) row.warnings.push(charsetWarning(guessed));
      isWarningDue &&= !guessed;
      const other = sheet.duplicates.of(one.index);
      if (other && !row.outcome) endDuplicate(row, other);
      if (row.outcome) {
        tally.add(row.index, row.outcome);
        continue;
      }
      group.push(row);
      for (const cell of one.cells) {
        const text = textOf(cell);
        length += text.length;
        names += semicolonsIn(text);
      }
      const isFull = length >= GROUP_LENGTH || names >= GROUP_NAMES;
      if (group.length === GROUP_ROWS || isFull) await write();
    }
    await write();
  } catch (error) {
    throw new ImportEnded(tally.report(), error);
  }
  return {
    report: tally.report(),
    refused: () => file.write(unwrittenRows(sheet, tally.errors, options)),
  };
}

function semicolonsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(";"); at >= 0; at = text.indexOf(";", at + 1)) count++;
  return count;
}

/** Ends a row whose product has another row: unchanged if they are equal, otherwise refused. */
function endDuplicate(row: SheetRow, { line, isEqual }: OtherRow): void {
  if (isEqual) row.end("unchanged", []);
  else row.refuse(`duplicate: Line ${line} has another row of the same product: keep one of them`);
}

const NOT_ASCII = /[^\0-\x7f]/;

/** The warning about the first word that is read as Windows-1252. */
function charsetWarning(cell: string): SheetMessage {
  const at = cell.search(NOT_ASCII);
  const [start = ""] = /\S*$/.exec(cell.slice(Math.max(0, at - 25), at)) ?? [];
  const [end = ""] = /^\S*/.exec(cell.slice(at, at + 25)) ?? [];
  const word = start + end;
  return messageAt(
    `windows_1252: The sheet is not UTF-8: it was read as Windows-1252, such as "${word}"`,
    undefined,
    word,
    "warning",
  );
}

/** The refused and stale rows as sent, after a first column with their errors. */
async function* unwrittenRows(
  sheet: Sheet,
  errors: RowErrors,
  { columns, pace }: SheetOptions,
): AsyncGenerator<Cell[][]> {
  const first = await firstRow(sheet.file);
  const header = columns ?? first!.cells.map(textOf);
  /** The index of the column `error` of an earlier import. */
  const old = header.findIndex((name) => name.trim().toLowerCase() === "error");
  const withError = (error: string, cells: readonly Cell[]) => [
    error,
    ...cells.filter((_, i) => i !== old),
  ];
  yield [withError("error", header)];
  for await (const { index, cells } of bodyRows(sheet)) {
    await pace();
    const error = errors.of(index);
    if (error !== undefined) yield [withError(error, cells)];
  }
}
