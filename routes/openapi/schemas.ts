import * as v from "valibot";
import { ApiKey, IssuedApiKey, NewApiKey } from "../../schema/api_key.ts";
import { DescribedBatch } from "../../features/batch/schema.ts";
import * as bodies from "../../schema/bodies.ts";
import {
  UndoMessage,
  UndoOutcome,
  UndoReport,
  UndoRequest,
} from "../../features/history/schema/undo.ts";
import {
  Comparison,
  DeletedEntry,
  HistoryChange,
  HistoryEntry,
  HistoryMeta,
  OrganizationHistoryEntry,
  restored,
  RestoreProduct,
} from "../../features/history/schema/history.ts";
import { code } from "../../schema/onix_codes.ts";
import { Organization, UpdateOrganization } from "../../schema/organization.ts";
import { ARRAYS } from "../../schema/product.ts";
import { isShared, type OwnTable, RECORDS, type RecordTable } from "../../schema/records.ts";
import * as responses from "../../schema/responses.ts";
import { described, Timestamp, Uuid } from "../../schema/values.ts";
import {
  CreateRecipient,
  Effect,
  ProductRecipient,
  Recipient,
  UpdateRecipient,
} from "../../features/recipients/schema/recipient.ts";
import {
  CreateWebhook,
  DELETED_NUMBERS,
  Delivery,
  IssuedWebhook,
  MESSAGE_DATA,
  type MessageType,
  RotateSecret,
  UpdateWebhook,
  Webhook,
} from "../../features/webhooks/schema.ts";
import {
  CellChange,
  RowOutcome,
  SheetMessage,
  SheetReport,
} from "../../features/sheets/schema/report.ts";
import { OnixMessage, OnixOutcome, OnixPaths, OnixReport } from "./onix.ts";
import {
  ListedReadiness,
  MissingForRecipient,
  Readiness,
  ReadinessMeta,
  RecipientProfile,
  RecipientProfileRules,
} from "./readiness.ts";
import {
  ErrorDetail,
  errorEntries,
  Meta,
  page,
  ProductsMeta,
  success,
  Whole,
} from "./envelopes.ts";

/* The named schemas of bodies and responses. Rows of `OPERATIONS` refer to them by name. */

const changed = {
  id: described("The id of the product.", Uuid),
  updated_at: described(
    "The time of the last update or of the deletion.",
    Timestamp,
  ),
};

const ChangedProduct = v.object({
  ...changed,
  deleted: described("Whether the product is deleted.", v.literal(false)),
  product: described(
    "The product as lists show it, in its last state.",
    responses.ListedProduct,
  ),
});

const DeletedProduct = v.object({
  ...changed,
  deleted: described("Whether the product is deleted.", v.literal(true)),
  ...DELETED_NUMBERS,
});

const Change = v.variant("deleted", [ChangedProduct, DeletedProduct]);

const Deletion = v.object({
  id: described("The id as requested.", Uuid),
  deleted: described(
    "Whether a record was deleted. False if there is none with this id.",
    v.boolean(),
  ),
});

const WrittenId = v.object({
  id: described("The id of the product.", Uuid),
});

/** A result in a batch. Each status has its own schema, so that clients can tell them apart. */
const Created = v.object({
  status: described("The product is new.", v.literal(201)),
  data: described(
    "The product, or its id if `return` is `minimal`.",
    v.union([responses.Product, WrittenId]),
  ),
});

const Written = v.object({
  status: described("The operation succeeded.", v.literal(200)),
  data: described(
    "The product, its id if `return` is `minimal`, or what a deletion returns.",
    v.union([responses.Product, Deletion, WrittenId]),
  ),
  skipped: described(
    "What a restoration has left out, as `skipped` of a single one.",
    v.optional(v.array(v.string())),
  ),
});

const Unwritten = v.object({
  status: described(
    "The status of a single request.",
    v.picklist([400, 404, 409, 410, 412, 503]),
  ),
  error: described(
    "Why the operation failed.",
    v.object(errorEntries([
      "VALIDATION_ERROR",
      "NOT_FOUND",
      "CONFLICT",
      "AMBIGUOUS",
      "PRECONDITION_FAILED",
      "HISTORY_EXPIRED",
      "SERVICE_UNAVAILABLE",
    ])),
  ),
});

const BatchResult = v.variant("status", [Created, Written, Unwritten]);

const ProgramProduct = v.object({
  id: described("The id of the product.", Uuid),
  title: described("The title of the product.", v.string()),
});

/** A recipient after a write. */
const WrittenRecipient = v.object({
  ...(Recipient as unknown as v.ObjectSchema<v.ObjectEntries, undefined>).entries,
  effect: described("How the write changes what the recipient sees.", Effect),
  warnings: described(
    "What the selection does that is seldom meant: `leaves_by_status`, if products leave when they go out of print. Absent without a warning.",
    v.optional(v.array(ErrorDetail)),
  ),
});

const DeletedRecipient = v.object({
  ...Deletion.entries,
  effect: described("How the deletion changes what the recipient sees.", Effect),
});

const CodeList = v.object({
  number: described("The number of the ONIX list.", Whole),
  name: described("The title of the list.", v.string()),
  codes: described("The number of its codes.", Whole),
});

const OnixCode = v.object({
  code: described("The code, as fields have it.", v.string()),
  label: described("The meaning of the code in ONIX.", v.string()),
  deprecated: described(
    "Whether EDItEUR advises against the code. It is accepted all the same.",
    v.boolean(),
  ),
});

type RecordSchema =
  | `${"Create" | "Update"}${typeof RECORDS[OwnTable]["type"]}`
  | `${typeof RECORDS[RecordTable]["type"]}Record${
    | ""
    | "Response"
    | "sResponse"}`;

/** The schemas of records and of the bodies that write them. */
const RECORD_SCHEMAS = Object.assign(
  {},
  ...(Object.keys(RECORDS) as RecordTable[]).map((table) => {
    const { type } = RECORDS[table];
    const record = responses.recordResponse(table);
    return {
      ...!isShared(table) && {
        [`Create${type}`]: bodies.recordBody(table, "new"),
        [`Update${type}`]: bodies.recordBody(table, "changed"),
      },
      [`${type}Record`]: record,
      [`${type}RecordResponse`]: success("The record.", record),
      [`${type}RecordsResponse`]: page(record),
    };
  }),
) as Record<RecordSchema, v.GenericSchema>;

/** The name of a message's schema, such as `ProductChangedMessage`. */
export function messageSchema(type: string): string {
  const words = type.split(".").map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `${words.join("")}Message`;
}

/** The messages of webhooks (Standard Webhooks 1.0.0). */
const MESSAGES: Record<string, v.GenericSchema> = Object.fromEntries(
  (Object.keys(MESSAGE_DATA) as MessageType[]).map((type) => [
    messageSchema(type),
    v.object({
      type: described("The type of the message.", v.literal(type)),
      timestamp: described("When it happened.", Timestamp),
      data: described("What happened.", MESSAGE_DATA[type]),
    }),
  ]),
);

/** A page of a history. */
function historyPage<const E extends v.GenericSchema>(entry: E) {
  return v.object({
    ...success("The entries, newest first.", v.array(entry)).entries,
    meta: described("Where the history goes on.", HistoryMeta),
  });
}

const { product_territories, product_sales_rights } = ARRAYS;

/** The named schemas of request bodies and of responses. */
export const SCHEMAS = {
  CreateProduct: bodies.CreateProduct,
  UpdateProduct: bodies.UpdateProduct,
  UpsertProduct: bodies.UpsertProduct,
  Batch: DescribedBatch,
  ReplaceTerritories: bodies.pathBody(product_territories),
  ReplaceSalesRights: bodies.pathBody(product_sales_rights),
  NewApiKey,
  ...(bodies.NAMED as Record<never, v.GenericSchema>),
  CountryCode: code(91),
  RegionCode: code(49),
  CurrencyCode: code(96),
  Product: responses.Product,
  ListedProduct: responses.ListedProduct,
  ProductResponse: success("The full product.", responses.Product),
  ProductsResponse: page(responses.ListedProduct, ProductsMeta),
  TerritoriesResponse: success(
    "The territories of the product.",
    v.array(bodies.entryOf(product_territories, "shown")),
  ),
  SalesRightsResponse: success(
    "The sales rights of the product.",
    v.array(bodies.entryOf(product_sales_rights, "shown")),
  ),
  UpdateOrganization,
  Organization,
  OrganizationResponse: success("The organization.", Organization),
  ApiKey,
  ApiKeyResponse: success("The key without its secret.", ApiKey),
  ApiKeysResponse: page(ApiKey),
  IssuedApiKey,
  IssuedApiKeyResponse: success("The new key.", IssuedApiKey),
  CreateRecipient,
  UpdateRecipient,
  Recipient,
  RecipientResponse: success("The recipient.", Recipient),
  RecipientsResponse: page(Recipient),
  WrittenRecipientResponse: success(
    "The recipient, and the effect of the write.",
    WrittenRecipient,
  ),
  DeletedRecipientResponse: success("What was deleted, and the effect.", DeletedRecipient),
  ProductRecipientsResponse: success(
    "All recipients, by name.",
    v.array(ProductRecipient),
  ),
  CreateWebhook,
  UpdateWebhook,
  RotateSecret,
  Webhook,
  WebhookResponse: success("The webhook.", Webhook),
  WebhooksResponse: page(Webhook),
  IssuedWebhook,
  IssuedWebhookResponse: success("The webhook.", IssuedWebhook),
  Delivery,
  DeliveryResponse: success("The delivery after the attempt.", Delivery),
  DeliveriesResponse: page(Delivery),
  ...MESSAGES,
  ChangedProduct,
  DeletedProduct,
  Change,
  ChangesResponse: v.object({
    ...success("The changes, oldest first.", v.array(Change)).entries,
    meta: described(
      "Where the feed goes on.",
      v.object({
        cursor: described(
          "The cursor of the next page. It expires after 30 days.",
          v.string(),
        ),
        more: described("Whether there are more changes now.", v.boolean()),
      }),
    ),
  }),
  HistoryChange,
  HistoryEntry,
  OrganizationHistoryEntry,
  DeletedEntry,
  HistoryMeta,
  RestoreProduct,
  UndoRequest,
  UndoMessage,
  UndoOutcome,
  UndoReport,
  UndoReportResponse: success("The outcomes of the products.", UndoReport),
  ComparisonResponse: success("What changed.", Comparison),
  RestoredResponse: success(
    "What was restored.",
    restored(responses.Product),
  ),
  ProductHistoryResponse: historyPage(HistoryEntry),
  HistoryResponse: historyPage(OrganizationHistoryEntry),
  DeletedProductsResponse: historyPage(DeletedEntry),
  Deletion,
  DeletedResponse: success("What was deleted.", Deletion),
  WrittenId,
  Created,
  Written,
  Unwritten,
  BatchResult,
  BatchResponse: success(
    "The results of the operations, in their order.",
    v.array(BatchResult),
  ),
  OnixReport,
  OnixOutcome,
  OnixMessage,
  OnixPaths,
  SheetReport,
  SheetOutcome: RowOutcome,
  SheetMessage,
  CellChange,
  SheetReportResponse: success("The outcomes of the rows.", SheetReport),
  OnixReportResponse: success("The outcomes of the records.", OnixReport),
  RecipientProfile,
  RecipientProfilesResponse: success(
    "The profiles.",
    v.array(RecipientProfile),
  ),
  RecipientProfileRules,
  RecipientProfileResponse: success("The profile.", RecipientProfileRules),
  MissingForRecipient,
  Readiness,
  ReadinessResponse: success("What the product lacks.", Readiness),
  ListedReadiness,
  ReadinessPageResponse: v.object({
    ...success("The products of the page.", v.array(ListedReadiness)).entries,
    meta: described("Where the list goes on, and its counts.", ReadinessMeta),
  }),
  HealthResponse: success(
    "The health of the service.",
    v.object({
      status: described(
        "`live` if the process runs, `ready` if it accepts requests.",
        v.picklist(["live", "ready"]),
      ),
    }),
  ),
  Meta,
  ProductsMeta,
  ErrorDetail,

  ...RECORD_SCHEMAS,
  ProgramProduct,
  ProgramProductsResponse: page(ProgramProduct),
  CodeList,
  CodeListsResponse: page(CodeList),
  OnixCode,
  OnixCodesResponse: success("The codes of the list.", v.array(OnixCode)),
};

export type SchemaName = keyof typeof SCHEMAS;
