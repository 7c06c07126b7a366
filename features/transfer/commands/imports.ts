import { Buffer } from "node:buffer";
import { ApiError } from "../../../schema/errors.ts";
import { UNPACED } from "../../../schema/turns.ts";
import type { Outcome, Report } from "../../onix/schema/report/report.ts";
import { readMessage } from "../../onix/schema/xml/read.ts";
import type { SheetImportQuery } from "../../sheets/schema/query.ts";
import { SHEET_OUTCOMES, type SheetReport } from "../../sheets/schema/report.ts";
import type { Queries } from "../../../db/database.ts";
import { ImportEnded } from "../../../db/import_ended.ts";
import { importMessage, type ImportOptions } from "../../onix/db/in/import.ts";
import { openCsv } from "../../sheets/schema/csv.ts";
import type { SheetFile } from "../../sheets/schema/file.ts";
import { openWorkbook } from "../../sheets/schema/workbook/read.ts";
import { importSheet } from "../../sheets/db/import.ts";
import { importCatalogue } from "../db/import.ts";
import { openProgressBar } from "../../../db/command_line/output.ts";
import { type ImportFile, openSource } from "./source.ts";

/*
 * The imports of `deno task import`. Each returns its last sentence, or throws if it left something
 * out.
 */

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
    const { records, announced } = await importCatalogue(database, source.bytes, {
      rename,
      refused(number, reason) {
        refused++;
        bar.print(`Line ${number}: ${reason}`);
      },
      progress: (done) => bar.show(lines = done, source.progress()),
    });
    if (records < announced) {
      bar.print(
        `The file has ${records} of the ${announced} records of its export: unless you have removed the others, it is truncated`,
      );
    }
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
  async function* source(): AsyncGenerator<Uint8Array> {
    using file = await openSource(path);
    yield* file.bytes;
  }
  return await importFile(database, await openCsv(source, undefined), query);
}

/** The most bytes of a workbook, and of its parts when they are unpacked. */
const MAX_PACKED = 64 * 2 ** 20;
const MAX_UNPACKED = 8 * MAX_PACKED;

/** Imports a workbook, whose packed bytes are kept. */
export async function importWorkbook(
  database: Queries,
  source: ImportFile,
  query: SheetImportQuery,
): Promise<string> {
  const bytes = await readAtMost(source.bytes, MAX_PACKED);
  const options = { maxUnpacked: MAX_UNPACKED, pace: UNPACED };
  const file = await openWorkbook([bytes], options).catch(throwDetails);
  return await importFile(database, file, query);
}

async function readAtMost(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw new Error(`A workbook has at most ${limit} bytes: divide it`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

async function importFile(
  database: Queries,
  file: SheetFile,
  query: SheetImportQuery,
): Promise<string> {
  const { dry_run: dryRun } = query;
  using bar = openProgressBar(dryRun ? "Checking" : "Importing", "rows");
  const importing = importSheet(() => database, file, {
    ...query,
    pace: UNPACED,
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
    pace: UNPACED,
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

/** Returns the sentence about a complete import. Throws it if something was left out. */
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
    ...report.messages.map(({ message }) => `The file: warning: ${message}`),
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
