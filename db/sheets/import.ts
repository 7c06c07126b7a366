import { safeCell } from "../../schema/sheets/cells.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import { isBlank, readSheetRows, type SheetBytes } from "../../schema/sheets/read.ts";
import { type SheetMessage, type SheetReport, SheetTally } from "../../schema/sheets/report.ts";
import { messageAt } from "../../schema/sheets/draft.ts";
import type { Queries } from "../database.ts";
import { ImportEnded } from "../import_ended.ts";
import { BYTE_ORDER_MARK, csvOf } from "./export.ts";
import { readThrough, type Sheet, type SheetReadOptions } from "./first_pass.ts";
import { importRows } from "./group.ts";
import { SheetRow } from "./sheet_row.ts";
import type { Twin } from "./twins.ts";

/*
 * A sheet into the catalogue:
 *
 *     readThrough   first_pass.ts   reads all rows once: header, form, and rows of one product
 *     importRows    group.ts        a hundred rows: finds their products, plans and writes them
 *     SheetRow.end  sheet_row.ts    the outcome of a row, for the report and the refused sheet
 */

/** The rows of a group, which is written in one transaction. */
const GROUP = 100;

export interface SheetOptions extends SheetImportQuery, SheetReadOptions {
  /** Awaited before a group is written. The result is disposed of afterwards. May throw. */
  admit?: () => Promise<Disposable>;
  /** Called after each group with the number of rows so far. */
  progress?: (rows: number) => void;
}

/** What became of a sheet: the report, and a sheet of the rows that have to be corrected. */
export interface ImportedSheet {
  report: SheetReport;
  refused(): AsyncGenerator<string>;
}

/**
 * Writes the rows of a sheet in groups. A row at fault keeps no other row from being written. The
 * whole sheet is read through before the first row is written. Throws `ImportEnded` if the rest
 * cannot be written.
 */
export async function importSheet(
  queries: () => Queries,
  source: SheetBytes,
  options: SheetOptions,
): Promise<ImportedSheet> {
  const { pace, admit, progress } = options;
  const sheet = await readThrough(queries, source, options);
  const { form, decimal } = sheet;
  const tally = new SheetTally(options.dry_run, sheet.ignored, sheet.skipped);
  let group: SheetRow[] = [];

  async function write(): Promise<void> {
    while (group.length > 0) {
      using _permit = await admit?.();
      await importRows(queries, group, { ...options, decimal });
      for (const { outcome } of group) if (outcome) tally.add(outcome);
      group = group.filter(({ outcome }) => !outcome);
      progress?.(tally.rows);
    }
  }

  try {
    let isWarningDue = form.charset === "windows-1252" && !form.isDeclared;
    for await (const { line, cells } of readSheetRows(source, form)) {
      if (line <= sheet.headerLine || isBlank(cells)) continue;
      await pace();
      const row = new SheetRow(line, cells, sheet);
      const guessed = isWarningDue && cells.find((cell) => /[^\0-\x7f]/.test(cell));
      if (guessed) row.warnings.push(charsetWarning(guessed));
      isWarningDue &&= !guessed;
      const twin = sheet.twins.get(line);
      if (twin && !row.outcome) endTwin(row, twin);
      if (row.outcome) tally.add(row.outcome);
      else if (group.push(row) === GROUP) await write();
    }
    await write();
  } catch (error) {
    throw new ImportEnded(tally.report(), error);
  }
  return { report: tally.report(), refused: () => unwrittenRows(source, sheet, tally.errors) };
}

/** Ends a row that has a twin: it repeats the twin, or contradicts it. */
function endTwin(row: SheetRow, { line, isEqual }: Twin): void {
  if (isEqual) row.end("unchanged", []);
  else row.refuse(`duplicate: Line ${line} has another row of the same product: keep one of them`);
}

/** The warning about the first word that is read as Windows-1252. */
function charsetWarning(cell: string): SheetMessage {
  const [word = ""] = /\S*[^\0-\x7f]\S*/.exec(cell) ?? [];
  const example = word.slice(0, 50);
  return messageAt(
    `windows_1252: The sheet is not UTF-8: it was read as Windows-1252, such as "${example}"`,
    undefined,
    word,
    "warning",
  );
}

/** The rows that are not written, as they were sent, after a column with their errors. */
async function* unwrittenRows(
  source: SheetBytes,
  { form, headerLine }: Sheet,
  errors: ReadonlyMap<number, string>,
): AsyncGenerator<string> {
  /** The index of the column `error` of an earlier import. */
  let old = -1;
  for await (const { line, cells } of readSheetRows(source, form)) {
    const error = line === headerLine ? "error" : errors.get(line);
    if (error === undefined) continue;
    if (line === headerLine) {
      old = cells.findIndex((cell) => cell.trim().toLowerCase() === "error");
      yield BYTE_ORDER_MARK;
    }
    const rest = cells.filter((_, i) => i !== old);
    yield csvOf([[safeCell(error), ...rest]], form.delimiter);
  }
}
