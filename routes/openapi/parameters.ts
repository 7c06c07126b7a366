import * as v from "valibot";
import { Revocation } from "../../schema/api_key.ts";
import { isRequired, type QuerySchema } from "../../schema/parameters.ts";
import { CodeParameters, RecordParameters } from "../../schema/record_query.ts";
import { REQUEST_HEADERS, type RequestHeader } from "../../schema/headers.ts";
import { examplePathParameter } from "./examples.ts";
import { type JsonSchema, parameterSchema, ref } from "./json_schema.ts";
import type { Operation } from "../../schema/operation.ts";
import { PATH_PARAMETERS } from "./operation.ts";

/* Makes the Parameter Objects of queries, paths and headers. */

/** The query parameters that operations share. */
const SHARED: Record<string, v.GenericSchema> = {
  ...Revocation.entries,
  ...RecordParameters.entries,
  ...CodeParameters.entries,
};

/** The Parameter Objects of a query, or references to the shared ones. */
export function queryParameters({ entries }: QuerySchema) {
  return Object.entries(entries).map(([name, entry]) =>
    entry === SHARED[name] ? ref("parameters", name) : parameterObject(name, entry)
  );
}

/** The Parameter Objects of a path, with the values of an example. */
export function pathParameters(path: string) {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    ...IN_PATH[name as keyof typeof IN_PATH],
    example: examplePathParameter(path, name!),
  }));
}

const UUID = { type: "string", format: "uuid" };

const IN_PATH = {
  id: { description: "The id of the record.", schema: UUID },
  product_id: { description: "The id of the product.", schema: UUID },
  number: {
    description: "The number of the ONIX list.",
    schema: { type: "string", pattern: `^${PATH_PARAMETERS.number}$` },
  },
  name: {
    description: "The name of the profile.",
    schema: { type: "string" },
  },
  key_id: {
    description: "The 12 characters after `cat_` in the key.",
    schema: { type: "string", pattern: `^${PATH_PARAMETERS.key_id}$` },
  },
  delivery_id: {
    description: "The id of the message, its `webhook-id`.",
    schema: { type: "string", pattern: `^${PATH_PARAMETERS.delivery_id}$` },
  },
};

/** The Parameter Object of a header, or a reference to it. */
export function headerParameter(name: RequestHeader, { id }: Operation) {
  if (name !== "Idempotency-Key") return ref("parameters", name);
  // A key belongs to one request, so that operations cannot share an example.
  const { schema, ...header } = REQUEST_HEADERS[name];
  const examples = [`${id}-2027-03-11-0001`];
  return { name, in: "header", ...header, schema: { ...schema, examples } };
}

/** The Parameter Objects that operations refer to, by name. */
export function sharedParameters() {
  return {
    ...Object.fromEntries(
      Object.entries(SHARED)
        .map(([name, entry]) => [name, parameterObject(name, entry)]),
    ),
    ...Object.fromEntries(
      Object.entries(REQUEST_HEADERS)
        .filter(([name]) => name !== "Idempotency-Key")
        .map(([name, header]) => [name, { name, in: "header", ...header }]),
    ),
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
    ...isRequired(entry) && { required: true },
    // A comma separates the values of a list.
    ...schema.type === "array" && { style: "form", explode: false },
    schema: { ...schema, default: typedDefault(schema) },
  };
}

/** The default as a typed value. The schema has it as text. */
function typedDefault({ type, default: text }: JsonSchema): unknown {
  return type === "integer" && text ? Number(text) : text || undefined;
}
