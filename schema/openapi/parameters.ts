import * as v from "valibot";
import { Revocation } from "../api_key.ts";
import { CodeParameters, RecordParameters } from "../record_query.ts";
import { REQUEST_HEADERS } from "./headers.ts";
import { type JsonSchema, parameterSchema } from "./json_schema.ts";

/** The query parameters that operations share. */
const SHARED = v.object({
  ...Revocation.entries,
  ...RecordParameters.entries,
  ...CodeParameters.entries,
});

export type SharedParameter = keyof typeof SHARED.entries;

/** The Parameter Objects of a query. The description must be the outermost action of each entry. */
export function parameterObjects({ entries }: { entries: v.ObjectEntries }) {
  return Object.entries(entries).map(([name, entry]) => {
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
  });
}

/** The default as a typed value. The schema has it as text. */
function typedDefault({ type, default: text }: JsonSchema): unknown {
  return type === "integer" && text ? Number(text) : text || undefined;
}

const UUID = { format: "uuid" };

/** The shared Parameter Objects, by name. */
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
        pattern: "^[1-9][0-9]{0,2}$",
      }),
      example: "96",
    },
    key_id: inPath("key_id", "The 12 characters after `cat_` in the key.", {
      pattern: "^[0-9a-z]{12}$",
    }),
    ...Object.fromEntries(
      parameterObjects(SHARED).map((parameter) => [parameter.name, parameter]),
    ),
    ...Object.fromEntries(
      Object.entries(REQUEST_HEADERS)
        .map(([name, header]) => [name, { name, in: "header", ...header }]),
    ),
  };
}

function inPath(name: string, description: string, schema: JsonSchema) {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string", ...schema },
  };
}
