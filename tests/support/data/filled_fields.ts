import { OPERATIONS } from "../../../routes/operations.ts";
import { openapiDocument } from "../../../routes/openapi/document.ts";

/** The fields of an OpenAPI schema that the value leaves empty, as paths. */
export function emptyFields(schema: string, value: unknown): string[] {
  const { components } = JSON.parse(openapiDocument(OPERATIONS, "")) as {
    components: { schemas: Schemas };
  };
  const filled = fieldsOf(value).flatMap(([path, filled]) => filled ? [path] : []);
  return pathsOf(components.schemas, components.schemas[schema]!)
    .filter((path) => !filled.includes(path));
}

/** The fields of an OpenAPI schema that a client sets, as paths. */
export function writableFields(schema: string): string[] {
  const { components } = JSON.parse(
    openapiDocument(OPERATIONS, ""),
    (_, value) =>
      value?.readOnly || /it stands for that/.test(value?.description) ? undefined : value,
  ) as { components: { schemas: Schemas } };
  return pathsOf(components.schemas, components.schemas[schema]!);
}

/** Every path of a value, and whether it has a value. */
export function fieldsOf(
  value: unknown,
  path = "",
): [path: string, filled: boolean][] {
  if (typeof value !== "object") return [[path, true]];
  if (value === null) return [[path, false]];
  const entries = Array.isArray(value)
    ? value.map((item) => ["*", item] as const)
    : Object.entries(value);
  return [
    [path, entries.length > 0],
    ...entries.flatMap(([key, inner]) => fieldsOf(inner, `${path}/${key}`)),
  ];
}

type Schemas = Record<string, Schema>;

interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  anyOf?: Schema[];
  properties?: Schemas;
  items?: Schema;
}

function pathsOf(schemas: Schemas, schema: Schema, path = ""): string[] {
  const { $ref, oneOf = [], anyOf = [], properties = {}, items } = schema;
  if ($ref) {
    return pathsOf(schemas, schemas[$ref.split("/").at(-1)!]!, path);
  }
  return [
    path,
    ...[...oneOf, ...anyOf].flatMap((inner) => pathsOf(schemas, inner, path)),
    ...items ? pathsOf(schemas, items, `${path}/*`) : [],
    ...Object.entries(properties).flatMap(([key, inner]) =>
      pathsOf(schemas, inner, `${path}/${key}`)
    ),
  ];
}
