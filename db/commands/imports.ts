import { ApiError } from "../../schema/errors.ts";
import type { Outcome, Report } from "../../schema/onix/report/report.ts";
import { readMessage } from "../../schema/onix/xml/read.ts";
import type { SheetImportQuery } from "../../schema/sheets/query.ts";
import { SHEET_OUTCOMES, type SheetReport } from "../../schema/sheets/report.ts";
import type { Queries } from "../database.ts";
import { ImportEnded } from "../import_ended.ts";
import { importMessage, type ImportOptions } from "../onix/import.ts";
import { importSheet } from "../sheets/import.ts";
import { importCatalogue } from "../transfer/import.ts";
import { openProgressBar } from "./output.ts";
import { type ImportFile, openSource } from "./source.ts";

/* The imports of `deno task import`. Each returns its last sentence, or throws that it left something out. */

/** Imports an organization as NDJSON. */
export async function importLines(
  database: Queries,
  source: ImportFile,
  rename: boolean,
): Promise<string> {
  using bar = openProgressBar("Importing");
  bar.show(0, source.progress());
  let refused = 0;
  let lines = 0;
  try {
    await importCatalogue(database, source.bytes, {
      rename,
      refused(number, reason) {
        refused++;
        bar.print(`Line ${number}: ${reason}`);
      },
      progress: (done) => bar.show(lines = done, source.progress()),
    });
  } catch (error) {
    bar.print(`Imported ${lines - refused} lines, ${refused} were refused`);
    throw error;
  }
  return lastSentence(lines, "lines", refused, "refused");
}

/** Imports a sheet, which is read several times, and stays in its file. */
export async function importCsv(
  database: Queries,
  path: string,
  query: SheetImportQuery,
): Promise<string> {
  const { dry_run: dryRun } = query;
  using bar = openProgressBar(dryRun ? "Checking" : "Importing", "rows");
  async function* source(): AsyncGenerator<Uint8Array> {
    using file = await openSource(path);
    yield* file.bytes;
  }
  const importing = importSheet(() => database, source, {
    ...query,
    pace: () => Promise.resolve(),
    progress: (rows) => bar.show(rows, {}),
  });
  const { rows, refused, stale } = await printed(
    importing.then(({ report }) => report, throwDetails),
    (report) => sheetLines(report).forEach(bar.print),
  );
  return lastSentence(rows, "rows", refused + stale, "refused or stale", dryRun);
}

/** Imports an ONIX message. */
export async function importOnix(
  database: Queries,
  source: ImportFile,
  options: Pick<ImportOptions, "dryRun" | "edits" | "stale">,
): Promise<string> {
  const { dryRun } = options;
  using bar = openProgressBar(dryRun ? "Checking" : "Importing", "records");
  const importing = importMessage(() => database, readMessage(source.bytes), {
    ...options,
    pace: () => Promise.resolve(),
    progress: (records) => bar.show(records, source.progress()),
  });
  const { records, rejected } = await printed(
    importing.then(({ report }) => report),
    (report) => reportLines(report).forEach(bar.print),
    withLine,
  );
  return lastSentence(records, "records", rejected, "rejected", dryRun);
}

/** Awaits an import, and prints its report. One that has ended early throws its cause. */
async function printed<R>(
  importing: Promise<R>,
  print: (report: R) => void,
  toError = (cause: unknown) => cause,
): Promise<R> {
  try {
    const report = await importing;
    print(report);
    return report;
  } catch (error) {
    if (!(error instanceof ImportEnded)) throw error;
    print(error.report);
    throw toError(error.cause);
  }
}

/** The sentence about an import that has read all. Throws it if something is left out. */
function lastSentence(
  count: number,
  units: string,
  leftOut: number,
  because: string,
  isDryRun = false,
): string {
  if (leftOut > 0) {
    throw new Error(
      `${leftOut} of ${count} ${units} ${isDryRun ? "would be" : "were"} ${because}`,
    );
  }
  return isDryRun ? `Checked ${count} ${units}: nothing was written` : `Imported ${count} ${units}`;
}

/** The error of a message, with the line that it is about. */
function withLine(cause: unknown): Error {
  const { message, line } = cause as Error & { line?: number };
  return new Error(line ? `Line ${line}: ${message}` : message, { cause });
}

/** Throws the error of a sheet with its details as one line. */
export function throwDetails(error: unknown): never {
  if (!(error instanceof ApiError) || error.details.length === 0) throw error;
  const details = error.details.map((detail) => {
    const line = "line" in detail ? `Line ${detail.line}: ` : "";
    return `${line}${detail.message}`;
  });
  throw new Error(details.join("; "), { cause: error });
}

function sheetLines(report: SheetReport): string[] {
  const total = SHEET_OUTCOMES.map((name) => `${report[name]} ${name}`)
    .join(", ");
  return [
    ...report.outcomes.flatMap(({ line, outcome, messages }) =>
      messages.map(({ severity, column, value, message }) =>
        `Line ${line}, ${outcome}: ${severity}: ${column ? `${column} ` : ""}${
          value ? `"${value}"` : ""
        }: ${message}`
      )
    ),
    ...report.more_outcomes > 0 ? [`${report.more_outcomes} more outcomes`] : [],
    report.dry_run ? `Nothing was written. It would be: ${total}` : total,
  ];
}

function reportLines(report: Report): string[] {
  const { created, updated, unchanged, deleted, rejected, warnings } = report;
  const counts = { created, updated, unchanged, deleted, rejected, warnings };
  const total = Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`).join(", ");
  return [
    ...report.outcomes.flatMap(outcomeLines),
    ...report.more_messages > 0 ? [`${report.more_messages} more messages`] : [],
    ...report.not_sent.map(({ path, records }) =>
      `Will not be sent, in ${records} records: ${path}`
    ),
    report.dry_run ? `Nothing was written. It would be: ${total}` : total,
  ];
}

function outcomeLines(
  { line, record_reference, outcome, messages }: Outcome,
): string[] {
  const record = record_reference === null ? "" : ` (${record_reference})`;
  return messages.map(({ severity, path, value, message }) =>
    `Line ${line}${record}, ${outcome}: ${severity}: ${path}${
      value === null ? "" : ` "${value}"`
    }: ${message}`
  );
}
