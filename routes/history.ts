import { etagOf } from "../db/entity_tag.ts";
import { listDeleted } from "../db/history/deleted.ts";
import { type HistoryPage, listHistory, listProductHistory } from "../db/history/history.ts";
import { restoredText, restoreProduct } from "../db/history/restore.ts";
import { getPastProduct } from "../db/products/versions.ts";
import type { HandlerResponse } from "../middleware/context.ts";
import { type Admitted, checkPermission } from "../middleware/guard.ts";
import { successText } from "../middleware/respond.ts";
import {
  type Choice,
  type DeletedQuery,
  type HistoryQuery,
  type ProductHistoryQuery,
  type RestoreProduct,
  type RestoreQuery,
} from "../schema/history.ts";
import { ok } from "./responses.ts";

/* The handlers of the history of products. */

/** `GET /products/{id}` of a version or a time. Who may only read sees no old prices. */
export async function getPast(
  { caller, database, params, query }: Admitted<Choice>,
): Promise<HandlerResponse> {
  checkPermission(caller, "write");
  return ok(await getPastProduct(database, params.id, query));
}

/** `GET /products/{id}/history`. */
export async function listOfProduct(
  { database, params, query }: Admitted<ProductHistoryQuery>,
): Promise<HandlerResponse> {
  return pageOfHistory(await listProductHistory(database, params.id, query));
}

/** `GET /products/deleted`. */
export async function listOfDeleted(
  { database, query }: Admitted<DeletedQuery>,
): Promise<HandlerResponse> {
  return pageOfHistory(await listDeleted(database, query));
}

/** `GET /history`. */
export async function list(
  { database, query }: Admitted<HistoryQuery>,
): Promise<HandlerResponse> {
  return pageOfHistory(await listHistory(database, query));
}

/** `POST /products/{id}/restore`. */
export async function restore(
  { database, params, query, body, precondition }: Admitted<
    RestoreQuery,
    RestoreProduct
  >,
): Promise<HandlerResponse> {
  const { skip_missing, version, at } = body;
  const restoration = {
    id: params.id.toLowerCase(),
    version,
    at,
    precondition,
  };
  const restored = await restoreProduct(database, restoration, {
    skipMissing: skip_missing === true,
    isDryRun: query.dry_run,
  });
  return ok(restoredText(restored), { etag: etagOf(restored.product) });
}

function pageOfHistory({ entries, cursor, more }: HistoryPage): HandlerResponse {
  const body = successText(JSON.stringify(entries), { cursor, more });
  return { status: 200, body };
}
