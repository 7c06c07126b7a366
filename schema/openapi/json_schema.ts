import {
  type ConversionConfig,
  type JsonSchema,
  type OverrideSchemaContext,
  toJsonSchema,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import type * as v from "valibot";

export type { JsonSchema };

/** What only code can check. What JSON Schema can say of it, metadata beside it says. */
const IN_CODE = [
  "check",
  "finite",
  "raw_check",
  "transform",
  "to_lower_case",
  "trim",
];

/** What a union has of a value that only code knows. */
const NOTHING: JsonSchema = {};

/**
 * The schemas that bodies are validated by, as JSON Schema (2020-12) under
 * these names; where one holds another of them, it refers to it. Throws for a
 * schema that cannot be converted.
 */
export function bodySchemas(
  named: Record<string, v.GenericSchema>,
): Record<string, JsonSchema> {
  const converted = toJsonSchemaDefs(named, {
    ...OPTIONS,
    // An array is checked for its length first, and then for its entries.
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

/** The schema of query parameters as they are sent, before they are read. */
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

/** A default would make generated types ask for the field. */
function withoutDefault(schema: JsonSchema): JsonSchema {
  return { ...schema, default: undefined };
}

/** A field that must not be there is, in a closed object, no field. */
function withoutNever(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties!).filter((
    [, property],
  ) => typeof property !== "object" || !property.not);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** `type: ["string", "null"]` where that will do: tools show it better than a choice of two. */
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

/** The known fields, and what is said of all others, as one object. */
function merged(parts: JsonSchema[]): JsonSchema {
  const properties = parts.map((part) => part.properties);
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...properties),
  });
}
