import { ImportEnded } from "../db/import_ended.ts";
import { exportSheet } from "../db/sheets/export.ts";
import { importSheet } from "../db/sheets/import.ts";
import { readSheet } from "../middleware/body.ts";
import { prefers } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import { type Admitted, queriesOf } from "../middleware/guard.ts";
import { toApiError } from "../middleware/respond.ts";
import { SHEET_OUTCOMES, type SheetReport } from "../schema/sheets/report.ts";
import type { SheetImportQuery, SheetQuery } from "../schema/sheets/query.ts";
import { ok } from "./responses.ts";
import { importError, memoryDeadline, streamImport } from "./streamed_import.ts";

/* The handlers of the catalogue as a sheet. */

/** `GET /csv/products`: the products as a sheet, written as the client reads it. */
export async function read(
  context: Admitted<SheetQuery>,
): Promise<HandlerResponse> {
  const { services, shares, caller, author, query } = context;
  const pace = shares.parsing.pacer(caller);
  // Each page has the time of a request.
  const queries = () => {
    context.deadline = performance.now() + services.deadlineMs;
    return queriesOf(context, caller, author);
  };
  const parts = await exportSheet(queries, query);
  async function* paced() {
    for await (const part of parts) {
      yield part;
      await pace();
    }
  }
  return csv("products", paced());
}

/** `POST /csv/products`: reads a sheet, and writes its rows as long as the credentials are valid. */
export async function write(
  context: Admitted<SheetImportQuery>,
): Promise<HandlerResponse> {
  const { services: { maxOnixBytes }, shares, caller, query, log, request } = context;
  const length = Number(request.headers.get("content-length") ?? maxOnixBytes);
  const bytes = Math.min(length, maxOnixBytes);
  using _held = await shares.sheets.enter(caller, "short", memoryDeadline(), bytes);
  return await streamImport(context, async ({ queries, pace, admit }) => {
    const { chunks, charset } = await readSheet(context);
    const options = { ...query, charset, pace, admit };
    const { report, refused } = await importSheet(queries, () => chunks, options).catch((error) => {
      if (!(error instanceof ImportEnded)) throw error;
      const { cause, report } = error as ImportEnded<SheetReport>;
      log.records = rowCounts(report);
      throw importError(toApiError(cause), cause, report.rows > 0 ? report : undefined);
    });
    log.records = rowCounts(report);
    return prefers(request, "text/csv") ? csv("refused", refused()) : ok(JSON.stringify(report));
  });
}

/** How many rows of a sheet had which outcome, for its log line. */
function rowCounts(report: SheetReport): Record<string, number> {
  return Object.fromEntries(SHEET_OUTCOMES.map((outcome) => [outcome, report[outcome]]));
}

function csv(name: string, parts: AsyncGenerator<string>): HandlerResponse {
  const day = new Date().toISOString().slice(0, 10);
  return {
    status: 200,
    parts,
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${name}-${day}.csv"`,
    },
  };
}
