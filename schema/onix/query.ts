import * as v from "valibot";
import { After } from "../changes_query.ts";
import { RELEASES, TAGS } from "./rules/releases.ts";
import { limit } from "../parameters.ts";
import { described, oneOf } from "../values.ts";

const FORM = {
  release: described(
    "The release of ONIX for Books.",
    v.optional(oneOf(...RELEASES), "3.1"),
  ),
  tags: described(
    "The names of the elements: reference names, or short tags.",
    v.optional(oneOf(...TAGS), "reference"),
  ),
};

/** The parameters of `GET /onix/products/{id}`. */
export const OnixParameters = v.object(FORM);

export type OnixQuery = v.InferOutput<typeof OnixParameters>;

/** The parameters of `GET /onix/products`. */
export const OnixChangesParameters = v.object({
  after: described(
    "A cursor of this feed or of `/products/changes`. Without it, the feed starts with every product.",
    v.optional(After),
  ),
  limit: described(
    "The maximum number of records. A limit above 1000 counts as 1000.",
    v.optional(limit(1_000), "100"),
  ),
  ...FORM,
});

export type OnixChangesQuery = v.InferOutput<typeof OnixChangesParameters>;

/** The parameters of `POST /onix/products`. */
export const ImportParameters = v.object({
  dry_run: described(
    "Whether to report on the message without writing anything.",
    v.optional(
      v.pipe(
        oneOf("true", "false"),
        v.transform((text) => text === "true"),
      ),
      "false",
    ),
  ),
});

export type ImportQuery = v.InferOutput<typeof ImportParameters>;
