import * as v from "valibot";
import { Revocation } from "../api_key.ts";
import type { QuerySchema } from "../parameters.ts";
import { CodeParameters, RecordParameters } from "../record_query.ts";
import { REQUEST_HEADERS } from "./headers.ts";
import { type JsonSchema, parameterSchema, ref } from "./json_schema.ts";
import { PATH_PARAMETERS } from "./operation.ts";

/** The query parameters that operations share. */
const SHARED: Record<string, v.GenericSchema> = {
  ...Revocation.entries,
  ...RecordParameters.entries,
  ...CodeParameters.entries,
};

/** The Parameter Objects of a query, or references to the shared ones. */
export function queryParameters({ entries }: QuerySchema) {
  return Object.entries(entries).map(([name, entry]) =>
    entry === SHARED[name]
      ? ref("parameters", name)
      : parameterObject(name, entry)
  );
}

/** References to the path parameters. */
export function pathParameters(path: string) {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => {
    const isRecord = name === "id" && !/^(?:\/onix)?\/products\//.test(path);
    return ref("parameters", isRecord ? "record_id" : name!);
  });
}

/** The Parameter Objects that operations refer to, by name. */
export function sharedParameters() {
  return {
    id: {
      ...inPath("id", "The id of the product.", UUID),
      example: "c0000000-0000-4000-8000-000000002400",
    },
    record_id: inPath("id", "The id of the record.", UUID),
    product_id: inPath("product_id", "The id of the product.", UUID),
    number: {
      ...inPath("number", "The number of the ONIX list.", {
        pattern: `^${PATH_PARAMETERS.number}$`,
      }),
      example: "96",
    },
    key_id: inPath("key_id", "The 12 characters after `cat_` in the key.", {
      pattern: `^${PATH_PARAMETERS.key_id}$`,
    }),
    ...Object.fromEntries(
      Object.entries(SHARED)
        .map(([name, entry]) => [name, parameterObject(name, entry)]),
    ),
    ...Object.fromEntries(
      Object.entries(REQUEST_HEADERS)
        .map(([name, header]) => [name, { name, in: "header", ...header }]),
    ),
  };
}

const UUID = { format: "uuid" };

function inPath(name: string, description: string, schema: JsonSchema) {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string", ...schema },
  };
}

/** The description must be the outermost action of the entry. */
function parameterObject(name: string, entry: v.GenericSchema) {
  const { pipe: [described] } = entry as v.SchemaWithPipe<[v.GenericSchema]>;
  const schema = parameterSchema(described);
  return {
    name,
    in: "query",
    description: v.getDescription(entry),
    // A comma separates the values of a list.
    ...schema.type === "array" && { style: "form", explode: false },
    schema: { ...schema, default: typedDefault(schema) },
  };
}

/** The default as a typed value. The schema has it as text. */
function typedDefault({ type, default: text }: JsonSchema): unknown {
  return type === "integer" && text ? Number(text) : text || undefined;
}
