import { VERSIONS } from "../envelope.ts";
import { exampleAnswers, exampleBodies } from "./examples.ts";
import {
  failureAnswers,
  failureResponses,
  failureSchemas,
  tableOfCodes,
} from "./error_responses.ts";
import {
  requestHeaders,
  RESPONSE_HEADERS,
  responseHeaders,
} from "./headers.ts";
import { bodySchemas } from "./json_schema.ts";
import type { Operation } from "./operation.ts";
import { API, SERVICE } from "./operations.ts";
import {
  feedParameters,
  listParameters,
  sharedParameters,
} from "./list_parameters.ts";
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
    security: [{ apiKey: [] }, BEARER],
    tags: [
      { name: "Products", description: "The books of the organization." },
      {
        name: "Rights and supply",
        description: "Where a product is sold, by whom and for how much.",
      },
      {
        name: "References",
        description:
          "What products refer to. The organization's own records, all alike.",
      },
      {
        name: "Code lists",
        description: "The ids and codes that all organizations share.",
      },
      {
        name: "API keys",
        description:
          "The keys of the organization. These operations need the Bearer token of an `admin` or `owner`.",
      },
      { name: "Service", description: "The service itself." },
    ],
    paths: {
      ...pathsOf(API),
      ...pathsOf(SERVICE, { servers: [{ url: origin }] }),
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: sharedParameters(),
      headers: RESPONSE_HEADERS,
      responses: failureResponses(OPERATIONS),
      schemas: bodySchemas({ ...SCHEMAS, ...failureSchemas(OPERATIONS) }),
    },
  });
}

const OPERATIONS: Record<string, Operation> = { ...API, ...SERVICE };

const BEARER = { bearer: [], organization: [] };

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
    description: "A session token. It requires `x-organization-id`.",
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
  return Array.from(
    path.matchAll(/\{(\w+)\}/g),
    ([, name]) =>
      reference(
        name === "id" && !path.startsWith("/products/") ? "record_id" : name!,
      ),
  );
}

function reference(parameter: string) {
  return { $ref: `#/components/parameters/${parameter}` };
}

function operationObject(key: string, operation: Operation) {
  const { operationId, summary, description, tag, body, answer } = operation;
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...operation.isOpen && { security: [] },
    ...operation.isAdministration && { security: [BEARER] },
    parameters: [
      ...operation.isList ? listParameters() : [],
      ...(operation.query ?? []).map(reference),
      ...operation.isFeed ? feedParameters() : [],
      ...requestHeaders(...operation.requestHeaders ?? []),
    ],
    requestBody: body && {
      required: true,
      content: json(
        { $ref: `#/components/schemas/${body}` },
        exampleBodies(key),
      ),
    },
    responses: {
      [answer.status]: {
        description: answer.description,
        headers: responseHeaders(...answer.headers ?? []),
        ...answer.status !== 204 && {
          content: json(
            answer.body
              ? { $ref: `#/components/schemas/${answer.body}` }
              : { type: "object" },
            exampleAnswers(key),
          ),
        },
      },
      ...operation.isConditional && {
        304: {
          description: "The client's copy is current.",
          headers: responseHeaders("ETag"),
        },
      },
      ...failureAnswers(operation.errors),
    },
  };
}

function json(schema: object, examples?: object) {
  return { "application/json": { schema, examples } };
}
