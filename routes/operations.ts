import { VERSIONS_BYTES } from "../db/products/versions.ts";
import { PAGE_BYTES } from "../db/products/positions.ts";
import { type GuardedOperation, operation } from "../middleware/guard.ts";
import { Revocation } from "../schema/api_key.ts";
import { ChangesParameters } from "../schema/changes_query.ts";
import {
  DeletedParameters,
  HistoryParameters,
  ProductHistoryParameters,
  RestoreParameters,
  VersionParameters,
} from "../schema/history.ts";
import { ProductParameters } from "../schema/list_query.ts";
import {
  ImportParameters,
  OnixChangesParameters,
  OnixParameters,
  ReadinessListParameters,
  ReadinessParameters,
} from "../schema/onix/query.ts";
import { CodeParameters, PageParameters, RecordParameters } from "../schema/record_query.ts";
import { SheetImportParameters, SheetParameters } from "../schema/sheets/query.ts";
import { DeliveryParameters } from "../schema/webhooks.ts";
import * as batch from "./batch.ts";
import * as docs from "./docs.ts";
import * as history from "./history.ts";
import * as keys from "./keys.ts";
import * as onix from "./onix.ts";
import * as products from "./products.ts";
import * as readiness from "./readiness.ts";
import * as records from "./records.ts";
import * as sheets from "./sheets.ts";
import * as webhooks from "./webhooks.ts";

const MIB = 2 ** 20;

/**
 * The whole API, one operation a row: method and path, `operationId`, who may call it, what
 * it takes and returns, its memory, and its handler. Routes, guard and the OpenAPI document
 * read these rows. `{records}` stands for each table of an organization's records, `{codes}`
 * for each code list, and the other words in braces for those of the table
 * (`schema/openapi/tables.ts`). `createHandler` (`mod.ts`) has the way of a request to its row,
 * and from there to the driver.
 */
// deno-fmt-ignore
export const OPERATIONS: readonly GuardedOperation[] = [
  // Products (specification, 4)
  operation("GET /products", "listProducts", { permission: "read", handler: products.list,
    query: ProductParameters, response: "ProductsResponse", headers: ["Link"], memory: MIB }),
  operation("POST /products", "createProduct", { permission: "write", handler: products.create,
    body: "CreateProduct", status: 201, response: "ProductResponse",
    headers: ["Idempotency-Key", "Location", "ETag", "Idempotent-Replayed", "Ignored-Fields"] }),
  operation("GET /products/changes", "listChanges", { permission: "read", handler: products.follow,
    query: ChangesParameters, response: "ChangesResponse", errors: ["CURSOR_EXPIRED", "CONFLICT"],
    memory: PAGE_BYTES }),
  operation("POST /products/batch", "writeProducts", { permission: "write", handler: batch.write,
    body: "Batch", response: "BatchResponse",
    headers: ["Idempotency-Key", "Idempotent-Replayed", "Ignored-Fields"],
    errors: ["NOT_FOUND", "CONFLICT", "AMBIGUOUS", "PRECONDITION_FAILED"], memory: MIB }),
  operation("GET /products/readiness", "listReadiness", { permission: "read", handler: readiness.list,
    query: ReadinessListParameters, response: "ReadinessPageResponse", memory: PAGE_BYTES, isParsed: true }),
  operation("GET /products/deleted", "listDeletedProducts", { permission: "write",
    handler: history.listOfDeleted, query: DeletedParameters, response: "DeletedProductsResponse",
    errors: ["CONFLICT"], memory: MIB, isParsed: true }),
  operation("GET /products/{id}", "getProduct", { permission: "read", handler: products.get,
    query: VersionParameters, response: "ProductResponse", headers: ["If-None-Match", "ETag"],
    errors: ["CONFLICT", "HISTORY_EXPIRED"] }),
  operation("PUT /products/{id}", "updateProduct", { permission: "write", handler: products.update,
    body: "UpdateProduct", response: "ProductResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),
  operation("DELETE /products/{id}", "deleteProduct", { permission: "write", handler: products.remove,
    response: "DeletedResponse", headers: ["If-Match"], errors: ["CONFLICT"] }),

  // What products were. Old prices are for those who may write
  operation("GET /products/{id}/history", "listProductHistory", { permission: "write",
    handler: history.listOfProduct, query: ProductHistoryParameters, response: "ProductHistoryResponse",
    errors: ["CONFLICT"], memory: VERSIONS_BYTES, isParsed: true }),
  operation("POST /products/{id}/restore", "restoreProduct", { permission: "write", handler: history.restore,
    query: RestoreParameters, body: "RestoreProduct", response: "RestoredResponse",
    headers: ["If-Match", "ETag"], errors: ["CONFLICT", "HISTORY_EXPIRED"] }),
  operation("GET /history", "listHistory", { permission: "write", handler: history.list,
    query: HistoryParameters, response: "HistoryResponse", errors: ["CONFLICT"], memory: VERSIONS_BYTES,
    isParsed: true }),

  // Rights and supply of a product
  operation("GET /products/{id}/territories", "getTerritories", { permission: "read",
    handler: products.getArray("product_territories"),
    response: "TerritoriesResponse", headers: ["If-None-Match", "ETag"], errors: ["CONFLICT"] }),
  operation("PUT /products/{id}/territories", "replaceTerritories", { permission: "write",
    handler: products.replaceTerritories, body: "ReplaceTerritories",
    response: "ProductResponse", headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),
  operation("GET /products/{id}/sales-rights", "getSalesRights", { permission: "read",
    handler: products.getArray("product_sales_rights"),
    response: "SalesRightsResponse", headers: ["If-None-Match", "ETag"], errors: ["CONFLICT"] }),
  operation("PUT /products/{id}/sales-rights", "replaceSalesRights", { permission: "write",
    handler: products.replaceArray("product_sales_rights"), body: "ReplaceSalesRights",
    response: "ProductResponse", headers: ["If-Match", "ETag", "Ignored-Fields"], errors: ["CONFLICT"] }),

  // The same products as a sheet
  operation("GET /csv/products", "exportSheet", { permission: "read", handler: sheets.read,
    query: SheetParameters, csv: ["response"], headers: ["Content-Disposition"], memory: MIB }),
  operation("POST /csv/products", "importSheet", { permission: "write", handler: sheets.write,
    query: SheetImportParameters, csv: ["body", "response"], headers: ["Content-Encoding", "Content-Disposition"],
    response: "SheetReportResponse" }),

  // The same products in ONIX for Books
  operation("GET /onix/products", "listOnixRecords", { permission: "read", handler: onix.list,
    query: OnixChangesParameters, xml: ["response"], headers: ["Link"], errors: ["CURSOR_EXPIRED"],
    memory: PAGE_BYTES }),
  operation("POST /onix/products", "importOnix", { permission: "write", handler: onix.write,
    query: ImportParameters, xml: ["body", "response"], headers: ["Content-Encoding"], response: "OnixReportResponse" }),
  operation("GET /onix/products/{id}", "getOnixRecord", { permission: "read", handler: onix.get,
    query: OnixParameters, xml: ["response"], headers: ["If-None-Match", "ETag"] }),

  // Whether products are ready for recipients
  operation("GET /recipient-profiles", "listRecipientProfiles", { permission: "read",
    handler: readiness.listProfiles, response: "RecipientProfilesResponse" }),
  operation("GET /recipient-profiles/{name}", "getRecipientProfile", { permission: "read",
    handler: readiness.getProfile, response: "RecipientProfileResponse" }),
  operation("GET /products/{id}/readiness", "getProductReadiness", { permission: "read",
    handler: readiness.get, query: ReadinessParameters, response: "ReadinessResponse", isParsed: true }),

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
  operation("GET /organization", "getOrganization", { permission: "read", handler: records.getOwnOrganization,
    response: "OrganizationResponse", headers: ["If-None-Match", "ETag"] }),
  operation("PUT /organization", "updateOrganization", { permission: "write", handler: records.updateOwnOrganization,
    body: "UpdateOrganization", response: "OrganizationResponse",
    headers: ["If-Match", "ETag", "Ignored-Fields"] }),

  // Publishing programs
  operation("GET /publishing-programs/{id}/products", "listProgramProducts", { permission: "read",
    handler: records.listOfProgram, query: PageParameters,
    response: "ProgramProductsResponse", headers: ["Link"] }),
  operation("PUT /publishing-programs/{id}/products/{product_id}", "addProgramProduct", {
    permission: "write", handler: records.addProduct, status: 204 }),
  operation("DELETE /publishing-programs/{id}/products/{product_id}", "removeProgramProduct", {
    permission: "write", handler: records.removeProduct, status: 204 }),

  // Code lists
  operation("GET /{codes}", "list{Codes}", { permission: "read", handler: records.listCodes,
    query: CodeParameters, response: "{Code}RecordsResponse", headers: ["Link"] }),
  operation("GET /{codes}/{id}", "get{Code}", { permission: "read", handler: records.getCode,
    response: "{Code}RecordResponse", headers: ["If-None-Match", "ETag"] }),
  operation("GET /code-lists", "listCodeLists", { permission: "read", handler: records.listLists,
    query: PageParameters, response: "CodeListsResponse", headers: ["Link"] }),
  operation("GET /code-lists/{number}", "getCodeList", { permission: "read", handler: records.getList,
    response: "OnixCodesResponse" }),

  // Webhooks. Their URLs hold secrets, so who may only read does not see them
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
  operation("GET /openapi.json", "getDescription", { permission: "none", handler: docs.describe(() => OPERATIONS),
    headers: ["If-None-Match", "ETag"], errors: ["SERVICE_UNAVAILABLE"] }),
  operation("GET /health/live", "getLiveness", { permission: "none", handler: docs.checkLiveness,
    isAtRoot: true, response: "HealthResponse" }),
  operation("GET /health/ready", "getReadiness", { permission: "none", handler: docs.checkReadiness,
    isAtRoot: true, response: "HealthResponse", errors: ["DATABASE_ERROR", "SERVICE_UNAVAILABLE"] }),
];
