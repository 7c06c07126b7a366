import * as v from "valibot";
import { ChangesParameters } from "../changes_query.ts";
import { Parameters } from "../list_query.ts";
import { CodeParameters, RecordParameters } from "../record_query.ts";
import { REQUEST_HEADERS } from "./headers.ts";
import { type JsonSchema, querySchema } from "./json_schema.ts";

/** The descriptions of the parameters of a list. */
const OF_LISTS: Record<keyof typeof Parameters.entries, string> = {
  page: "The page, counted from 1.",
  limit: "The size of a page. A limit above 100 counts as 100.",
  search:
    "Words in the title, ISBNs or product code, in any order, ignoring case and accents. Double quotes enclose a phrase. ISBNs match with or without hyphens.",
  include:
    "Arrays to embed in each product. `product_territories` includes only the markets.",
  sort: "The order. `-` means descending.",
  updated_since:
    "Products updated at this time or later: a day, or a time with its offset (ISO 8601). It shows no deletions, and misses a product whose transaction ends after a later one: `GET /products/changes` misses none.",
  isbn13: "Products with this ISBN-13.",
  isbn10: "Products with this ISBN-10.",
  product_code: "The product with this code.",
  publishing_status_id: "Products with one of these publishing statuses.",
  lifecycle_status_id: "Products with one of these lifecycle statuses.",
  product_availability_id: "Products with one of these availabilities.",
  format_id: "Products in one of these formats.",
  publisher_id: "Products of one of these publishers.",
  imprint_id: "Products of one of these imprints.",
  division_id: "Products of one of these divisions.",
  season_id: "Products of one of these seasons.",
  license_id: "Products under one of these licenses.",
  title_id: "Products of one of these parent titles.",
  series_id: "Products of one of these series.",
  collection_id: "Products in one of these collections.",
  contributor_id: "Products with one of these contributors.",
  product_type: "Products of one of these types.",
};

const OF_FEEDS: Record<keyof typeof ChangesParameters.entries, string> = {
  after:
    "The `meta.cursor` of the last answer. Without it, every product comes.",
  limit: "The size of a page. A higher limit than 1000 counts as 1000.",
  include: OF_LISTS.include,
};

/** The descriptions of the parameters of other lists. */
const OF_RECORDS: Record<
  keyof typeof RecordParameters.entries | keyof typeof CodeParameters.entries,
  string
> = {
  page: OF_LISTS.page,
  limit: OF_LISTS.limit,
  search:
    "Words in the name, in any order, ignoring case and accents. Double quotes make a phrase.",
  name: "Records with exactly this name.",
  sort:
    "The order: `-` is descending. Names go by their letters, ignoring case and accents.",
  code: "The record with exactly this code.",
};

/** The Parameter Objects of a list of products. */
export function listParameters() {
  return parameterObjects(Parameters, OF_LISTS);
}

/** The Parameter Objects of the feed of changes. */
export function feedParameters() {
  return parameterObjects(ChangesParameters, OF_FEEDS);
}

function parameterObjects(
  parameters: v.GenericSchema,
  descriptions: Record<string, string>,
) {
  const { properties } = querySchema(parameters);
  return Object.entries(descriptions).map(([name, description]) => {
    const schema = properties![name] as JsonSchema;
    return {
      name,
      in: "query",
      description,
      // A comma separates the values of a list.
      ...schema.type === "array" && { style: "form", explode: false },
      schema: { ...schema, default: typed(schema) },
    };
  });
}

/** The default of a parameter as a value. The schema has it as text. */
function typed({ type, default: text }: JsonSchema): unknown {
  if (text === undefined || text === "") return undefined;
  return type === "integer" ? Number(text) : text;
}

/** A parameter of a query that is not a list's of products. */
export type QueryParameter = "at" | keyof typeof OF_RECORDS;

/** The shared Parameter Objects, by name. */
export function sharedParameters() {
  const headers = Object.entries(REQUEST_HEADERS).map(([name, header]) => [
    name,
    { name, in: "header", ...header },
  ]);
  const records = parameterObjects(
    v.object({ ...RecordParameters.entries, ...CodeParameters.entries }),
    OF_RECORDS,
  );
  return {
    id: {
      name: "id",
      in: "path",
      required: true,
      description: "The id of the product.",
      schema: { type: "string", format: "uuid" },
      example: "c0000000-0000-4000-8000-000000002400",
    },
    record_id: {
      name: "id",
      in: "path",
      required: true,
      description: "The id of the record.",
      schema: { type: "string", format: "uuid" },
    },
    product_id: {
      name: "product_id",
      in: "path",
      required: true,
      description: "The id of the product.",
      schema: { type: "string", format: "uuid" },
    },
    number: {
      name: "number",
      in: "path",
      required: true,
      description: "The number of the ONIX list.",
      schema: { type: "string", pattern: "^[0-9]{1,3}$" },
      example: "96",
    },
    key_id: {
      name: "key_id",
      in: "path",
      required: true,
      description: "The 12 characters after `cat_` in the key.",
      schema: { type: "string", pattern: "^[0-9a-z]{12}$" },
    },
    at: {
      name: "at",
      in: "query",
      description:
        "The time at which the key stops working: a day, or a time with an offset (ISO 8601). The default is now.",
      schema: { type: "string" },
    },
    ...Object.fromEntries(records.map((record) => [record.name, record])),
    ...Object.fromEntries(headers),
  };
}
