import { VERSIONS } from "../versions.ts";
import {
  failureResponses,
  failureSchemas,
  tableOfCodes,
} from "./error_responses.ts";
import { RESPONSE_HEADERS } from "./headers.ts";
import { bodySchemas, ref } from "./json_schema.ts";
import {
  type Operation,
  operationObject,
  SECURITY,
  TAGS,
} from "./operation.ts";
import { API, SERVICE } from "./prose.ts";
import { sharedParameters } from "./parameters.ts";
import { SCHEMAS } from "./schemas.ts";

const ABOUT =
  `The catalogue of one organization: its books, with prices, contributors, collections, collateral and rights.

Every response is an envelope: it has \`data\` if \`success\` is true, and \`error\` otherwise. \`HEAD\` works wherever \`GET\` does. \`OPTIONS\` lists the methods of a path in \`Allow\`.

An error has one of these codes:

${tableOfCodes()}`;

/** The OpenAPI 3.1 document of the service at this origin and under this prefix, as JSON text. */
export function openapiDocument(origin: string, prefix: string): string {
  return JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "Product Catalogue",
      version: VERSIONS[0],
      description: ABOUT,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: origin + prefix }],
    security: SECURITY,
    tags: Object.entries(TAGS)
      .map(([name, description]) => ({ name, description })),
    paths: {
      ...pathsOf(API),
      ...pathsOf(SERVICE, { servers: [{ url: origin }] }),
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: sharedParameters(),
      headers: RESPONSE_HEADERS,
      responses: failureResponses(),
      schemas: bodySchemas({ ...SCHEMAS, ...failureSchemas() }),
    },
  });
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A key of the organization.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "A session token, whose `exp` is at most 366 days ahead. It requires `x-organization-id`.",
  },
  organization: {
    type: "apiKey",
    in: "header",
    name: "x-organization-id",
    description: "The organization of the session.",
  },
};

/** The Path Item Objects of the operations, each with the fields of `common`. */
function pathsOf(operations: Record<string, Operation>, common = {}) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [key, operation] of Object.entries(operations)) {
    const [method, path] = key.split(" ") as [string, string];
    paths[path] ??= {
      ...common,
      ...path.includes("{") && { parameters: pathParameters(path) },
    };
    paths[path][method.toLowerCase()] = operationObject(key, operation);
  }
  return paths;
}

function pathParameters(path: string) {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => {
    const isRecord = name === "id" && !path.startsWith("/products/");
    return ref("parameters", isRecord ? "record_id" : name!);
  });
}
