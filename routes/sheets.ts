import { exportSheet } from "../db/sheets/export.ts";
import { importSheet, SheetEnded } from "../db/sheets/import.ts";
import { readSheet } from "../middleware/body.ts";
import { prefers } from "../middleware/conditional.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import { type Admitted, checkReady } from "../middleware/guard.ts";
import { toApiError } from "../middleware/respond.ts";
import { ApiError } from "../schema/errors.ts";
import type { SheetImportQuery, SheetQuery } from "../schema/sheets/query.ts";
import { ok } from "./responses.ts";

/* The handlers of the catalogue as a sheet. */

/** `GET /csv/products`: the products as a sheet, written as the client reads it. */
export async function read(
  context: Admitted<SheetQuery>,
): Promise<HandlerResponse> {
  const { services, shares, caller, query } = context;
  const pace = shares.parsing.pacer(caller);
  // Each page has the time of a request.
  const queries = () =>
    services.database.for({
      deadline: performance.now() + services.deadlineMs,
      caller,
    });
  const parts = await exportSheet(queries, query);
  async function* paced() {
    for await (const part of parts) {
      yield part;
      await pace();
    }
  }
  return csv("products", paced());
}

/** The memory for a group of rows that is written. */
const GROUP_BYTES = 16 * 2 ** 20;

/** The time that a group waits for its memory. */
const GROUP_WAIT_MS = 60_000;

/** `POST /csv/products`: reads a sheet, and writes its rows as long as the credentials are valid. */
export async function write(
  context: Admitted<SheetImportQuery>,
): Promise<HandlerResponse> {
  const { services, shares, caller, author, query, log, request } = context;
  const deadline = () => performance.now() + services.deadlineMs;
  const queries = () =>
    services.database.for({ deadline: deadline(), caller, author });
  const letOthersRun = shares.parsing.pacer(caller);
  async function pace() {
    checkReady(services);
    await letOthersRun();
  }
  const length = Number(
    request.headers.get("content-length") ?? services.maxOnixBytes,
  );
  using _held = await shares.sheets.enter(
    caller,
    "short",
    performance.now() + GROUP_WAIT_MS,
    Math.min(length, services.maxOnixBytes),
  );
  const { chunks, charset } = await readSheet(context);
  try {
    const { report, refused } = await importSheet(queries, chunks, {
      ...query,
      charset,
      pace,
      async admit() {
        context.deadline = deadline();
        await context.checkCredentials();
        const end = performance.now() + GROUP_WAIT_MS;
        return await shares.texts.enter(caller, "long", end, GROUP_BYTES);
      },
    });
    const { created, updated, unchanged, stale } = report;
    log.records = {
      created,
      updated,
      unchanged,
      stale,
      refused: report.refused,
    };
    return prefers(request, "text/csv")
      ? csv("refused", refused())
      : ok(JSON.stringify(report));
  } catch (error) {
    if (!(error instanceof SheetEnded)) throw error;
    const { code, message, details, headers } = toApiError(error.cause);
    throw new ApiError(code, message, {
      cause: error.cause,
      details,
      headers,
      ...error.report.rows > 0 && { report: error.report },
    });
  } finally {
    context.deadline = deadline();
  }
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
