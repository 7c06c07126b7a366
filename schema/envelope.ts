import type { ApiError } from "./errors.ts";

/** Where a page stands in its list; all are whole numbers. */
export interface Meta {
  page: number;
  limit: number;
  total: number;
  total_pages: number;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** The envelope of a success (specification, 7.1) around data that is JSON text already. */
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
