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
import { API, type Operation, SERVICE } from "./operations.ts";
import {
  feedParameters,
  listParameters,
  sharedParameters,
} from "./parameters.ts";
import { SCHEMAS } from "./schemas.ts";

const ABOUT =
  `The catalogue of one organization: its books, and what belongs to each of them.

Every answer is an envelope: \`data\` where \`success\` is true, \`error\` where it is not. \`HEAD\` works where \`GET\` does; \`OPTIONS\` says in \`Allow\` what a path answers.

An error has one of these codes:

${tableOfCodes()}`;

/** Describes the service under this prefix, in OpenAPI 3.1, as JSON text. */
export function openapiDocument(prefix: string): string {
  return JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "Product Catalogue",
      version: VERSIONS[0],
      description: ABOUT,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: prefix || "/" }],
    security: [{ apiKey: [] }, { bearer: [], organization: [] }],
    tags: [
      { name: "Products", description: "The books of the organization." },
      { name: "Service", description: "The service itself." },
    ],
    paths: {
      ...pathsOf(API),
      ...pathsOf(SERVICE, { servers: [{ url: "/" }] }),
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
      ...path.includes("{id}") &&
        { parameters: [{ $ref: "#/components/parameters/id" }] },
    };
    paths[path][method.toLowerCase()] = described(key, operation);
  }
  return paths;
}

function described(key: string, operation: Operation) {
  const { operationId, summary, description, tag, body, answer } = operation;
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...operation.isOpen && { security: [] },
    parameters: [
      ...operation.isList ? listParameters() : [],
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
