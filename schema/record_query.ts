import * as v from "valibot";
import { ProductParameters } from "./list_query.ts";
import { Term } from "./parameters.ts";
import { described, heading, oneOf } from "./values.ts";

const { page, limit } = ProductParameters.entries;

/** The orders of a list of records. `-` means descending. */
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
  search: described(
    "Words in the name, in any order, ignoring case and accents. Double quotes enclose a phrase.",
    v.optional(Term, ""),
  ),
  name: described(
    "Records with this name, compared as names in bodies are: runs of white space count as one space, and an accent is the same however it is encoded, while case counts.",
    v.optional(v.pipe(heading(), v.examples(["Harbour Press"]))),
  ),
  sort: described(
    "The order. `-` means descending. Names are compared without case and accents.",
    v.optional(oneOf(...RECORD_SORTS), "name"),
  ),
});

export type RecordQuery = v.InferOutput<typeof RecordParameters>;

/** The parameters of a list with pages but no filters. */
export const PageParameters = v.object({ page, limit });

export type PageQuery = v.InferOutput<typeof PageParameters>;

/** The parameters of a code list. */
export const CodeParameters = v.object({
  page,
  limit,
  code: described(
    "The record with exactly this code.",
    v.optional(v.pipe(heading(), v.examples(["04"]))),
  ),
});

export type CodeQuery = v.InferOutput<typeof CodeParameters>;
