import type { ErrorCode } from "../errors.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { QueryParameter } from "./list_parameters.ts";
import type { SchemaName } from "./schemas.ts";

/** The description of an operation. */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tag:
    | "Products"
    | "Rights and supply"
    | "References"
    | "Code lists"
    | "API keys"
    | "Service";
  /** Whether it has the parameters of a list. */
  isList?: true;
  /** Whether it has the parameters of the feed of changes. */
  isFeed?: true;
  /** Whether it answers without a key. */
  isOpen?: true;
  /** Whether the operation needs the Bearer token of an admin or owner. */
  isAdministration?: true;
  query?: QueryParameter[];
  requestHeaders?: RequestHeader[];
  body?: SchemaName;
  answer: {
    status: 200 | 201 | 204;
    description: string;
    /** Absent: any JSON object, or nothing with 204. */
    body?: SchemaName;
    headers?: ResponseHeader[];
  };
  /** Whether the operation supports `If-None-Match`. */
  isConditional?: true;
  errors: ErrorCode[];
}

/** Errors of every operation. */
export const ANY: ErrorCode[] = [
  "VALIDATION_ERROR",
  "UNSUPPORTED_VERSION",
  "INTERNAL_ERROR",
];

/** Errors of operations that need credentials. */
export const GUARDED: ErrorCode[] = [
  ...ANY,
  "UNAUTHORIZED",
  "FORBIDDEN",
  "DATABASE_ERROR",
  "SERVICE_UNAVAILABLE",
];

/** Errors of operations that read a body. */
export const WITH_BODY: ErrorCode[] = [
  ...GUARDED,
  "INVALID_JSON",
  "REQUEST_TIMEOUT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];
