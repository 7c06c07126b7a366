import type * as v from "valibot";
import { ChangesParameters } from "../changes_query.ts";
import { Parameters } from "../list_query.ts";
import { REQUEST_HEADERS } from "./headers.ts";
import { type JsonSchema, querySchema } from "./json_schema.ts";

/** What the schema of a parameter does not say. */
const OF_LISTS: Record<keyof typeof Parameters.entries, string> = {
  page: "The page, counted from 1.",
  limit: "Products on a page; more than 100 are taken as 100.",
  search:
    "Part of title, ISBN or product code, in either case; ISBNs with or without hyphens.",
  include:
    "What else the products have: territories with their markets, sales rights.",
  sort: "The order; `-` is descending.",
  updated_since:
    "Products updated then or later: a day, or a time with its offset (ISO 8601). It shows no deletions, and misses a product whose transaction ends after a later one: `GET /products/changes` misses none.",
  isbn13: "Products with this ISBN-13.",
  isbn10: "Products with this ISBN-10.",
  product_code: "The product with this code.",
  publishing_status_id: "Products with one of these publishing statuses.",
  lifecycle_status_id: "Products with one of these lifecycle statuses.",
  product_availability_id: "Products with one of these availabilities.",
  format_id: "Products in one of these formats.",
};

const OF_FEEDS: Record<keyof typeof ChangesParameters.entries, string> = {
  after: "The `meta.cursor` of the last answer; without it all products come.",
  limit: "Changes on a page; more than 1000 are taken as 1000.",
  include: OF_LISTS.include,
};

/** The parameters of a list, as they are validated. */
export function listParameters() {
  return described(Parameters, OF_LISTS);
}

/** The parameters of a feed of changes, as they are validated. */
export function feedParameters() {
  return described(ChangesParameters, OF_FEEDS);
}

function described(
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
      // Lists are separated by commas.
      ...schema.type === "array" && { style: "form", explode: false },
      schema: { ...schema, default: typed(schema) },
    };
  });
}

/** The default, which validation reads from text, as the value that it stands for. */
function typed({ type, default: text }: JsonSchema): unknown {
  if (text === undefined || text === "") return undefined;
  return type === "integer" ? Number(text) : text;
}

/** The parameters that paths and operations refer to. */
export function sharedParameters() {
  const headers = Object.entries(REQUEST_HEADERS).map(([name, header]) => [
    name,
    { name, in: "header", ...header },
  ]);
  return {
    id: {
      name: "id",
      in: "path",
      required: true,
      description: "The product.",
      schema: { type: "string", format: "uuid" },
      example: "c0000000-0000-4000-8000-000000000100",
    },
    ...Object.fromEntries(headers),
  };
}
