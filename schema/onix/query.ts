import * as v from "valibot";
import { After } from "../changes_query.ts";
import { EDITS, STALE } from "./mapping/options.ts";
import { RELEASES, TAGS } from "./rules/releases.ts";
import { FILTERS, type Filters } from "../list_query.ts";
import { limit } from "../parameters.ts";
import { described, flag, oneOf, Uuid } from "../values.ts";
import { type Profile, profileNames, profiles } from "./profiles.ts";

/* The parameters of the operations on ONIX. */

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
    v.optional(flag(), "false"),
  ),
  edits: described(
    "What becomes of fields that were edited here. A record says what its sender has changed since its last record: the rest stays as it is here. Where both have changed a field, `keep` writes the record's value and warns `edit_overwritten`, `protect` keeps the value here and warns `edit_kept`. With `overwrite` the record is the whole truth, as in an empty catalogue.",
    v.optional(oneOf(...EDITS), "keep"),
  ),
  stale: described(
    "What becomes of the records of a message that was sent (`SentDateTime`) before the last one of the same `SenderName` with the product: they are skipped and warned of (`stale`), or applied.",
    v.optional(oneOf(...STALE), "skip"),
  ),
});

export type ImportQuery = v.InferOutput<typeof ImportParameters>;

function expectedProfile(): string {
  return `invalid_value: Expected one of ${profileNames()}`;
}

const profile = described(
  "The recipient: the name of one of `/recipient-profiles`.",
  v.pipe(
    v.string(expectedProfile),
    v.examples(["google-play"]),
    v.check((name) => profiles().has(name), expectedProfile),
    v.transform((name) => profiles().get(name)!),
  ),
);

/** The parameters of `GET /products/{id}/readiness`. */
export const ReadinessParameters = v.object({ profile });

export type OneReadinessQuery = v.InferOutput<typeof ReadinessParameters>;

/** The parameters of `GET /products/readiness`. */
export const ReadinessListParameters = v.object({
  profile,
  ready: described(
    "Whether the page has only the products that are ready, or only the others.",
    v.optional(flag()),
  ),
  after: described(
    "The `meta.cursor` of the last page. Without it, the list starts with the first product.",
    v.optional(Uuid),
  ),
  limit: described(
    "The maximum number of products. A limit above 100 counts as 100.",
    v.optional(limit(100), "50"),
  ),
  ...FILTERS,
});

/** What is asked of which products. */
export interface ReadinessQuery extends Filters {
  profile: Profile;
  ready?: boolean | undefined;
  after?: string | undefined;
  limit: number;
}
