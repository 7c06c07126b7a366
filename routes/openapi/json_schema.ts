import {
  type ConversionConfig,
  type JsonSchema,
  type OverrideSchemaContext,
  toJsonSchema,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import type * as v from "valibot";

/* Converts valibot schemas to JSON Schema for the OpenAPI document. */

export type { JsonSchema };

/** Actions without an equivalent in JSON Schema. Adjacent `v.metadata` approximates them. */
const CODE_ONLY_ACTIONS = [
  "check",
  "raw_check",
  "transform",
  "to_lower_case",
  "trim",
];

/**
 * Converts the named schemas of bodies to JSON Schema (2020-12). They refer to
 * each other by `$ref`. Throws for a schema without an equivalent.
 */
export function bodySchemas(
  named: Record<string, v.GenericSchema>,
): Record<string, JsonSchema> {
  const converted = toJsonSchemaDefs(named, {
    ...OPTIONS,
    // JSON Schema cannot express that the length of an array is checked before its entries.
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => ref("schemas", referenceId).$ref,
    // Type generators treat a field with a default as required.
    overrideSchema: (context) =>
      context.valibotSchema.type === "optional"
        ? { ...context.jsonSchema, default: undefined }
        : overrideSchema(context),
  });
  return Object.fromEntries(
    Object.entries(converted).filter(([name]) => name in named),
  );
}

/** A reference to a component of the document. */
export function ref(
  kind: "headers" | "parameters" | "responses" | "schemas",
  name: string,
) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** The schema of a query parameter as clients send it. */
export function parameterSchema(parameter: v.GenericSchema): JsonSchema {
  const schema = toJsonSchema(parameter, { ...OPTIONS, typeMode: "input" });
  return { ...schema, $schema: undefined };
}

const OPTIONS: ConversionConfig = {
  target: "draft-2020-12",
  ignoreActions: CODE_ONLY_ACTIONS,
  overrideAction({ valibotAction, jsonSchema, errors }) {
    if (errors) throw new Error(`${valibotAction.type}: ${errors[0]}`);
    return jsonSchema;
  },
  overrideSchema,
};

function overrideSchema(
  { valibotSchema, jsonSchema, errors, definitions, referenceMap }: OverrideSchemaContext,
): JsonSchema | undefined {
  switch (valibotSchema.type) {
    case "custom":
      return {};
    case "object": {
      const { entries } = valibotSchema as AnyObject;
      return withProperties(jsonSchema, (name, property) => {
        const reference = referenceTo(entries[name]!, referenceMap);
        return reference ? { ...reference, description: property.description } : property;
      });
    }
    case "array": {
      const { item } = valibotSchema as AnyArray;
      const reference = referenceTo(item, referenceMap);
      return reference ? { ...jsonSchema, items: reference } : jsonSchema;
    }
    case "literal": // Some generators ignore `const`.
      return {
        type: typeof jsonSchema.const as "string",
        enum: [jsonSchema.const!],
      };
    case "nullable":
      return nullable(jsonSchema.anyOf![0] as JsonSchema);
    case "intersect":
      return merged(jsonSchema.allOf as JsonSchema[]);
    case "lazy":
      return definitions[jsonSchema.$ref!.split("/").at(-1)!];
    case "union": // without custom values
      return {
        anyOf: jsonSchema.anyOf!.filter((option) => Object.keys(option).length),
      };
  }
  if (errors) throw new Error(`${valibotSchema.type}: ${errors[0]}`);
}

type AnyObject = v.ObjectSchema<v.ObjectEntries, undefined>;

type AnyArray = v.ArraySchema<v.GenericSchema, undefined>;

/** The reference to a named schema that is followed by only a description and checks. */
function referenceTo(
  schema: v.GenericSchema,
  names: OverrideSchemaContext["referenceMap"],
): JsonSchema | undefined {
  const name = names.get(schema);
  if (name) return ref("schemas", name);
  if (!("pipe" in schema)) return;
  const [inner, ...actions] = (schema as v.SchemaWithPipe<[v.GenericSchema, ...AnyAction[]]>).pipe;
  const isSame = actions.every(({ type }) =>
    type === "description" || CODE_ONLY_ACTIONS.includes(type)
  );
  return isSame ? referenceTo(inner, names) : undefined;
}

type AnyAction = v.PipeAction<unknown, unknown, v.BaseIssue<unknown>>;

/** `additionalProperties: false` covers `never` fields. */
function withProperties(
  schema: JsonSchema,
  change: (name: string, property: JsonSchema) => JsonSchema,
): JsonSchema {
  const properties = Object.entries(schema.properties!)
    .filter(([, property]) => !(property as JsonSchema).not)
    .map(([name, property]) => [name, change(name, property as JsonSchema)]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Prefers `type: ["string", "null"]`, which tools display better than `anyOf`, except for enumerations. */
function nullable(schema: JsonSchema): JsonSchema {
  const { description, ...value } = schema;
  if (value.anyOf) {
    return { ...schema, anyOf: [...value.anyOf, { type: "null" }] };
  }
  return typeof value.type !== "string" || value.enum
    ? { anyOf: [value, { type: "null" }], description }
    : { ...schema, type: [value.type, "null"] };
}

/**
 * Merges the schema of the known fields with the rule for unknown ones. An id for which a
 * name may stand (`named`) is not required.
 */
function merged(parts: JsonSchema[]): JsonSchema {
  const properties = parts.map((part) => part.properties);
  const { named, required, ...schema } = Object.assign({}, ...parts, {
    properties: Object.assign({}, ...properties),
  });
  const others = required?.filter((name: string) => !named?.includes(name));
  return others?.length > 0 ? { ...schema, required: others } : schema;
}
