import * as v from "valibot";
import { ApiKey, IssuedApiKey, NewApiKey } from "../api_key.ts";
import { DescribedBatch } from "../batch.ts";
import { CHANGED, CREATED } from "../collateral.ts";
import * as entries from "../entries.ts";
import { CreateProduct, UpdateProduct } from "../product.ts";
import { createBody, recordResponse, updateBody } from "../record_bodies.ts";
import {
  isShared,
  type OwnTable,
  RECORDS,
  type RecordTable,
} from "../records.ts";
import * as responses from "../response.ts";
import * as rights from "../rights.ts";
import { SalesRightsBody, TerritoriesBody } from "../rights_bodies.ts";
import { described, Timestamp, Uuid } from "../values.ts";
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

const OnixCode = v.object({ code: v.string(), label: v.string() });

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
    const record = recordResponse(table);
    const records = isShared(table) ? success(v.array(record)) : page(record);
    return {
      ...!isShared(table) && {
        [`Create${type}`]: createBody(table),
        [`Update${type}`]: updateBody(table),
      },
      [`${type}Record`]: record,
      [`${type}RecordResponse`]: success(record),
      [`${type}RecordsResponse`]: records,
    };
  }),
) as Record<RecordSchema, v.GenericSchema>;

/** The named schemas of request bodies, then of responses. */
export const SCHEMAS = {
  CreateProduct,
  UpdateProduct,
  Batch: DescribedBatch,
  ...entries,
  NewTextContent: CREATED.text_content,
  NewCitedContent: CREATED.cited_content,
  NewAward: CREATED.award,
  ChangedTextContent: CHANGED.text_content,
  ChangedCitedContent: CHANGED.cited_content,
  ChangedAward: CHANGED.award,
  ReplaceTerritories: TerritoriesBody,
  ReplaceSalesRights: SalesRightsBody,
  NewApiKey,

  ...responses,
  ...rights,
  ProductResponse: success(responses.Product),
  ProductsResponse: page(responses.ListedProduct),
  TerritoriesResponse: success(v.array(rights.ProductTerritory)),
  SalesRightsResponse: success(v.array(rights.SalesRights)),
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
