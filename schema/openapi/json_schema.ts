import {
  type ConversionConfig,
  type JsonSchema,
  type OverrideSchemaContext,
  toJsonSchema,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import type * as v from "valibot";

export type { JsonSchema };

/** Actions that JSON Schema cannot express. Metadata beside them says what it can. */
const IN_CODE = [
  "check",
  "finite",
  "raw_check",
  "transform",
  "to_lower_case",
  "trim",
];

/** The schema of a custom value, which unions leave out. */
const NOTHING: JsonSchema = {};

/**
 * Converts the schemas of bodies to JSON Schema (2020-12), by name. A schema
 * refers to another named one by `$ref`. Throws for a schema that cannot be
 * converted.
 */
export function bodySchemas(
  named: Record<string, v.GenericSchema>,
): Record<string, JsonSchema> {
  const converted = toJsonSchemaDefs(named, {
    ...OPTIONS,
    // Validation checks the length of an array before its entries, which has no equivalent.
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: (context) =>
      context.valibotSchema.type === "optional"
        ? withoutDefault(context.jsonSchema)
        : overrideSchema(context),
  });
  return Object.fromEntries(
    Object.entries(converted).filter(([name]) => name in named),
  );
}

/** The schema of query parameters as clients send them. */
export function querySchema(parameters: v.GenericSchema): JsonSchema {
  return toJsonSchema(parameters, { ...OPTIONS, typeMode: "input" });
}

const OPTIONS: ConversionConfig = {
  target: "draft-2020-12",
  ignoreActions: IN_CODE,
  overrideAction({ valibotAction, jsonSchema, errors }) {
    if (errors) throw new Error(`${valibotAction.type}: ${errors[0]}`);
    return jsonSchema;
  },
  overrideSchema,
};

function overrideSchema(
  { valibotSchema, jsonSchema, errors, definitions }: OverrideSchemaContext,
): JsonSchema | undefined {
  switch (valibotSchema.type) {
    case "custom":
      return NOTHING;
    case "object":
      return withoutNever(jsonSchema);
    case "nullable":
      return nullable(jsonSchema.anyOf![0] as JsonSchema);
    case "intersect":
      return merged(jsonSchema.allOf as JsonSchema[]);
    case "lazy":
      return definitions[jsonSchema.$ref!.split("/").at(-1)!];
    case "union":
      return {
        anyOf: jsonSchema.anyOf!.filter((option) =>
          Object.keys(option).length > 0
        ),
      };
  }
  if (errors) throw new Error(`${valibotSchema.type}: ${errors[0]}`);
}

/** Generators of types make fields with a default required. */
function withoutDefault(schema: JsonSchema): JsonSchema {
  return { ...schema, default: undefined };
}

/** A closed object refuses a `never` field without naming it. */
function withoutNever(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties!).filter((
    [, property],
  ) => typeof property !== "object" || !property.not);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** `type: ["string", "null"]` if possible: tools show it better than `anyOf`. */
function nullable(schema: JsonSchema): JsonSchema {
  if (schema.anyOf) {
    return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  }
  if (typeof schema.type !== "string") {
    return { anyOf: [schema, { type: "null" }] };
  }
  return {
    ...schema,
    type: [schema.type, "null"],
    ...schema.enum && { enum: [...schema.enum, null] },
  };
}

/** One object schema for the known fields and the rule for unknown ones. */
function merged(parts: JsonSchema[]): JsonSchema {
  const properties = parts.map((part) => part.properties);
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...properties),
  });
}
