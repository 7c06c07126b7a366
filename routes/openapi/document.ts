import { API_VERSIONS } from "../../schema/api_versions.ts";
import {
  type Failure,
  failureReferences,
  failureResponses,
  failureSchemas,
  failuresOf,
  responseHeaders,
  tableOfCodes,
} from "./error_responses.ts";
import { exampleBodies, exampleResponses } from "./examples.ts";
import {
  REQUEST_HEADERS,
  type RequestHeader,
  RESPONSE_HEADERS,
  type ResponseHeader,
} from "../../schema/headers.ts";
import { bodySchemas, ref } from "./json_schema.ts";
import { XLSX_TYPE } from "../../features/sheets/schema/file.ts";
import type { Permission } from "../../schema/operation.ts";
import type { DescribedOperation } from "./operation.ts";
import {
  headerParameter,
  pathParameters,
  queryParameters,
  sharedParameters,
} from "./parameters.ts";
import { PROSE } from "./prose/prose.ts";
import { OPENAPI_TAGS, type Prose } from "./prose/text.ts";
import { SCHEMAS } from "./schemas.ts";
import { expandTables } from "./tables.ts";
import { messageItems } from "./webhooks.ts";

type Described = DescribedOperation & Prose;

const ABOUT =
  `The catalogue of one organization: its books, with prices, contributors, collections, collateral and rights.

Every response is an envelope: it has \`data\` if \`success\` is true, and \`error\` otherwise. \`HEAD\` works wherever \`GET\` does. \`OPTIONS\` lists the methods of a path in \`Allow\`.

An error has one of these codes:

${tableOfCodes()}`;

/** The OpenAPI 3.1 document of the operations under this prefix, as JSON text. */
export function openapiDocument(
  operations: readonly DescribedOperation[],
  prefix: string,
): string {
  const described = expandTables<Described>(
    operations.map((operation) => ({ ...operation, ...PROSE[operation.id] })),
  );
  const failures = failuresOf(described);
  return JSON.stringify({
    openapi: "3.1.0",
    info: {
      title: "Product Catalogue",
      version: API_VERSIONS[0],
      description: ABOUT,
      contact: { name: "The organization that runs this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    // Relative to the URL of the document (OpenAPI 3.1, 4.8.5).
    servers: [{ url: prefix || "/" }],
    security: [{ apiKey: [] }, BEARER],
    tags: Object.entries(OPENAPI_TAGS)
      .map(([name, description]) => ({ name, description })),
    paths: pathItems(described, failures),
    webhooks: messageItems(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: sharedParameters(),
      headers: RESPONSE_HEADERS,
      responses: failureResponses(failures),
      schemas: bodySchemas({ ...SCHEMAS, ...failureSchemas(failures) }),
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

const BEARER = { bearer: [], organization: [] };

/** The security requirements that differ from those of the document. */
const SECURITY: Partial<Record<Permission, object[]>> = {
  administer: [BEARER],
  none: [],
};

function pathItems(operations: Described[], failures: Failure[]) {
  const items: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const [method, path] = operation.key.split(" ") as [string, string];
    items[path] ??= {
      ...path.includes("{") && { parameters: pathParameters(path) },
    };
    items[path][method.toLowerCase()] = operationObject(operation, failures);
  }
  return items;
}

function operationObject(operation: Described, failures: Failure[]) {
  const { key, permission, query, body, headers = [] } = operation;
  const { status = 200, response } = operation;
  const requestHeaders = headers.filter((name) => name in REQUEST_HEADERS) as RequestHeader[];
  const ownHeaders = headers.filter((name) => name in RESPONSE_HEADERS);
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    tags: [operation.tag],
    security: SECURITY[permission],
    parameters: [
      ...query ? queryParameters(query) : [],
      ...(["Accept-Version", "X-Request-Id", ...requestHeaders] as const)
        .map((name) => headerParameter(name, operation)),
    ],
    requestBody: body || textTypes(operation, "body").length > 0
      ? {
        required: !operation.isBodyOptional,
        content: mediaTypesOf(
          body,
          textTypes(operation, "body"),
          exampleBodies(key),
        ),
      }
      : undefined,
    responses: {
      [status]: {
        description: operation.returns,
        headers: responseHeaders(ownHeaders as ResponseHeader[]),
        ...status !== 204 && {
          content: mediaTypesOf(
            response,
            textTypes(operation, "response"),
            exampleResponses(key, status),
          ),
        },
      },
      ...status === 201 && query && "dry_run" in query.entries && {
        200: {
          description: "What a dry run would have created. Nothing was written.",
          headers: responseHeaders([]),
          content: mediaTypesOf(response, [], exampleResponses(key, 200)),
        },
      },
      ...requestHeaders.includes("If-None-Match") && {
        304: {
          description: "The client's copy is current.",
          headers: responseHeaders(["ETag"]),
        },
      },
      ...failureReferences(failures, operation),
    },
  };
}

type Examples = ReturnType<typeof exampleBodies>;

/**
 * The content of a body: JSON with this schema, XML or CSV, or both. EDItEUR publishes the schemas
 * of the XML.
 */
function mediaTypesOf(
  name: string | undefined,
  texts: readonly string[],
  examples: Examples,
) {
  const json = name ? ref("schemas", name) : { type: "object" };
  return {
    ...(name || texts.length === 0) && {
      "application/json": {
        schema: json,
        examples: examplesIn("json", examples),
      },
    },
    ...Object.fromEntries(texts.map((type) => [
      type,
      // The bytes of a workbook have no schema.
      type === XLSX_TYPE ? {} : {
        schema: { type: "string", contentMediaType: type },
        examples: examplesIn("text", examples),
      },
    ])),
  };
}

/** The media types besides JSON. */
function textTypes(
  { xml, csv, xlsx }: DescribedOperation,
  part: "body" | "response",
): string[] {
  return [
    ...xml?.includes(part) ? ["application/xml"] : [],
    ...csv?.includes(part) ? ["text/csv"] : [],
    ...xlsx?.includes(part) ? [XLSX_TYPE] : [],
  ];
}

/** Examples are text if they are XML or CSV. */
function examplesIn(format: "json" | "text", examples: Examples) {
  const all = Object.entries(examples ?? {})
    .filter(([, { value }]) => (typeof value === "string") === (format === "text"));
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}
