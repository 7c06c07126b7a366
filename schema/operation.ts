import type { ErrorCode } from "./errors.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { QuerySchema } from "./parameters.ts";
import type { OwnTable, SharedTable } from "./records.ts";

/* The description of an operation, which routes, guard and OpenAPI document read. */

/**
 * What a caller must be permitted to do. An operation with `none` needs no credentials. One with `view`
 * may be called by all who can read, and by the keys of recipients, which get what those see.
 */
export type Permission = "none" | "view" | "read" | "write" | "administer";

/** An operation of the API, from which routes, guard and the OpenAPI document follow. */
export interface Operation {
  /** Method and path, such as `GET /products/{id}`. */
  key: OperationKey;
  /** The `operationId`. The prose of the OpenAPI document has the same key. */
  id: string;
  permission: Permission;
  /** Whether the path is also outside the API prefix. */
  isAtRoot?: boolean;
  /** The parameters of the query. Without it, the query must be empty. */
  query?: QuerySchema;
  /** The name of its schema. */
  body?: string;
  /** Whether a missing body counts as an empty object. */
  isBodyOptional?: true;
  /**
   * The parts in XML: the body, which the handler reads as it arrives, and the response. If
   * `response` is set, the response can be JSON as well.
   */
  xml?: ("body" | "response")[];
  /** The parts in CSV, in the same way. */
  csv?: ("body" | "response")[];
  /** The parts that are workbooks, in the same way. */
  xlsx?: ("body" | "response")[];
  /** The headers of the request and of the successful response, besides those of all. */
  headers?: (RequestHeader | ResponseHeader)[];
  /** The status of success. The default is 200. */
  status?: 201 | 204;
  /** The name of the schema of the response body. Default: any JSON object, or none with 204. */
  response?: string;
  /** Errors besides those that the other fields imply. */
  errors?: ErrorCode[];
}

export type OperationKey = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

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
