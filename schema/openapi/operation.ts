import type * as v from "valibot";
import type { ErrorCode } from "../errors.ts";
import { exampleBodies, exampleResponses } from "./examples.ts";
import { failureReferences } from "./error_responses.ts";
import {
  type RequestHeader,
  type ResponseHeader,
  responseHeaders,
} from "./headers.ts";
import { ref } from "./json_schema.ts";
import { parameterObjects, type SharedParameter } from "./parameters.ts";
import type { SchemaName } from "./schemas.ts";

/** The groups of operations, with their descriptions. */
export const TAGS = {
  "Products": "The books of the organization.",
  "Rights and supply":
    "The territories, sales rights, suppliers and prices of a product (ONIX blocks 4 and 6).",
  "References":
    "The organization's records that products refer to. All have the same operations.",
  "Code lists": "The ids and codes shared by all organizations.",
  "API keys":
    "The keys of the organization. These operations need the Bearer token of an `admin` or `owner`.",
  "Service": "The service itself.",
};

type Tag = keyof typeof TAGS;

const BEARER = { bearer: [], organization: [] };

/** The default security requirements. `SECURITY_OF` overrides them by tag. */
export const SECURITY = [{ apiKey: [] }, BEARER];

const SECURITY_OF: Partial<Record<Tag, object[]>> = {
  "API keys": [BEARER],
  "Service": [],
};

/** An operation. `operationObject` derives the rest from its method, path and tag. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tag: Tag;
  /** The names of shared parameters, or a schema of all parameters. */
  query?: SharedParameter[] | { entries: v.ObjectEntries };
  requestHeaders?: RequestHeader[];
  body?: SchemaName;
  /** 200 by default. */
  status?: 201 | 204;
  /** The description of the successful response. */
  returns: string;
  /** The schema of the response body. Default: any JSON object, or none with 204. */
  response?: SchemaName;
  headers?: ResponseHeader[];
  /** Errors besides those that the other fields imply. */
  errors?: ErrorCode[];
}

/** The Operation Object of an operation, by its method and path. */
export function operationObject(key: string, operation: Operation) {
  const { operationId, summary, description, tag, body, response } = operation;
  const { query = [], requestHeaders = [], headers = [] } = operation;
  const { status = 200 } = operation;
  const isConditional = requestHeaders.includes("If-None-Match");
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: SECURITY_OF[tag],
    parameters: [
      ...Array.isArray(query) ? query.map(shared) : parameterObjects(query),
      ...["Accept-Version", "X-Request-Id", ...requestHeaders].map(shared),
    ],
    requestBody: body && {
      required: true,
      content: json(body, exampleBodies(key)),
    },
    responses: {
      [status]: {
        description: operation.returns,
        headers: responseHeaders(isConditional ? ["ETag"] : headers),
        ...status !== 204 && { content: json(response, exampleResponses(key)) },
      },
      ...isConditional && {
        304: {
          description: "The client's copy is current.",
          headers: responseHeaders(["ETag"]),
        },
      },
      ...failureReferences(key),
    },
  };
}

function shared(parameter: string) {
  return ref("parameters", parameter);
}

function json(name?: SchemaName, examples?: object) {
  const schema = name ? ref("schemas", name) : { type: "object" };
  return { "application/json": { schema, examples } };
}
