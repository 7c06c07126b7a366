import { EDITS, type Edits, STALE, type Stale } from "../../onix/schema/merge/options.ts";
import { type Release, RELEASES, TAGS, type Tags } from "../../onix/schema/rules/releases.ts";
import { DATE_ORDERS, type DateOrder, type Decimal, DECIMALS } from "../../sheets/schema/cells.ts";
import { csvWriter } from "../../sheets/schema/csv.ts";
import type { RowWriter } from "../../sheets/schema/file.ts";
import { writeWorkbook } from "../../sheets/schema/workbook/write.ts";
import {
  columnNames,
  DELIMITERS,
  EMPTY,
  HEADERS,
  type SheetImportQuery,
} from "../../sheets/schema/query.ts";
import type { Queries } from "../../../db/database.ts";
import { exportMessage, type ExportOptions } from "../../onix/db/out/export.ts";
import { exportSheet } from "../../sheets/db/export.ts";
import { exportCatalogue } from "../db/export.ts";
import {
  choice,
  type Command,
  command,
  flag,
  mandatory,
  optional,
  type Output,
  parsed,
  uuid,
} from "../../../db/command_line/arguments.ts";
import { recordFetch } from "../../changes/db/view_state.ts";
import { After, type Cursor } from "../../changes/schema.ts";
import { viewNamed } from "../../recipients/db/recipients.ts";
import { UNPACED } from "../../../schema/turns.ts";
import type { View } from "../../../schema/view.ts";
import { importCsv, importLines, importOnix, importWorkbook, throwDetails } from "./imports.ts";
import { openProgressBar, writeOut } from "../../../db/command_line/output.ts";
import { undoHint } from "../../../db/command_line/undo_hint.ts";
import { openSource } from "./source.ts";

/* The commands `export` and `import`. */

/**
 * `deno task export` and `deno task import`: an organization as an NDJSON file, or its
 * products as an ONIX message.
 */
export const TRANSFER_COMMANDS: Record<string, Command> = {
  "export": command({
    usage:
      "export --organization ID [--format onix [--release 3.0|3.1] [--tags reference|short] [--after CURSOR] | --csv [--columns NAMES] [--delimiter comma|semicolon|tab] [--decimal point|comma] | --xlsx [--columns NAMES]] [--recipient NAME] > FILE",
    does:
      "Writes an organization as one JSON object per line, without its keys and members. With --format onix, writes its products as an ONIX message, with --after only the changes since the export that printed the cursor. With --csv or --xlsx, writes its products as a sheet (SHEETS.md). With --recipient, a message or a sheet has what that recipient sees",
    args: {
      organization: uuid,
      format: choice(["ndjson", "onix"], "ndjson"),
      release: choice<Release>(RELEASES, "3.1"),
      tags: choice<Tags>(TAGS, "reference"),
      after: cursor,
      csv: flag,
      xlsx: flag,
      columns: (list?: string) => list === undefined ? undefined : columnNames(list),
      delimiter: choice<string>(Object.keys(DELIMITERS), "comma"),
      decimal: choice<Decimal>(DECIMALS, "point"),
      recipient: optional,
    },
    async run(
      { organization, format, csv, xlsx, columns, delimiter, decimal, recipient, ...message },
      { connect },
    ) {
      if (recipient !== undefined && !csv && !xlsx && format !== "onix") {
        throw new Error(
          "--recipient is for ONIX messages and sheets: add --format onix, --csv or --xlsx",
        );
      }
      const database = await connect(organization);
      const view = recipient === undefined ? undefined : await viewNamed(database, recipient);
      const form = { delimiter: DELIMITERS[delimiter as keyof typeof DELIMITERS], decimal };
      if (csv) return await exportRows(database, columns, csvWriter(form), view);
      if (xlsx) return await exportRows(database, columns, writeWorkbook, view);
      return format === "onix"
        ? await exportOnix(database, { ...message, view })
        : await exportLines(database);
    },
  }),
  "import": command({
    usage:
      "import --organization ID [--rename] [--dry-run] [--edits keep|protect|overwrite] [--stale skip|apply] [--columns NAMES [--header present|absent]] [--create] [--empty keep|clear] [--decimal point|comma] [--dates ymd|dmy|mdy] [--create_names] FILE",
    does:
      "Imports the output of export, an ONIX message, a workbook (.xlsx) or a sheet (FILE.csv, SHEETS.md), also packed with gzip. FILE is - for standard input. The same import can be repeated. --rename gives an existing organization the name in an NDJSON file. --dry-run prints the outcomes of an ONIX message or a sheet, and writes nothing. --edits decides whether an ONIX message overwrites your edits, --stale whether an old message is applied. Exits with 1 if a line was refused or a record rejected. Ctrl-C ends the import: it prints what was written, which stays. At its end, the import prints the command that undoes it",
    args: {
      organization: uuid,
      rename: flag,
      "dry-run": flag,
      edits: choice<Edits>(EDITS, "keep"),
      stale: choice<Stale>(STALE, "skip"),
      columns: (list?: string) => list === undefined ? undefined : columnNames(list),
      header: choice<typeof HEADERS[number]>(HEADERS, "present"),
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
      { connect, connectToImport, runId },
    ) {
      const query: SheetImportQuery = {
        ...sheet,
        dry_run: dryRun,
        stale: stale === "apply" ? "apply" : "refuse",
      };
      // Fails before the hint if there is no such file.
      if (path !== "-") await Deno.stat(path);
      using _hint = dryRun ? undefined : undoHint(organization, runId);
      if (/\.csv$/i.test(path)) {
        return await importCsv(await connect(organization), path, query);
      }
      using source = await openSource(path);
      if (source.isWorkbook) {
        return await importWorkbook(await connect(organization), source, query);
      }
      if (!source.isXml && !source.isJson) {
        throw new Error(
          "The file is neither an ONIX message (XML) nor the output of export (a JSON object on each line): the name of a sheet ends with .csv, or it is a workbook (.xlsx)",
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

/** Writes the products as a sheet. */
async function exportRows(
  database: Queries,
  columns: string[] | undefined,
  write: RowWriter,
  view: View | undefined,
): Promise<Output> {
  const query = { columns, search: "", q: "" };
  const parts = await exportSheet(
    () => Promise.resolve(database),
    query,
    write,
    UNPACED,
    view,
  )
    .catch(throwDetails);
  if (view) await database.write(recordFetch(view));
  for await (const part of parts) await writeOut(part);
  return "";
}

/** A bar would mix with lines on the same terminal. */
const isOutputShown = () => Deno.stdout.isTerminal();

async function exportLines(database: Queries): Promise<Output> {
  using bar = openProgressBar("Exporting");
  await exportCatalogue(database, {
    write: writeOut,
    progress: isOutputShown()
      ? undefined
      : (done, total) => bar.show(done, { share: done / total }),
  });
  return "";
}

async function exportOnix(
  database: Queries,
  message: Pick<ExportOptions, "release" | "tags" | "after" | "view">,
): Promise<Output> {
  using bar = openProgressBar("Exporting", "records");
  const { next, replaced, failed } = await exportMessage(database, {
    ...message,
    write: writeOut,
    progress: isOutputShown() ? undefined : (done) => bar.show(done, {}),
  });
  if (replaced > 0) {
    bar.print(
      `Records with characters that XML cannot hold, which were written as U+FFFD: ${replaced}`,
    );
  }
  bar.print(`For later changes: --after ${next}`);
  if (failed === 0) return "";
  bar.print(`Records that could not be written, named above: ${failed}`);
  return { text: "", ok: false };
}

/** An optional cursor of the feed of changes. */
export function cursor(given?: string): Cursor | undefined {
  return given === undefined
    ? undefined
    : parsed(After, given, "a cursor that an export has printed");
}
