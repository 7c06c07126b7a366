import { ImportEnded } from "../../db/import_ended.ts";
import { recordFetch } from "../changes/db/view_state.ts";
import { exportSheet } from "./db/export.ts";
import { ROW_BYTES } from "./db/duplicate_rows.ts";
import { importSheet } from "./db/import.ts";
import { openText } from "../../middleware/body.ts";
import { prefers } from "../../middleware/conditional.ts";
import type { Context, HandlerResponse } from "../../middleware/context.ts";
import { type Admitted, queriesOf } from "../../middleware/guard.ts";
import { toApiError } from "../../middleware/failure.ts";
import { GrowingMemory } from "../../middleware/memory.ts";
import { csvWriter, openCsv, unsupportedWorkbook } from "./schema/csv.ts";
import { type FilePart, type RowWriter, type SheetFile, XLSX_TYPE } from "./schema/file.ts";
import { openWorkbook } from "./schema/workbook/read.ts";
import { stringsBytes } from "./schema/workbook/strings.ts";
import { writeWorkbook } from "./schema/workbook/write.ts";
import { SHEET_OUTCOMES, type SheetReport } from "./schema/report.ts";
import {
  DELIMITERS,
  type SheetImportQuery,
  type SheetQuery,
  type WorkbookQuery,
} from "./schema/query.ts";
import { ok } from "../../middleware/responses.ts";
import { importError, streamImport } from "../../middleware/streamed_import.ts";
import type { Pace } from "../../schema/turns.ts";

/* The handlers of the catalogue as a sheet, in CSV and as a workbook. */

/** A file format of sheets. */
interface FileFormat {
  /** The media types of its requests, and their name in an error, as `openText` takes them. */
  known: RegExp;
  name: string;
  /** The media type in `Accept`, that of responses, and the ending of their files. */
  type: string;
  contentType: string;
  ending: string;
  /** The memory that a file of so many bytes takes. */
  memoryOf(bytes: number): number;
}

const CSV: FileFormat = {
  known: /^text\/csv[ \t]*(?:;[ \t]*(?:[\w-]+=(?:"[^"]*"|[^;"\s]+)[ \t]*)?)*$/i,
  name: "text/csv",
  type: "text/csv",
  contentType: "text/csv; charset=utf-8; header=present",
  ending: "csv",
  memoryOf: (bytes) => bytes,
};

const WORKBOOK: FileFormat = {
  known:
    /^application\/vnd\.openxmlformats-officedocument\.spreadsheetml\.sheet[ \t]*(?:;[^\r\n]{0,200})?$/i,
  name: `${XLSX_TYPE}: in the spreadsheet program, save the file as an Excel workbook (.xlsx)`,
  type: XLSX_TYPE,
  contentType: XLSX_TYPE,
  ending: "xlsx",
  // Its shared texts are unpacked.
  memoryOf: (bytes) => bytes + stringsBytes(bytes),
};

/** The factor of the limit of a body up to which a workbook may unpack. */
const UNPACKED = 8;

/** `GET /csv/products`: the products as a sheet, written as the client reads it. */
export async function exportCsv(
  context: Admitted<SheetQuery>,
): Promise<HandlerResponse> {
  const { delimiter, decimal, ...query } = context.query;
  const form = { delimiter: DELIMITERS[delimiter as keyof typeof DELIMITERS], decimal };
  return await exported(context, query, CSV, csvWriter(form));
}

/** `GET /xlsx/products`: the same as a workbook. */
export async function exportWorkbook(
  context: Admitted<WorkbookQuery>,
): Promise<HandlerResponse> {
  return await exported(context, context.query, WORKBOOK, writeWorkbook);
}

async function exported(
  context: Admitted<WorkbookQuery>,
  query: WorkbookQuery,
  form: FileFormat,
  write: RowWriter,
): Promise<HandlerResponse> {
  const { services, shares, caller, author, view } = context;
  const pace = shares.parsing.pacer(caller);
  // Each group has the time limit of a request, and needs valid credentials and the same view.
  const queries = async () => {
    context.deadline = performance.now() + services.deadlineMs;
    await context.checkCredentials();
    return queriesOf(context, caller, author);
  };
  if (view && caller.recipient) await (await queries()).write(recordFetch(view));
  return fileResponse("products", form, await exportSheet(queries, query, write, pace, view));
}

/** `POST /csv/products`: reads a sheet, and writes its rows as long as the credentials are valid. */
export async function importCsv(
  context: Admitted<SheetImportQuery>,
): Promise<HandlerResponse> {
  if (/spreadsheet|ms-excel/i.test(context.request.headers.get("content-type") ?? "")) {
    throw unsupportedWorkbook();
  }
  return await imported(
    context,
    CSV,
    ({ chunks, charset }) => openCsv(() => chunks, charset),
  );
}

/** `POST /xlsx/products`: the same of a workbook. */
export async function importWorkbook(
  context: Admitted<SheetImportQuery>,
): Promise<HandlerResponse> {
  const maxUnpacked = UNPACKED * context.services.maxOnixBytes;
  return await imported(
    context,
    WORKBOOK,
    ({ chunks }, pace) => openWorkbook(chunks, { maxUnpacked, pace }),
  );
}

async function imported(
  context: Admitted<SheetImportQuery>,
  form: FileFormat,
  open: (sent: SentFile, pace: Pace) => Promise<SheetFile>,
): Promise<HandlerResponse> {
  const { shares, caller, query, log, request } = context;
  using held = new DisposableStack();
  const memory = held.use(new GrowingMemory(shares.sheets, caller));
  return await streamImport(context, async ({ queries, pace, admit }) => {
    const sent = await readFile(context, form, memory);
    const holdRows = (rows: number) => memory.hold(form.memoryOf(sent.size) + rows * ROW_BYTES);
    const file = await open(sent, pace);
    const options = { ...query, pace, admit, holdRows };
    const { report, refused } = await importSheet(queries, file, options).catch((error) => {
      if (!(error instanceof ImportEnded)) throw error;
      const { cause, report } = error as ImportEnded<SheetReport>;
      log.records = rowCounts(report);
      throw importError(toApiError(cause), cause, report.rows > 0 ? report : undefined);
    });
    log.records = rowCounts(report);
    return prefers(request, form.type)
      // The rows are read from the file while the client reads them.
      ? { ...fileResponse("refused", form, refused()), held: held.move() }
      : ok(JSON.stringify(report));
  });
}

/** The size of the blocks in which a sheet is kept. */
const BLOCK_BYTES = 65_536;

/** A file as it was sent, but unpacked, in blocks of one size: the last one is shorter. */
interface SentFile {
  charset: string | undefined;
  chunks: Uint8Array[];
  size: number;
}

/**
 * Reads the body of a sheet, which is validated before anything is written. Throws
 * `UNSUPPORTED_MEDIA_TYPE` and the errors of `readChunks` and `GrowingMemory.hold`.
 */
async function readFile(
  context: Context,
  form: FileFormat,
  memory: GrowingMemory,
): Promise<SentFile> {
  const { charset, chunks: sent } = openText(context, form, "VALIDATION_ERROR");
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of sent) {
    // A million short chunks would take far more memory than their bytes.
    for (let from = 0; from < chunk.length;) {
      const used = size % BLOCK_BYTES;
      if (used === 0) {
        await memory.hold(form.memoryOf(size + BLOCK_BYTES));
        chunks.push(new Uint8Array(BLOCK_BYTES));
      }
      const part = chunk.subarray(from, from + BLOCK_BYTES - used);
      chunks.at(-1)!.set(part, used);
      size += part.length;
      from += part.length;
    }
  }
  const last = chunks.pop();
  if (last) chunks.push(last.subarray(0, size - chunks.length * BLOCK_BYTES));
  return { charset, chunks, size };
}

/** Counts the rows of a sheet by outcome, for the log line. */
function rowCounts(report: SheetReport): Record<string, number> {
  return Object.fromEntries(SHEET_OUTCOMES.map((outcome) => [outcome, report[outcome]]));
}

function fileResponse(
  name: string,
  { contentType, ending }: FileFormat,
  parts: AsyncGenerator<FilePart>,
): HandlerResponse {
  const day = new Date().toISOString().slice(0, 10);
  return {
    status: 200,
    parts,
    headers: {
      "content-type": contentType,
      "content-disposition": `attachment; filename="${name}-${day}.${ending}"`,
    },
  };
}
