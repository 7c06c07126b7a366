import { VERSIONS } from "../version.ts";
import { exampleAnswers, exampleBodies } from "./examples.ts";
import {
  failureAnswers,
  failureResponses,
  failureSchemas,
  tableOfCodes,
} from "./failures.ts";
import {
  requestHeaders,
  RESPONSE_HEADERS,
  responseHeaders,
} from "./headers.ts";
import { bodySchemas } from "./json_schema.ts";
import type { Operation } from "./operation.ts";
import { API, SERVICE } from "./operations.ts";
import { listParameters, sharedParameters } from "./parameters.ts";
import { SCHEMAS } from "./schemas.ts";

const ABOUT =
  `The catalogue of one organization: its books, and what belongs to each of them.

Every answer is an envelope: \`data\` where \`success\` is true, \`error\` where it is not. \`HEAD\` works where \`GET\` does; \`OPTIONS\` says in \`Allow\` what a path answers.

An error has one of these codes:

${tableOfCodes()}`;

/** Describes the service at this origin and under this prefix, in OpenAPI 3.1, as JSON text. */
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
        name: "API keys",
        description:
          "The keys of the organization, for members with the role `admin` or `owner` and their Bearer tokens.",
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
    description: "The token of a session, together with `x-organization-id`.",
  },
  organization: {
    type: "apiKey",
    in: "header",
    name: "x-organization-id",
    description: "The organization that the session acts for.",
  },
};

/** The operations by path and method; `common` is what all of the paths have. */
function pathsOf(operations: Record<string, Operation>, common = {}) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [key, operation] of Object.entries(operations)) {
    const [method, path] = key.split(" ") as [string, string];
    paths[path] ??= {
      ...common,
      ...path.includes("{") && { parameters: pathParameters(path) },
    };
    paths[path][method.toLowerCase()] = described(key, operation);
  }
  return paths;
}

function pathParameters(path: string) {
  return Array.from(
    path.matchAll(/\{(\w+)\}/g),
    ([, name]) => reference(name!),
  );
}

function reference(parameter: string) {
  return { $ref: `#/components/parameters/${parameter}` };
}

function described(key: string, operation: Operation) {
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
        content: json(
          answer.body
            ? { $ref: `#/components/schemas/${answer.body}` }
            : { type: "object" },
          exampleAnswers(key),
        ),
      },
      ...operation.isConditional && {
        304: {
          description: "What you have is current.",
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
