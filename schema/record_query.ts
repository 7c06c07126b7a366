import * as v from "valibot";
import { Parameters } from "./list_query.ts";
import { heading } from "./values.ts";

const { page, limit, search } = Parameters.entries;

/** The orders of a list of records: `-` is descending. */
export const RECORD_SORTS = [
  "name",
  "-name",
  "created_at",
  "-created_at",
  "updated_at",
  "-updated_at",
] as const;

export type RecordSort = typeof RECORD_SORTS[number];

/** The parameters of a list of an organization's records. */
export const RecordParameters = v.object({
  page,
  limit,
  search,
  name: v.optional(heading()),
  sort: v.optional(
    v.picklist(
      RECORD_SORTS,
      `invalid_value: Expected one of ${RECORD_SORTS.join(", ")}`,
    ),
    "name",
  ),
});

export type RecordQuery = v.InferOutput<typeof RecordParameters>;

/** The parameters of a list that has pages and nothing else. */
export const PageParameters = v.object({ page, limit });

export type PageQuery = v.InferOutput<typeof PageParameters>;

/** The parameters of a code list. */
export const CodeParameters = v.object({ code: v.optional(heading()) });
