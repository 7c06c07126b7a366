import { ImportEnded } from "../../db/import_ended.ts";
import { toApiError } from "../../middleware/failure.ts";
import { invalid } from "../../schema/errors.ts";
import { importError, streamImport } from "../../middleware/streamed_import.ts";
import type { UndoQuery, UndoReport, UndoRequest } from "./schema/undo.ts";
import { etagOf } from "../../db/entity_tag.ts";
import { listDeleted } from "./db/deleted.ts";
import { type HistoryPage, listHistory, listProductHistory } from "./db/history.ts";
import { compareVersions } from "./db/compare.ts";
import { restoredText, restoreProduct } from "./db/restore.ts";
import { outcomeCounts, undoRequest } from "./db/undo.ts";
import { getPastProduct, isMissing, restoreAdvice } from "./db/versions.ts";
import type { Handler, HandlerResponse } from "../../middleware/context.ts";
import { type Admitted, checkPermission } from "../../middleware/guard.ts";
import {
  type Choice,
  choosesVersion,
  type CompareQuery,
  type DeletedQuery,
  type HistoryQuery,
  type ProductHistoryQuery,
  type RestoreProduct,
  type RestoreQuery,
} from "./schema/history.ts";
import { jsonPieces } from "../../schema/json_pieces.ts";
import { inTurns } from "../../schema/turns.ts";
import { followed, ok } from "../../middleware/responses.ts";
import { DryRuns } from "./db/dry_runs.ts";

/* The handlers of the history of products. */

/** `GET /products/{id}`: the present product, by the given handler, or an older version. */
export function presentOrPast(getPresent: Handler<Admitted>): Handler<Admitted<Choice>> {
  return function get(context) {
    return choosesVersion(context.query) ? getPast(context) : getPresent(context);
  };
}

/**
 * Returns the product of a version or a time. It needs the permission to write, because old prices
 * are confidential. A recipient sees none.
 */
async function getPast(
  { caller, database, params, query, view }: Admitted<Choice>,
): Promise<HandlerResponse> {
  checkPermission(caller, "write");
  if (view) {
    throw invalid("The query", [{
      parameter: "recipient",
      code: "invalid_value",
      message: "A recipient sees no product as it was: leave out version and at",
    }]);
  }
  return ok(await getPastProduct(database, params.id, query));
}

/**
 * Wraps the handler of a product, whose id is in this parameter of the path. For a deleted product,
 * its error explains the restoration to callers that may write.
 */
export function withRestoreAdvice<Query, Body>(
  handler: Handler<Admitted<Query, Body>>,
  parameter: "id" | "product_id" = "id",
): Handler<Admitted<Query, Body>> {
  return async function restorable(context) {
    try {
      return await handler(context);
    } catch (error) {
      const { caller, database, params, view } = context;
      const id = params[parameter];
      if (!caller.may.write || view || !isMissing(id, error)) throw error;
      const advice = await restoreAdvice(database, [id]);
      throw advice.get(id.toLowerCase()) ?? error;
    }
  };
}

/** `GET /products/{id}/history`. */
export async function listOfProduct(
  { database, params, query, shares, caller }: Admitted<ProductHistoryQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  return pageOfHistory(await listProductHistory(database, params.id, query, pace));
}

/** `GET /products/deleted`. */
export async function listOfDeleted(
  { database, query, shares, caller }: Admitted<DeletedQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  return pageOfHistory(await listDeleted(database, query, pace));
}

/** `GET /history`. */
export async function list(
  { database, query, shares, caller }: Admitted<HistoryQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  return pageOfHistory(await listHistory(database, query, pace));
}

const dryRuns = new DryRuns();

/** `POST /products/{id}/restore`. */
export async function restore(
  { database, caller, deadline, params, query, body, precondition, shares }: Admitted<
    RestoreQuery,
    RestoreProduct
  >,
): Promise<HandlerResponse> {
  const { skip_missing: skipMissing, ...chosen } = body;
  const restoration = { id: params.id.toLowerCase(), ...chosen, skipMissing, precondition };
  const product = `${caller.organizationId} ${restoration.id}`;
  using _ = query.dry_run ? await dryRuns.enter(product, caller, deadline) : null;
  const pace = shares.parsing.pacer(caller);
  const restored = await restoreProduct(database, restoration, { pace, isDryRun: query.dry_run });
  return ok(await restoredText(restored, pace), { etag: etagOf(restored.product) });
}

/** `GET /products/{id}/history/compare`. */
export async function compare(
  { database, params, query, shares, caller }: Admitted<CompareQuery>,
): Promise<HandlerResponse> {
  const pace = shares.parsing.pacer(caller);
  const compared = await compareVersions(database, params.id, query, pace);
  return ok(await inTurns(jsonPieces(compared), pace));
}

/** `POST /history/undo`: undoes a request group by group, as long as the credentials are valid. */
export async function undo(
  context: Admitted<UndoQuery, UndoRequest>,
): Promise<HandlerResponse> {
  const { query, body, log } = context;
  return await streamImport(context, async ({ queries, pace, admit }) => {
    const options = { isDryRun: query.dry_run, pace, admit };
    const report = await undoRequest(queries, body, options).catch((error) => {
      if (!(error instanceof ImportEnded)) throw error;
      const { cause, report } = error as ImportEnded<UndoReport>;
      log.records = outcomeCounts(report);
      throw importError(toApiError(cause), cause, report.products > 0 ? report : undefined);
    });
    log.records = outcomeCounts(report);
    return ok(await inTurns(jsonPieces(report), pace));
  });
}

function pageOfHistory({ entries, cursor, more }: HistoryPage): HandlerResponse {
  return followed(`[${entries.join()}]`, { cursor: cursor ?? null, more });
}
