import type { ApiError } from "./errors.ts";

/** The supported versions of the API, the default first (specification, 9). */
export const VERSIONS: [string, ...string[]] = ["1.0"];

/** The position of a page in its list. */
export interface Meta {
  page: number;
  limit: number;
  total: number;
  total_pages: number;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** The envelope of a success (specification, 7.1). `data` is JSON text. */
export function success(data: string, meta?: object): string {
  const tail = meta ? `,"meta":${JSON.stringify(meta)}` : "";
  return `{"success":true,"data":${data},"error":null${tail}}`;
}

/** The envelope of a failure. */
export function failure(
  { code, message, details }: ApiError,
  requestId: string,
): string {
  const error = { code, message, details, request_id: requestId };
  return JSON.stringify({ success: false, error });
}
