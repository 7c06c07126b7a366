import type * as v from "valibot";
import { Batch } from "../batch.ts";
import type { ErrorCode } from "../errors.ts";
import type { QuerySchema } from "../parameters.ts";
import type { Entry } from "../bodies.ts";
import { type OwnTable, pathOfTable, type SharedTable } from "../records.ts";
import { UUID_PATTERN } from "../values.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { OperationId } from "./prose.ts";
import { type SchemaName, SCHEMAS } from "./schemas.ts";
import { TABLES_IN_PATH } from "./tables.ts";

/** What a caller must be permitted to do. An operation with `none` needs no credentials. */
export type Permission = "none" | "read" | "write" | "administer";

/** An operation of the API: what routes, guard and the OpenAPI document know of it. */
export interface Operation {
  /** Method and path, such as `GET /products/{id}`. */
  key: OperationKey;
  /** The `operationId`. The prose of the OpenAPI document has the same key. */
  id: OperationId;
  permission: Permission;
  /** Whether the path is also outside the API prefix. */
  isAtRoot?: boolean;
  /** The parameters of the query. Without it, the query must be empty. */
  query?: QuerySchema;
  body?: BodyName;
  /**
   * What is XML: the body, which the handler reads as it arrives, or the response, beside the
   * one in JSON if `response` names its schema.
   */
  xml?: ("body" | "response")[];
  /** What is CSV, in the same way. */
  csv?: ("body" | "response")[];
  /** The headers of the request and of the successful response, besides those of all. */
  headers?: (RequestHeader | ResponseHeader)[];
  /** The status of success. The default is 200. */
  status?: 201 | 204;
  /** The schema of the response body. Default: any JSON object, or none with 204. */
  response?: SchemaName | `{${"Record" | "Code"}}Record${"" | "s"}Response`;
  /** Errors besides those that the other fields imply. */
  errors?: ErrorCode[];
}

export type OperationKey = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/** The syntax of each path parameter, as a regular expression. A path with another value is unknown. */
export const PATH_PARAMETERS: Record<keyof PathParameters, string> = {
  id: UUID_PATTERN,
  product_id: UUID_PATTERN,
  number: "[1-9][0-9]*",
  name: "[^/]+",
  key_id: "[0-9a-z]{12}",
  delivery_id: "msg_[0-9a-f]{32}",
  records: segmentsOf("records"),
  codes: segmentsOf("codes"),
};

/** The parameters of a path, with the tables of records by their names. */
export interface PathParameters {
  id: string;
  product_id: string;
  number: string;
  name: string;
  key_id: string;
  delivery_id: string;
  records: OwnTable;
  codes: SharedTable;
}

function segmentsOf(parameter: string): string {
  return TABLES_IN_PATH[parameter]!.map((table) => pathOfTable(table).slice(1))
    .join("|");
}

/** Each operation of a batch is validated by itself, so `Batch` does not contain their schemas. */
const BODIES = { ...SCHEMAS, Batch };

/** The name of a body's schema. */
export type BodyName =
  | keyof typeof BODIES
  | `${"Create" | "Update"}{Record}`;

/** A valid body. */
export type BodyOf<N extends BodyName> = N extends keyof typeof BODIES
  ? v.InferOutput<typeof BODIES[N]>
  : Entry;

/** The schema that validates a body, whose name `expandTables` has written out. */
export function bodySchema(name: BodyName): v.GenericSchema {
  return BODIES[name as keyof typeof BODIES];
}
