import { EDITS, type Edits, STALE, type Stale } from "../../schema/onix/mapping/options.ts";
import { type Release, RELEASES, TAGS, type Tags } from "../../schema/onix/rules/releases.ts";
import { DATE_ORDERS, type DateOrder, type Decimal, DECIMALS } from "../../schema/sheets/cells.ts";
import { columnNames, DELIMITERS, EMPTY, type SheetQuery } from "../../schema/sheets/query.ts";
import type { Queries } from "../database.ts";
import { exportMessage, type ExportOptions } from "../onix/export.ts";
import { exportSheet } from "../sheets/export.ts";
import { exportCatalogue } from "../transfer/export.ts";
import {
  choice,
  type Command,
  command,
  cursor,
  flag,
  mandatory,
  type Output,
  uuid,
} from "./arguments.ts";
import { importCsv, importLines, importOnix, throwDetails } from "./imports.ts";
import { openProgressBar, writeOut } from "./output.ts";
import { openSource } from "./source.ts";

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
      columns: (list?: string) => list === undefined ? undefined : columnNames(list),
      delimiter: choice<string>(Object.keys(DELIMITERS), "comma"),
      decimal: choice<Decimal>(DECIMALS, "point"),
    },
    async run(
      { organization, format, csv, columns, delimiter, decimal, ...message },
      { connect },
    ) {
      const database = await connect(organization);
      if (csv) return await exportCsv(database, { columns, delimiter, decimal });
      return format === "onix" ? await exportOnix(database, message) : await exportLines(database);
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

async function exportCsv(
  database: Queries,
  columns: Pick<SheetQuery, "columns" | "delimiter" | "decimal">,
): Promise<Output> {
  const sheet = { ...columns, search: "", q: "" };
  const parts = await exportSheet(() => database, sheet).catch(throwDetails);
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
  message: Pick<ExportOptions, "release" | "tags" | "after">,
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
