import type { Handler } from "../middleware/context.ts";
import type { Admitted, GuardedOperation } from "../middleware/guard.ts";
import { Revocation } from "../schema/api_key.ts";
import { ChangesParameters } from "../features/changes/schema.ts";
import { UndoParameters } from "../features/history/schema/undo.ts";
import {
  CompareParameters,
  DeletedParameters,
  HistoryParameters,
  ProductHistoryParameters,
  RestoreParameters,
  VersionParameters,
} from "../features/history/schema/history.ts";
import { ProductParameters } from "../schema/list_query.ts";
import {
  ImportParameters,
  OnixChangesParameters,
  OnixParameters,
} from "../features/onix/schema/query.ts";
import {
  ReadinessListParameters,
  ReadinessParameters,
} from "../features/readiness/schema/query.ts";
import type { OperationKey, Permission } from "../schema/operation.ts";
import type { BodyName, BodyOf, DescribedOperation } from "./openapi/operation.ts";
import type { OperationId } from "./openapi/prose/prose.ts";
import type { NoParameters, QueryOf, QuerySchema } from "../schema/parameters.ts";
import { CodeParameters, PageParameters, RecordParameters } from "../schema/record_query.ts";
import { ViewParameters } from "../schema/view.ts";
import {
  SheetImportParameters,
  SheetParameters,
  WorkbookImportParameters,
  WorkbookParameters,
} from "../features/sheets/schema/query.ts";
import { completeErrors } from "../features/recipients/db/criteria.ts";
import { DryRunParameters } from "../features/recipients/schema/recipient.ts";
import { DeliveryParameters } from "../features/webhooks/schema.ts";
import * as batch from "../features/batch/routes.ts";
import * as changes from "../features/changes/routes.ts";
import { openapiHandler } from "./docs.ts";
import * as health from "./health.ts";
import * as history from "../features/history/routes.ts";
import * as keys from "./keys.ts";
import * as onix from "../features/onix/routes.ts";
import * as products from "./products.ts";
import * as readiness from "../features/readiness/routes.ts";
import * as recipients from "../features/recipients/routes.ts";
import * as records from "./records.ts";
import * as sheets from "../features/sheets/routes.ts";
import * as webhooks from "../features/webhooks/routes.ts";
import { FEED_PAGE_BYTES, VERSIONS_BYTES } from "../db/sizes.ts";

/** A row of the table: an operation with its handler, and its names in the OpenAPI document. */
type OperationRow = GuardedOperation & DescribedOperation;

const MIB = 2 ** 20;

/**
 * The API, one operation per row: method and path, `operationId`, permission, parameters and
 * responses, memory, and handler. Routes, guard and the OpenAPI document read these rows.
 * `{records}` stands for each table of an organization's records, `{codes}` for each code list, and
 * other words in braces for those of the table (`routes/openapi/tables.ts`). `createHandler`
 * (`handler.ts`) shows the path of a request to its row, and from there to the driver.
 */
// deno-fmt-ignore
export const OPERATIONS: readonly OperationRow[] = [
  // Products (specification, 4)
  operation("GET /products", "listProducts", { permission: "view", handler: products.list,
    query: ProductParameters, response: "ProductsResponse", headers: ["Link"], memory: MIB }),
  operation("POST /products", "createProduct", { permission: "write", handler: products.create,
    body: "CreateProduct", status: 201, response: "ProductResponse",
    headers: ["Idempotency-Key", "Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"] }),
  operation("GET /products/changes", "listChanges", { permission: "view", handler: changes.list,
    query: ChangesParameters, response: "ChangesResponse", errors: ["CURSOR_EXPIRED", "CONFLICT"],
    memory: FEED_PAGE_BYTES }),
  operation("POST /products/batch", "writeProducts", { permission: "write", handler: batch.write,
    body: "Batch", response: "BatchResponse",
    headers: ["Idempotency-Key", "Idempotent-Replayed", "Ignored-Fields"],
    errors: ["NOT_FOUND", "CONFLICT", "AMBIGUOUS", "PRECONDITION_FAILED"], memory: MIB }),
  operation("GET /products/readiness", "listReadiness", { permission: "read", handler: readiness.list,
    query: ReadinessListParameters, response: "ReadinessPageResponse", memory: FEED_PAGE_BYTES, isParsed: true }),
  operation("GET /products/deleted", "listDeletedProducts", { permission: "write",
    handler: history.listOfDeleted, query: DeletedParameters, response: "DeletedProductsResponse",
    errors: ["CONFLICT"], memory: MIB, isParsed: true }),
  operation("GET /products/{id}", "getProduct", { permission: "view",
    handler: history.presentOrPast(history.withRestoreAdvice(products.get)),
    query: VersionParameters, unseen: ["version", "at"], response: "ProductResponse",
    headers: ["If-None-Match", "ETag"], errors: ["CONFLICT", "HISTORY_EXPIRED"] }),
  operation("PUT /products/{id}", "updateProduct", { permission: "write",
    handler: history.withRestoreAdvice(products.update),
    body: "UpdateProduct", response: "ProductResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),
  operation("DELETE /products/{id}", "deleteProduct", { permission: "write", handler: products.remove,
    response: "DeletedResponse", headers: ["If-Match"], errors: ["CONFLICT"] }),

  // History. Old prices are only for callers that can write
  operation("GET /products/{id}/history", "listProductHistory", { permission: "write",
    handler: history.listOfProduct, query: ProductHistoryParameters, response: "ProductHistoryResponse",
    errors: ["CONFLICT"], memory: VERSIONS_BYTES, isParsed: true }),
  operation("POST /products/{id}/restore", "restoreProduct", { permission: "write", handler: history.restore,
    query: RestoreParameters, body: "RestoreProduct", response: "RestoredResponse",
    headers: ["If-Match", "ETag"], errors: ["CONFLICT", "HISTORY_EXPIRED"], isParsed: true,
    isBodyOptional: true }),
  operation("GET /history", "listHistory", { permission: "write", handler: history.list,
    query: HistoryParameters, response: "HistoryResponse", errors: ["CONFLICT"], memory: VERSIONS_BYTES,
    isParsed: true }),
  operation("GET /products/{id}/history/compare", "compareVersions", { permission: "write",
    handler: history.compare, query: CompareParameters, response: "ComparisonResponse",
    errors: ["CONFLICT", "HISTORY_EXPIRED"], isParsed: true }),
  operation("POST /history/undo", "undoRequest", { permission: "write", handler: history.undo,
    query: UndoParameters, body: "UndoRequest", response: "UndoReportResponse", isLong: true,
    errors: ["NOT_FOUND", "CONFLICT", "HISTORY_EXPIRED"] }),

  // Rights and supply of a product
  operation("GET /products/{id}/territories", "getTerritories", { permission: "view",
    handler: history.withRestoreAdvice(products.getArray("product_territories")), query: ViewParameters,
    response: "TerritoriesResponse", headers: ["If-None-Match", "ETag"], errors: ["CONFLICT"] }),
  operation("PUT /products/{id}/territories", "replaceTerritories", { permission: "write",
    handler: history.withRestoreAdvice(products.replaceTerritories), body: "ReplaceTerritories",
    response: "ProductResponse", headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),
  operation("GET /products/{id}/sales-rights", "getSalesRights", { permission: "view",
    handler: history.withRestoreAdvice(products.getArray("product_sales_rights")), query: ViewParameters,
    response: "SalesRightsResponse", headers: ["If-None-Match", "ETag"], errors: ["CONFLICT"] }),
  operation("PUT /products/{id}/sales-rights", "replaceSalesRights", { permission: "write",
    handler: history.withRestoreAdvice(products.replaceArray("product_sales_rights")), body: "ReplaceSalesRights",
    response: "ProductResponse", headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),

  // The same products as a sheet
  operation("GET /csv/products", "exportSheet", { permission: "view", handler: sheets.exportCsv,
    query: SheetParameters, csv: ["response"], headers: ["Content-Disposition"], memory: MIB, isLong: true }),
  operation("POST /csv/products", "importSheet", { permission: "write", handler: sheets.importCsv,
    query: SheetImportParameters, csv: ["body", "response"], headers: ["Content-Encoding", "Content-Disposition"],
    response: "SheetReportResponse" }),
  operation("GET /xlsx/products", "exportWorkbook", { permission: "view", handler: sheets.exportWorkbook,
    query: WorkbookParameters, xlsx: ["response"], headers: ["Content-Disposition"], memory: MIB, isLong: true }),
  operation("POST /xlsx/products", "importWorkbook", { permission: "write", handler: sheets.importWorkbook,
    query: WorkbookImportParameters, xlsx: ["body", "response"], headers: ["Content-Encoding", "Content-Disposition"],
    response: "SheetReportResponse" }),

  // The same products in ONIX for Books
  operation("GET /onix/products", "listOnixRecords", { permission: "view", handler: onix.list,
    query: OnixChangesParameters, xml: ["response"], headers: ["Link"], errors: ["CURSOR_EXPIRED"],
    memory: FEED_PAGE_BYTES }),
  operation("POST /onix/products", "importOnix", { permission: "write", handler: onix.write,
    query: ImportParameters, xml: ["body", "response"], headers: ["Content-Encoding"], response: "OnixReportResponse" }),
  operation("GET /onix/products/{id}", "getOnixRecord", { permission: "view", handler: history.withRestoreAdvice(onix.get),
    query: OnixParameters, xml: ["response"], headers: ["If-None-Match", "ETag"] }),

  // Readiness of products for recipients
  operation("GET /recipient-profiles", "listRecipientProfiles", { permission: "read",
    handler: readiness.listProfiles, response: "RecipientProfilesResponse" }),
  operation("GET /recipient-profiles/{name}", "getRecipientProfile", { permission: "read",
    handler: readiness.getProfile, response: "RecipientProfileResponse" }),
  operation("GET /products/{id}/readiness", "getProductReadiness", { permission: "read",
    handler: history.withRestoreAdvice(readiness.get), query: ReadinessParameters, response: "ReadinessResponse",
    isParsed: true }),

  // Recipients, and what each sees. Their selections are the publisher's own business
  operation("GET /recipients", "listRecipients", { permission: "write", handler: recipients.list,
    query: RecordParameters, response: "RecipientsResponse", headers: ["Link"] }),
  operation("POST /recipients", "createRecipient", { permission: "write", handler: recipients.create,
    query: DryRunParameters, body: "CreateRecipient", completeErrors, status: 201,
    response: "WrittenRecipientResponse", errors: ["CONFLICT"],
    headers: ["Idempotency-Key", "Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"] }),
  operation("GET /recipients/{id}", "getRecipient", { permission: "write", handler: recipients.get,
    response: "RecipientResponse", headers: ["If-None-Match", "ETag"] }),
  operation("PUT /recipients/{id}", "updateRecipient", { permission: "write", handler: recipients.update,
    query: DryRunParameters, body: "UpdateRecipient", completeErrors, response: "WrittenRecipientResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"] }),
  operation("DELETE /recipients/{id}", "deleteRecipient", { permission: "write", handler: recipients.remove,
    query: DryRunParameters, response: "DeletedRecipientResponse", headers: ["If-Match"],
    errors: ["CONFLICT"] }),
  operation("GET /products/{id}/recipients", "listProductRecipients", { permission: "write",
    handler: history.withRestoreAdvice(recipients.listOfProduct), response: "ProductRecipientsResponse" }),

  // The records that products refer to
  operation("GET /{records}", "list{Records}", { permission: "read", handler: records.list,
    query: RecordParameters, response: "{Record}RecordsResponse", headers: ["Link"] }),
  operation("POST /{records}", "create{Record}", { permission: "write", handler: records.create,
    body: "Create{Record}", status: 201, response: "{Record}RecordResponse",
    headers: ["Idempotency-Key", "Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"] }),
  operation("GET /{records}/{id}", "get{Record}", { permission: "read", handler: records.get,
    response: "{Record}RecordResponse", headers: ["If-None-Match", "ETag"] }),
  operation("PUT /{records}/{id}", "update{Record}", { permission: "write", handler: records.update,
    body: "Update{Record}", response: "{Record}RecordResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"] }),
  operation("DELETE /{records}/{id}", "delete{Record}", { permission: "write", handler: records.remove,
    response: "DeletedResponse", headers: ["If-Match"], errors: ["CONFLICT"] }),

  // The organization itself
  operation("GET /organization", "getOrganization", { permission: "view", handler: records.getOwnOrganization,
    response: "OrganizationResponse", headers: ["If-None-Match", "ETag"] }),
  operation("PUT /organization", "updateOrganization", { permission: "write", handler: records.updateOwnOrganization,
    body: "UpdateOrganization", response: "OrganizationResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"] }),

  // Publishing programs
  operation("GET /publishing-programs/{id}/products", "listProgramProducts", { permission: "read",
    handler: records.listOfProgram, query: PageParameters,
    response: "ProgramProductsResponse", headers: ["Link"] }),
  operation("PUT /publishing-programs/{id}/products/{product_id}", "addProgramProduct", {
    permission: "write", handler: history.withRestoreAdvice(records.addProduct, "product_id"), status: 204 }),
  operation("DELETE /publishing-programs/{id}/products/{product_id}", "removeProgramProduct", {
    permission: "write", handler: records.removeProduct, status: 204 }),

  // Code lists
  operation("GET /{codes}", "list{Codes}", { permission: "view", handler: records.listCodes,
    query: CodeParameters, response: "{Code}RecordsResponse", headers: ["Link"] }),
  operation("GET /{codes}/{id}", "get{Code}", { permission: "view", handler: records.getCode,
    response: "{Code}RecordResponse", headers: ["If-None-Match", "ETag"] }),
  operation("GET /code-lists", "listCodeLists", { permission: "view", handler: records.listLists,
    query: PageParameters, response: "CodeListsResponse", headers: ["Link"] }),
  operation("GET /code-lists/{number}", "getCodeList", { permission: "view", handler: records.getList,
    response: "OnixCodesResponse" }),

  // Webhooks. Their URLs contain secrets, so callers that can only read do not see them
  operation("GET /webhooks", "listWebhooks", { permission: "write", handler: webhooks.list,
    query: PageParameters, response: "WebhooksResponse", headers: ["Link"] }),
  operation("POST /webhooks", "createWebhook", { permission: "write", handler: webhooks.create,
    body: "CreateWebhook", status: 201, response: "IssuedWebhookResponse",
    headers: ["Location", "Ignored-Fields"], errors: ["CONFLICT", "CURSOR_EXPIRED"] }),
  operation("GET /webhooks/{id}", "getWebhook", { permission: "write", handler: webhooks.get,
    response: "WebhookResponse" }),
  operation("PUT /webhooks/{id}", "updateWebhook", { permission: "write", handler: webhooks.update,
    body: "UpdateWebhook", response: "WebhookResponse", headers: ["Ignored-Fields"],
    errors: ["CURSOR_EXPIRED"] }),
  operation("DELETE /webhooks/{id}", "deleteWebhook", { permission: "write", handler: webhooks.remove,
    response: "DeletedResponse" }),
  operation("POST /webhooks/{id}/secret", "rotateWebhookSecret", { permission: "write",
    handler: webhooks.rotate, body: "RotateSecret", response: "IssuedWebhookResponse" }),
  operation("POST /webhooks/{id}/test", "testWebhook", { permission: "write", handler: webhooks.test,
    response: "DeliveryResponse" }),
  operation("GET /webhooks/{id}/deliveries", "listDeliveries", { permission: "write",
    handler: webhooks.listAttempts, query: DeliveryParameters, response: "DeliveriesResponse",
    headers: ["Link"] }),
  operation("POST /webhooks/{id}/deliveries/{delivery_id}/retry", "retryDelivery", { permission: "write",
    handler: webhooks.retry, response: "DeliveryResponse", errors: ["CONFLICT"] }),

  // API keys
  operation("GET /api-keys", "listApiKeys", { permission: "administer", handler: keys.list,
    query: PageParameters, response: "ApiKeysResponse", headers: ["Link"] }),
  operation("POST /api-keys", "createApiKey", { permission: "administer", handler: keys.create,
    body: "NewApiKey", status: 201, response: "IssuedApiKeyResponse", headers: ["Location"] }),
  operation("GET /api-keys/{key_id}", "getApiKey", { permission: "administer", handler: keys.get,
    response: "ApiKeyResponse" }),
  operation("DELETE /api-keys/{key_id}", "revokeApiKey", { permission: "administer", handler: keys.revoke,
    query: Revocation, response: "ApiKeyResponse" }),

  // The service
  operation("GET /openapi.json", "getDescription", { permission: "none", handler: openapiHandler(() => OPERATIONS),
    headers: ["If-None-Match", "ETag"], errors: ["SERVICE_UNAVAILABLE"] }),
  operation("GET /health/live", "getLiveness", { permission: "none", handler: health.checkLiveness,
    isAtRoot: true, response: "HealthResponse" }),
  operation("GET /health/ready", "getReadiness", { permission: "none", handler: health.checkReadiness,
    isAtRoot: true, response: "HealthResponse", errors: ["DATABASE_ERROR", "SERVICE_UNAVAILABLE"] }),
];

/**
 * Makes a row of the table. The handler gets what the row declares: the valid query and body, or,
 * with the permission `none`, the request as it is. `memory` is the size in bytes of texts that it
 * reads at once, if they may be long. Without it, there are no more texts than connections.
 * `isParsed`: it parses texts, as operations in XML do.
 */
function operation<
  const P extends Permission,
  const Q extends QuerySchema = typeof NoParameters,
  const B extends BodyName = never,
>(
  key: OperationKey,
  id: OperationId,
  row: Omit<DescribedOperation, "key" | "id"> & {
    permission: P;
    memory?: number;
    isParsed?: true;
    isLong?: true;
    unseen?: readonly string[];
    completeErrors?: GuardedOperation["completeErrors"];
    query?: Q;
    body?: B;
    handler: P extends "none" ? Handler
      : Handler<Admitted<QueryOf<Q>, BodyOf<B>>>;
  },
): OperationRow {
  return { key, id, ...row } as OperationRow;
}
