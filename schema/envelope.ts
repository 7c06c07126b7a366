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
