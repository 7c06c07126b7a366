import * as v from "valibot";
import * as key from "../api_key.ts";
import { DescribedBatch } from "../batch.ts";
import { CHANGED, CREATED } from "../collateral.ts";
import type { ErrorCode } from "../errors.ts";
import * as entries from "../entries.ts";
import * as body from "../product.ts";
import * as answer from "../response.ts";
import * as rights from "../rights.ts";
import * as sales from "../sales_rights_body.ts";
import * as territory from "../territory_body.ts";
import { Timestamp, Uuid } from "../values.ts";
import { recordSchemas } from "./record_schemas.ts";

const ErrorDetail = v.object({
  pointer: v.optional(
    v.pipe(v.string(), v.description("A JSON Pointer into the body.")),
  ),
  parameter: v.optional(
    v.pipe(v.string(), v.description("A parameter of the query.")),
  ),
  header: v.optional(
    v.pipe(v.string(), v.description("A header of the request.")),
  ),
  count: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description("How many records refer to this one."),
    ),
  ),
  code: v.string(),
  message: v.string(),
});

const Meta = v.object({
  page: whole(1),
  limit: whole(1),
  total: whole(0),
  total_pages: whole(0),
});

const Change = v.object({
  id: Uuid,
  deleted: v.boolean(),
  updated_at: v.pipe(
    Timestamp,
    v.description("When the product was last updated, or deleted."),
  ),
  product: v.optional(answer.ListedProduct),
});

const Deletion = v.object({ id: Uuid, deleted: v.boolean() });

/** The answers to the operations of a batch. */
const Written = v.object({
  status: v.picklist([200, 201]),
  data: v.union([answer.Product, v.object({ id: Uuid })]),
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

/** The named schemas: bodies of requests, then of answers. */
export const SCHEMAS = {
  CreateProduct: body.CreateProduct,
  UpdateProduct: body.UpdateProduct,
  Batch: DescribedBatch,
  NewPrice: entries.NewPrice,
  ChangedPrice: entries.ChangedPrice,
  NewPackingConfiguration: entries.NewPackingConfiguration,
  ChangedPackingConfiguration: entries.ChangedPackingConfiguration,
  ContributorLink: entries.ContributorLink,
  CollectionLink: entries.CollectionLink,
  CustomFieldValue: entries.CustomFieldValue,
  NewTextContent: CREATED.text_content,
  NewCitedContent: CREATED.cited_content,
  NewAward: CREATED.award,
  ChangedTextContent: CHANGED.text_content,
  ChangedCitedContent: CHANGED.cited_content,
  ChangedAward: CHANGED.award,
  CurrencyCode: entries.CurrencyCode,
  ReplaceTerritories: territory.TerritoriesBody,
  ProductTerritoryBody: territory.ProductTerritoryBody,
  MarketBody: territory.MarketBody,
  TerritoryBody: territory.TerritoryBody,
  PublishingDetailBody: territory.PublishingDetailBody,
  SupplyDetailBody: territory.SupplyDetailBody,
  SupplyPriceBody: territory.SupplyPriceBody,
  TaxBody: territory.TaxBody,
  CountryCode: territory.CountryCode,
  RegionCode: territory.RegionCode,
  ReplaceSalesRights: sales.SalesRightsBody,
  SalesRightBody: sales.SalesRightBody,
  NewApiKey: key.NewApiKey,

  ProductAnswer: success(answer.Product),
  ProductsAnswer: page(answer.ListedProduct),
  TerritoriesAnswer: success(v.array(rights.ProductTerritory)),
  SalesRightsAnswer: success(v.array(rights.SalesRights)),
  ApiKeysAnswer: success(v.array(key.ApiKey)),
  ApiKeyAnswer: success(key.ApiKey),
  IssuedApiKeyAnswer: success(key.IssuedApiKey),
  ChangesAnswer: v.object({
    ...success(v.array(Change)).entries,
    meta: v.object({
      cursor: v.pipe(
        v.string(),
        v.description("Where to go on. It is good for 30 days."),
      ),
      more: v.boolean(),
    }),
  }),
  DeletedAnswer: success(Deletion),
  BatchAnswer: success(
    v.array(v.union([Written, Deleted, Unwritten])),
  ),
  HealthAnswer: success(
    v.object({ status: v.picklist(["live", "ready"]) }),
  ),
  Meta,
  ErrorDetail,
  Change,

  Product: answer.Product,
  ListedProduct: answer.ListedProduct,
  Price: answer.Price,
  PackingConfiguration: answer.PackingConfiguration,
  Contributor: answer.Contributor,
  ProductCollection: answer.ProductCollection,
  CustomField: answer.CustomField,
  TextContent: answer.TextContent,
  CitedContent: answer.CitedContent,
  Award: answer.Award,
  Collection: answer.Collection,
  ProductTerritory: rights.ProductTerritory,
  ShallowTerritory: rights.ShallowTerritory,
  Market: rights.Market,
  Territory: rights.Territory,
  MarketPublishingDetail: rights.MarketPublishingDetail,
  SupplyDetail: rights.SupplyDetail,
  SupplyPrice: rights.SupplyPrice,
  SalesRights: rights.SalesRights,
  ApiKey: key.ApiKey,
  IssuedApiKey: key.IssuedApiKey,

  ...recordSchemas({ success, page }),
};

export type SchemaName = keyof typeof SCHEMAS;

/** The envelope of a success (specification, 7.1). */
function success<const D extends v.GenericSchema>(data: D) {
  return v.object({ success: v.literal(true), data, error: v.null() });
}

/** The envelope of a page of a list. */
function page<const E extends v.GenericSchema>(entry: E) {
  return v.object({ ...success(v.array(entry)).entries, meta: Meta });
}

/** The envelope of a failure with one of these codes. */
export function failure(codes: ErrorCode[]) {
  return v.object({
    success: v.literal(false),
    error: v.object({
      code: v.picklist(codes),
      message: v.string(),
      details: v.array(ErrorDetail),
      request_id: v.string(),
    }),
  });
}

function whole(min: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(min));
}
