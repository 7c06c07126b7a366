import * as v from "valibot";
import { ApiKey, IssuedApiKey, NewApiKey } from "../api_key.ts";
import { DescribedBatch } from "../batch.ts";
import * as bodies from "../bodies.ts";
import type { Fields, Rows } from "../fields.ts";
import { code } from "../onix_codes.ts";
import { ARRAYS, LISTED } from "../product.ts";
import {
  isShared,
  type OwnTable,
  RECORDS,
  type RecordTable,
} from "../records.ts";
import * as responses from "../responses.ts";
import { described, Timestamp, Uuid } from "../values.ts";
import { OnixMessage, OnixOutcome, OnixPaths, OnixReport } from "./onix.ts";
import { ErrorDetail, Meta, page, success, Whole } from "./envelopes.ts";

const Change = v.object({
  id: Uuid,
  deleted: v.boolean(),
  updated_at: described(
    "The time of the last update or of the deletion.",
    Timestamp,
  ),
  product: v.optional(responses.ListedProduct),
});

const Deletion = v.object({ id: Uuid, deleted: v.boolean() });

/** The results of the operations of a batch. */
const Written = v.object({
  status: v.picklist([200, 201]),
  data: v.union([responses.Product, v.object({ id: Uuid })]),
});

const Deleted = v.object({ status: v.literal(200), data: Deletion });

const Unwritten = v.object({
  status: v.picklist([400, 404, 409, 412, 503]),
  error: v.object({
    code: v.picklist([
      "VALIDATION_ERROR",
      "NOT_FOUND",
      "CONFLICT",
      "AMBIGUOUS",
      "PRECONDITION_FAILED",
      "SERVICE_UNAVAILABLE",
    ]),
    message: v.string(),
    details: v.array(ErrorDetail),
  }),
});

/** The id and title of a product in a publishing program. */
const ProgramProduct = v.object({ id: Uuid, title: v.string() });

/** An ONIX list, with the number of its codes. */
const CodeList = v.object({ number: Whole, codes: Whole });

const OnixCode = v.object({
  code: v.string(),
  label: v.string(),
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
    const records = isShared(table) ? success(v.array(record)) : page(record);
    return {
      ...!isShared(table) && {
        [`Create${type}`]: bodies.recordBody(table, "new"),
        [`Update${type}`]: bodies.recordBody(table, "changed"),
      },
      [`${type}Record`]: record,
      [`${type}RecordResponse`]: success(record),
      [`${type}RecordsResponse`]: records,
    };
  }),
) as Record<RecordSchema, v.GenericSchema>;

/**
 * The schemas of the objects in these fields that have a type: `Price` in responses,
 * `NewPrice` and `ChangedPrice` in bodies, or `MarketBody` where these are the same.
 */
function typedSchemas(fields: Fields): Record<string, v.GenericSchema> {
  const schemas: Record<string, v.GenericSchema> = {};
  for (const field of Object.values(fields)) {
    if (!("fields" in field)) continue;
    const { type } = field;
    if (type && field.kind !== "rows") {
      schemas[`${type}Body`] = bodies.entryOf(field.fields);
      schemas[type] = responses.objectOf(field.fields);
    } else if (type && field.kind === "rows") {
      if (field.put === "patch") {
        schemas[`New${type}`] = bodies.newEntry(field);
        schemas[`Changed${type}`] = bodies.changedEntry(field);
      } else schemas[`${type}Body`] = bodies.newEntry(field);
      schemas[type] = responses.entryOf(field);
    }
    const types = field.kind === "rows" ? field.types ?? {} : {};
    for (const [name, { type }] of Object.entries(types)) {
      const array = field as Rows;
      schemas[`New${type}`] = bodies.newEntryOfType(array, name);
      schemas[`Changed${type}`] = bodies.changedEntryOfType(array, name);
      schemas[type] = responses.entryOfType(array, name);
    }
    Object.assign(schemas, typedSchemas(field.fields));
  }
  return schemas;
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
  ...typedSchemas(ARRAYS),
  ListedProductTerritory: responses.entryOf(LISTED.product_territories as Rows),
  CountryCode: code(91),
  RegionCode: code(49),
  CurrencyCode: code(96),
  Collection: responses.linkedRecord(RECORDS.collections.fields),
  Product: responses.Product,
  ListedProduct: responses.ListedProduct,
  ProductResponse: success(responses.Product),
  ProductsResponse: page(responses.ListedProduct),
  TerritoriesResponse: success(
    v.array(responses.entryOf(product_territories)),
  ),
  SalesRightsResponse: success(
    v.array(responses.entryOf(product_sales_rights)),
  ),
  ApiKey,
  ApiKeyResponse: success(ApiKey),
  ApiKeysResponse: success(v.array(ApiKey)),
  IssuedApiKey,
  IssuedApiKeyResponse: success(IssuedApiKey),
  Change,
  ChangesResponse: v.object({
    ...success(v.array(Change)).entries,
    meta: v.object({
      cursor: described(
        "The cursor of the next page. It expires after 30 days.",
        v.string(),
      ),
      more: v.boolean(),
    }),
  }),
  DeletedResponse: success(Deletion),
  BatchResponse: success(v.array(v.union([Written, Deleted, Unwritten]))),
  OnixReport,
  OnixOutcome,
  OnixMessage,
  OnixPaths,
  OnixReportResponse: success(OnixReport),
  HealthResponse: success(v.object({ status: v.picklist(["live", "ready"]) })),
  Meta,
  ErrorDetail,

  ...RECORD_SCHEMAS,
  ProgramProduct,
  ProgramProductsResponse: page(ProgramProduct),
  CodeList,
  CodeListsResponse: success(v.array(CodeList)),
  OnixCode,
  OnixCodesResponse: success(v.array(OnixCode)),
};

export type SchemaName = keyof typeof SCHEMAS;
