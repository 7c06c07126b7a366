import { readMessage } from "../../schema/onix/xml/read.ts";
import { type Release, RELEASES, TAGS, type Tags } from "../../schema/onix/rules/releases.ts";
import type { Outcome, Report } from "../../schema/onix/report/report.ts";
import { ApiError } from "../../schema/errors.ts";
import { DATE_ORDERS, type DateOrder, type Decimal, DECIMALS } from "../../schema/sheets/cells.ts";
import { DELIMITERS, EMPTY, namesOf, type SheetImportQuery } from "../../schema/sheets/query.ts";
import { SHEET_OUTCOMES, type SheetReport } from "../../schema/sheets/report.ts";
import type { Queries } from "../database.ts";
import { ImportEnded } from "../import_ended.ts";
import { exportSheet } from "../sheets/export.ts";
import { importSheet } from "../sheets/import.ts";
import { exportMessage } from "../onix/export.ts";
import { importMessage, type ImportOptions } from "../onix/import.ts";
import { exportCatalogue } from "../transfer/export.ts";
import { importCatalogue } from "../transfer/import.ts";
import { choice, type Command, command, cursor, flag, mandatory, uuid } from "./arguments.ts";
import { openProgressBar, writeOut } from "./output.ts";
import { type ImportFile, openSource } from "./source.ts";
import { EDITS, type Edits, STALE, type Stale } from "../../schema/onix/mapping/options.ts";

/**
 * `deno task export` and `deno task import`: an organization as an NDJSON file, or its
 * products as an ONIX message.
 */
export const TRANSFER_COMMANDS: Record<string, Command> = {
  "export": command({
    usage:
      "export --organization ID [--format onix [--release 3.0|3.1] [--tags reference|short] [--after CURSOR] | --csv [--columns NAMES] [--delimiter comma|semicolon|tab] [--decimal point|comma]] > FILE",
    does:
      "Writes an organization without its keys and members, as one JSON object per line; or its products as an ONIX message, or only the changes after the cursor that the last export printed; or its products as a sheet (SHEETS.md)",
    args: {
      organization: uuid,
      format: choice(["ndjson", "onix"], "ndjson"),
      release: choice<Release>(RELEASES, "3.1"),
      tags: choice<Tags>(TAGS, "reference"),
      after: cursor,
      csv: flag,
      columns: (list?: string) => list === undefined ? undefined : namesOf(list),
      delimiter: choice<string>(Object.keys(DELIMITERS), "comma"),
      decimal: choice<Decimal>(DECIMALS, "point"),
    },
    async run(
      { organization, format, csv, columns, delimiter, decimal, ...message },
      { connect },
    ) {
      if (csv) {
        const database = await connect(organization);
        const sheet = { columns, delimiter, decimal, search: "", q: "" };
        const parts = await exportSheet(() => database, sheet).catch(told);
        for await (const part of parts) await writeOut(part);
        return "";
      }
      const isOnix = format === "onix";
      using bar = openProgressBar("Exporting", isOnix ? "records" : undefined);
      const database = await connect(organization);
      // A bar would mix with lines on the same terminal.
      const isTerminal = Deno.stdout.isTerminal();
      if (isOnix) {
        const { next, replaced, failed } = await exportMessage(database, {
          ...message,
          write: writeOut,
          progress: isTerminal ? undefined : (done) => bar.show(done, {}),
        });
        if (replaced > 0) {
          bar.print(
            `Records with characters that XML cannot hold, which were written as U+FFFD: ${replaced}`,
          );
        }
        bar.print(`For later changes: --after ${next}`);
        if (failed > 0) {
          bar.print(
            `Records that could not be written, named above: ${failed}`,
          );
          return { text: "", ok: false };
        }
      } else {
        await exportCatalogue(database, {
          write: writeOut,
          progress: isTerminal
            ? undefined
            : (done, total) => bar.show(done, { share: done / total }),
        });
      }
      return "";
    },
  }),
  "import": command({
    usage:
      "import --organization ID [--rename] [--dry-run] [--edits keep|protect|overwrite] [--stale skip|apply] [--create] [--empty keep|clear] [--decimal point|comma] [--dates ymd|dmy|mdy] [--create_names] FILE",
    does:
      "Imports the output of export, an ONIX message, or a sheet (FILE.csv, SHEETS.md), also packed with gzip, from a file, or from standard input if it is -; can be repeated. Gives an existing organization the name in an NDJSON file only with --rename. With --dry-run, says what would become of an ONIX message or a sheet, and writes nothing. --edits and --stale say what an ONIX message does to what was edited here, and whether an old one is applied. Ends with status 1 if a line was refused or a record rejected. Ctrl-C ends it: it says what was written, which stays",
    args: {
      organization: uuid,
      rename: flag,
      "dry-run": flag,
      edits: choice<Edits>(EDITS, "keep"),
      stale: choice<Stale>(STALE, "skip"),
      create: flag,
      empty: choice<typeof EMPTY[number]>(EMPTY, "keep"),
      decimal: (sign?: string) => sign === undefined ? undefined : choice(DECIMALS)(sign),
      dates: choice<DateOrder>(DATE_ORDERS, "ymd"),
      create_names: flag,
      "FILE": mandatory,
    },
    async run(
      {
        organization,
        rename,
        "dry-run": dryRun,
        edits,
        stale,
        FILE: path,
        ...sheet
      },
      { connect, connectToImport },
    ) {
      if (/\.csv$/i.test(path)) {
        return await importCsv(await connect(organization), path, {
          ...sheet,
          dry_run: dryRun,
          stale: stale === "apply" ? "apply" : "refuse",
        });
      }
      using source = await openSource(path);
      if (!source.isXml && !source.isJson) {
        throw new Error(
          "The file is neither an ONIX message (XML) nor the output of export (a JSON object on each line)",
        );
      }
      if (dryRun && !source.isXml) {
        throw new Error("--dry-run is for ONIX messages and sheets");
      }
      const database = await connectToImport(organization);
      return source.isXml
        ? await importOnix(database, source, { dryRun, edits, stale })
        : await importLines(database, source, rename);
    },
  }),
};

async function importLines(
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
  if (refused > 0) throw new Error(`${refused} of ${lines} lines were refused`);
  return `Imported ${lines} lines`;
}

/** Tells the details of an error of a sheet in one line. */
function told(error: unknown): never {
  if (!(error instanceof ApiError) || error.details.length === 0) throw error;
  const details = error.details.map((detail) => {
    const line = "line" in detail ? `Line ${detail.line}: ` : "";
    return `${line}${detail.message}`;
  });
  throw new Error(details.join("; "), { cause: error });
}

async function importCsv(
  database: Queries,
  path: string,
  query: SheetImportQuery,
): Promise<string> {
  const { dry_run: dryRun } = query;
  using bar = openProgressBar(dryRun ? "Checking" : "Importing", "rows");
  // It is read several times, and stays in its file.
  async function* source(): AsyncGenerator<Uint8Array> {
    using file = await openSource(path);
    yield* file.bytes;
  }
  const { report } = await importSheet(() => database, source, {
    ...query,
    pace: () => Promise.resolve(),
    progress: (rows) => bar.show(rows, {}),
  }).catch((error) => {
    if (!(error instanceof ImportEnded)) return told(error);
    for (const line of sheetLines(error.report)) bar.print(line);
    throw error.cause;
  });
  for (const line of sheetLines(report)) bar.print(line);
  const { rows, refused, stale } = report;
  if (refused + stale > 0) {
    throw new Error(
      `${refused + stale} of ${rows} rows ${dryRun ? "would be" : "were"} refused or stale`,
    );
  }
  return dryRun ? `Checked ${rows} rows: nothing was written` : `Imported ${rows} rows`;
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

async function importOnix(
  database: Queries,
  source: ImportFile,
  options: Pick<ImportOptions, "dryRun" | "edits" | "stale">,
): Promise<string> {
  const { dryRun } = options;
  using bar = openProgressBar(dryRun ? "Checking" : "Importing", "records");
  try {
    const message = readMessage(source.bytes);
    const report = await importMessage(() => database, message, {
      ...options,
      pace: () => Promise.resolve(),
      progress: (records) => bar.show(records, source.progress()),
    });
    for (const line of reportLines(report)) bar.print(line);
    const { records, rejected } = report;
    if (rejected > 0) {
      throw new Error(
        `${rejected} of ${records} records ${dryRun ? "would be" : "were"} rejected`,
      );
    }
    return dryRun
      ? `Checked ${records} records: nothing was written`
      : `Imported ${records} records`;
  } catch (error) {
    if (!(error instanceof ImportEnded)) throw error;
    for (const line of reportLines(error.report)) bar.print(line);
    const { message, line } = error.cause as Error & { line?: number };
    throw new Error(line ? `Line ${line}: ${message}` : message, {
      cause: error.cause,
    });
  }
}

function reportLines(report: Report): string[] {
  const { created, updated, unchanged, deleted, rejected, warnings } = report;
  const counts = { created, updated, unchanged, deleted, rejected, warnings };
  const total = Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`).join(", ");
  return [
    ...report.outcomes.flatMap(saidOf),
    ...report.more_messages > 0 ? [`${report.more_messages} more messages`] : [],
    ...report.not_sent.map(({ path, records }) =>
      `Will not be sent, in ${records} records: ${path}`
    ),
    report.dry_run ? `Nothing was written. It would be: ${total}` : total,
  ];
}

function saidOf(
  { line, record_reference, outcome, messages }: Outcome,
): string[] {
  const record = record_reference === null ? "" : ` (${record_reference})`;
  return messages.map(({ severity, path, value, message }) =>
    `Line ${line}${record}, ${outcome}: ${severity}: ${path}${
      value === null ? "" : ` "${value}"`
    }: ${message}`
  );
}
